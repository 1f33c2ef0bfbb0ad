-- policy: golden
-- digest: sha256:e788028db8a8ee8e5e670cffacdd92654a0f740e7a7c3ed01342a8433156f4d6
WITH sampled AS (
  SELECT [name],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN RTRIM(CAST([name] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2) IS NULL THEN 1 ELSE 0 END, RTRIM(CAST([name] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2)) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    RTRIM(CAST([name] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2) AS [name]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [name], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [name]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [name] IS NULL THEN 1 ELSE 0 END, [name]
