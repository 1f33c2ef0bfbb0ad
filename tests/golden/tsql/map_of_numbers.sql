-- policy: golden
-- digest: sha256:3a08c13201ba43f2cc7f6df8f1d985c0ad754ed46afcd9d2d47d4ad0454c5a47
WITH sampled AS (
  SELECT [age],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age]) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), counted AS (
  SELECT [age], COUNT_BIG(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY [age]
), recoded AS (
  SELECT
    CASE
      WHEN [age] IS NULL THEN NULL
      WHEN [age] IN (-1) THEN NULL
      WHEN [age] IN (17) THEN 'young' COLLATE Latin1_General_100_BIN2
      ELSE 'old' COLLATE Latin1_General_100_BIN2
    END AS [age],
    policy_engine_count
  FROM counted
)
SELECT [age], CAST(SUM(policy_engine_count) AS BIGINT) AS [n]
FROM recoded
GROUP BY [age]
HAVING SUM(policy_engine_count) >= 5
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age]
