-- policy: golden
-- digest: sha256:6d917072eba2fa0e97593b45196a00b82520d265f44848b17e516e469256ba71
WITH sampled AS (
  SELECT [born], [moved],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born], CASE WHEN [moved] IS NULL THEN 1 ELSE 0 END, [moved]) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    CASE
      WHEN [born] IS NULL THEN NULL
      WHEN [born] < CAST('1970-01-01' AS DATE) THEN '<1970-01-01' COLLATE Latin1_General_100_BIN2
      ELSE '>=1970-01-01' COLLATE Latin1_General_100_BIN2
    END AS [born],
    CASE
      WHEN CAST([moved] AT TIME ZONE 'UTC' AS DATETIME2) IS NULL THEN NULL
      WHEN CAST([moved] AT TIME ZONE 'UTC' AS DATETIME2) < CAST('2000-01-01 00:00:00' AS DATETIME2) THEN '<2000-01-01' COLLATE Latin1_General_100_BIN2
      ELSE '>=2000-01-01' COLLATE Latin1_General_100_BIN2
    END AS [moved]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [born], [moved], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [born], [moved]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born], CASE WHEN [moved] IS NULL THEN 1 ELSE 0 END, [moved]
