-- policy: golden
-- digest: sha256:3d5ae3cfeb627826b324da3c65833d668a69055fa08caf50caefe9a64e9b4fb4
WITH sampled AS (
  SELECT [it"s],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN RTRIM(CAST([it"s] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2) IS NULL THEN 1 ELSE 0 END, RTRIM(CAST([it"s] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2)) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    RTRIM(CAST([it"s] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2) AS [it"s]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [it"s], COUNT_BIG(*) AS [order by]
FROM recoded
GROUP BY [it"s]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [it"s] IS NULL THEN 1 ELSE 0 END, [it"s]
