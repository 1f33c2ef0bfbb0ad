-- policy: golden
-- digest: sha256:2ed1cdf81bc0c24ac7b945956311d3c6e99a969eb4bd1b2e9226132894282405
WITH sampled AS (
  SELECT [age], [income], [weight],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income], CASE WHEN [weight] IS NULL THEN 1 ELSE 0 END, [weight]) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    CASE
      WHEN [age] IS NULL THEN NULL
      WHEN [age] < 18 THEN '<18' COLLATE Latin1_General_100_BIN2
      WHEN [age] < 65 THEN '[18,65)' COLLATE Latin1_General_100_BIN2
      ELSE '>=65' COLLATE Latin1_General_100_BIN2
    END AS [age],
    CASE
      WHEN [income] IS NULL THEN NULL
      WHEN [income] < CAST(0.5 AS DECIMAL(38, 2)) THEN '<0.5' COLLATE Latin1_General_100_BIN2
      ELSE '>=0.5' COLLATE Latin1_General_100_BIN2
    END AS [income],
    CASE
      WHEN [weight] IS NULL THEN NULL
      WHEN CAST([weight] AS FLOAT(53)) <> CAST([weight] AS FLOAT(53)) THEN NULL
      WHEN CAST([weight] AS FLOAT(53)) < CAST(-1 AS FLOAT(53)) THEN '<-1' COLLATE Latin1_General_100_BIN2
      WHEN CAST([weight] AS FLOAT(53)) < CAST(70 AS FLOAT(53)) THEN '[-1,70)' COLLATE Latin1_General_100_BIN2
      ELSE '>=70' COLLATE Latin1_General_100_BIN2
    END AS [weight]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [age], [income], [weight], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [age], [income], [weight]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income], CASE WHEN [weight] IS NULL THEN 1 ELSE 0 END, [weight]
