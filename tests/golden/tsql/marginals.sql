-- policy: golden
-- digest: sha256:194418fe260bd44e90af08d6a51668e1898d71e46f84c093d4ded0839e32e64d
WITH people AS (
  SELECT [age], [born],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS policy_engine_rank
  FROM [main].[people]
  WHERE [person] IS NOT NULL
), recoded AS (
  SELECT
    CASE
      WHEN [age] IS NULL THEN NULL
      WHEN [age] < 18 THEN '<18' COLLATE Latin1_General_100_BIN2
      ELSE '>=18' COLLATE Latin1_General_100_BIN2
    END AS [age],
    CASE
      WHEN [born] IS NULL THEN NULL
      WHEN [born] < CAST('1970-01-01' AS DATE) THEN '<1970-01-01' COLLATE Latin1_General_100_BIN2
      ELSE '>=1970-01-01' COLLATE Latin1_General_100_BIN2
    END AS [born]
  FROM people
  WHERE policy_engine_rank = 1
), fine AS (
  SELECT [age], [born], COUNT_BIG(*) AS policy_engine_count
  FROM recoded
  GROUP BY [age], [born]
), spread AS (
  SELECT policy_engine_grouping, policy_engine_count,
    CASE WHEN policy_engine_grouping IN (1) THEN [age] END AS [age],
    CASE WHEN policy_engine_grouping IN (2) THEN [born] END AS [born]
  FROM fine
  CROSS JOIN (SELECT 1 AS policy_engine_grouping UNION ALL SELECT 2) AS policy_engine_groupings
), grouped AS (
  SELECT policy_engine_grouping, [age], [born], CAST(SUM(policy_engine_count) AS BIGINT) AS policy_engine_people
  FROM spread
  GROUP BY policy_engine_grouping, [age], [born]
), drawn AS (
  SELECT policy_engine_grouping, [age], [born], policy_engine_people,
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:0:7601309e7d24da0a26d32e49820e4987b1e1eb922128855ae9fb019b12d5c9e7:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS policy_engine_hash
  FROM grouped
), noised AS (
  SELECT policy_engine_grouping, [age], [born], policy_engine_people + CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '46295c6bba4c1210', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'b9d6a39445b3edf0', 2) THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END AS policy_engine_n
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS [grouping], [age], [born], policy_engine_n AS [n]
FROM noised
WHERE policy_engine_n >= 2
ORDER BY policy_engine_grouping, CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
