-- policy: golden
-- digest: sha256:e3b8b21494b5c7f7d10eb5d535297127703cf8a8654f613ee680c05db0aa2585
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
    CASE WHEN policy_engine_grouping IN (1, 2) THEN [age] END AS [age],
    CASE WHEN policy_engine_grouping IN (1) THEN [born] END AS [born]
  FROM fine
  CROSS JOIN (SELECT 1 AS policy_engine_grouping UNION ALL SELECT 2) AS policy_engine_groupings
), grouped AS (
  SELECT policy_engine_grouping, [age], [born], CAST(SUM(policy_engine_count) AS BIGINT) AS policy_engine_people
  FROM spread
  GROUP BY policy_engine_grouping, [age], [born]
), drawn AS (
  SELECT policy_engine_grouping, [age], [born], policy_engine_people,
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:0:ca82e3d202b43b848b06abad762969143aff09866e7de39605ec9efbe2078dc0:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS policy_engine_hash
  FROM grouped
), noised AS (
  SELECT policy_engine_grouping, [age], [born], policy_engine_people + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '14a5f2cb65940a50', 2) THEN -4
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '2dde386b8b465bd0', 2) THEN -3
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '4cabedc516784eb0', 2) THEN -2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '724b8e05c30f6cd0', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'a0f0fe1778ec1ef0', 2) THEN 0
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'c721d09c3eebeb70', 2) THEN 1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'e666666666666670', 2) THEN 2
      WHEN policy_engine_hash IS NOT NULL THEN 3
    END ELSE CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '3c957e5cc5770bb0', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'c36a81a33a88f450', 2) THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END END AS policy_engine_n
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS [grouping], [age], [born], policy_engine_n AS [n]
FROM noised
WHERE policy_engine_n >= CASE WHEN policy_engine_grouping = 2 THEN 4 ELSE 2 END
ORDER BY policy_engine_grouping, CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
