-- policy: golden
-- digest: sha256:5dd1dc7f2d2302b58bb3416c2c7d05d7b459329c3407efb32e74792651244496
WITH people AS (
  SELECT [age], [zip],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN RTRIM(CAST([zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2) IS NULL THEN 1 ELSE 0 END, RTRIM(CAST([zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2)) AS policy_engine_rank
  FROM [main].[people]
  WHERE [person] IS NOT NULL
), recoded AS (
  SELECT
    CASE
      WHEN [age] IS NULL THEN NULL
      WHEN [age] < 18 THEN '<18' COLLATE Latin1_General_100_BIN2
      WHEN [age] < 65 THEN '[18,65)' COLLATE Latin1_General_100_BIN2
      ELSE '>=65' COLLATE Latin1_General_100_BIN2
    END AS [age],
    CASE
      WHEN RTRIM(CAST([zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2) IS NULL THEN NULL
      WHEN RTRIM(CAST([zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_100_BIN2) IN ('10115' COLLATE Latin1_General_100_BIN2) THEN 'Berlin' COLLATE Latin1_General_100_BIN2
      ELSE 'elsewhere' COLLATE Latin1_General_100_BIN2
    END AS [zip]
  FROM people
  WHERE policy_engine_rank = 1
), numbered AS (
  SELECT [age], [zip], ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [zip] IS NULL THEN 1 ELSE 0 END, [zip]) AS policy_engine_number
  FROM recoded
), drawn AS (
  SELECT [age], [zip],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:1:876878377bfb0bb41d0feeb6a42743ea038e8bda14fc634310221c6f487688d3:' + LOWER(CAST(policy_engine_number AS VARCHAR(40)))) AS [policy_engine_hash_1],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:2:876878377bfb0bb41d0feeb6a42743ea038e8bda14fc634310221c6f487688d3:' + LOWER(CAST(policy_engine_number AS VARCHAR(40)))) AS [policy_engine_hash_2]
  FROM numbered
), answered AS (
  SELECT
    CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2cc4c905be551c30', 2) THEN '<18' COLLATE Latin1_General_100_BIN2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '5989920b7caa3860', 2) THEN '[18,65)' COLLATE Latin1_General_100_BIN2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '864e5b113aff5490', 2) THEN '>=65' COLLATE Latin1_General_100_BIN2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b3132416f95470c0', 2) THEN NULL
      WHEN [policy_engine_hash_1] IS NOT NULL THEN [age]
    END AS [age],
    CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '3641cd4aa0f14850', 2) THEN 'Berlin' COLLATE Latin1_General_100_BIN2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '6c839a9541e290a0', 2) THEN 'elsewhere' COLLATE Latin1_General_100_BIN2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'a2c567dfe2d3d8f0', 2) THEN NULL
      WHEN [policy_engine_hash_2] IS NOT NULL THEN [zip]
    END AS [zip]
  FROM drawn
)
SELECT [age], [zip], COUNT_BIG(*) AS [n]
FROM answered
GROUP BY [age], [zip]
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [zip] IS NULL THEN 1 ELSE 0 END, [zip]
