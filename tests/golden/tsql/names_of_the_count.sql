-- policy: golden
-- digest: sha256:813c8decfb556df9a1734d450e69ce32fede7d1fc310b71b22de7a76295b9c3d
WITH sampled AS (
  SELECT [age],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age]) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    [age] AS [age]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [age], COUNT_BIG(*) AS [order by]
FROM recoded
GROUP BY [age]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age]
