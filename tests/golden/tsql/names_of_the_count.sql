-- policy: golden
-- digest: sha256:dc541b14a700a5fd5065e35a0aacd62ac5e0ad93e3a52cd55834d6ce81f786b5
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
