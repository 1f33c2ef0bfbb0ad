-- policy: golden
-- digest: sha256:e92684e56cd1b743be52d6b5caf0b3e5279f078105f961e1ee397ce497629335
WITH sampled AS (
  SELECT [zip],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN RTRIM(CAST([zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2) IS NULL THEN 1 ELSE 0 END, RTRIM(CAST([zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2)) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    RTRIM(LEFT(RTRIM(CAST([zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2) COLLATE Latin1_General_100_CS_AS_SC, 3) COLLATE Latin1_General_100_BIN2) AS [zip]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [zip], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [zip]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [zip] IS NULL THEN 1 ELSE 0 END, [zip]
