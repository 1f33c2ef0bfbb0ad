-- policy: golden
-- digest: sha256:38d81f5c6949c8ce8bd7fa4ae49b227194638e5f349ee3f99890bcfb4b1aa56a
WITH sampled AS (
  SELECT [age], [income], [born], [seen],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born], CASE WHEN [seen] IS NULL THEN 1 ELSE 0 END, [seen]) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    [age] AS [age],
    [income] AS [income],
    [born] AS [born],
    [seen] AS [seen]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [age], [income], [born], [seen], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [age], [income], [born], [seen]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born], CASE WHEN [seen] IS NULL THEN 1 ELSE 0 END, [seen]
