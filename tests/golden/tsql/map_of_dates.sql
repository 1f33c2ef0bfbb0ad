-- policy: golden
-- digest: sha256:1fe3574cebecd38fa3dbbe9c232a096e118e9887f9233556899f41f800bc6415
WITH sampled AS (
  SELECT [born],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), counted AS (
  SELECT [born], COUNT_BIG(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY [born]
), recoded AS (
  SELECT
    CASE
      WHEN [born] IS NULL THEN NULL
      WHEN [born] IN (CAST('1970-01-01' AS DATE)) THEN 'epoch' COLLATE Latin1_General_100_BIN2
      ELSE 'other' COLLATE Latin1_General_100_BIN2
    END AS [born],
    policy_engine_count
  FROM counted
)
SELECT [born], CAST(SUM(policy_engine_count) AS BIGINT) AS [n]
FROM recoded
GROUP BY [born]
HAVING SUM(policy_engine_count) >= 5
ORDER BY CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
