-- policy: golden
-- digest: sha256:e22ca21af95bd49039e44dc7762282879d96c45ca0f7cb966b6cbf33644efb87
WITH sampled AS (
  SELECT [age], [income],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income]) AS policy_engine_rank
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
    END AS [income]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [age], [income], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [age], [income]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income]
