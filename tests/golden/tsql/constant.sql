-- policy: golden
-- digest: sha256:171c5f058aba319b6e3129af16500bf7eb367dda53d4577c91ab38f0939e697a
WITH sampled AS (
  SELECT 1,
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age]) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    '*' COLLATE Latin1_General_100_BIN2 AS [everybody]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [everybody], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [everybody]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [everybody] IS NULL THEN 1 ELSE 0 END, [everybody]
