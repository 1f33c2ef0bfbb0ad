-- policy: golden
-- digest: sha256:194418fe260bd44e90af08d6a51668e1898d71e46f84c093d4ded0839e32e64d
WITH people AS (
  SELECT `age`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE `person` IS NOT NULL
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18' COLLATE utf8mb4_0900_bin
      ELSE '>=18' COLLATE utf8mb4_0900_bin
    END AS `age`,
    CASE
      WHEN `born` IS NULL THEN NULL
      WHEN `born` < CAST('1970-01-01' AS DATE) THEN '<1970-01-01' COLLATE utf8mb4_0900_bin
      ELSE '>=1970-01-01' COLLATE utf8mb4_0900_bin
    END AS `born`
  FROM people
  WHERE policy_engine_rank = 1
), fine AS (
  SELECT `age`, `born`, COUNT(*) AS policy_engine_count
  FROM recoded
  GROUP BY `age`, `born`
), spread AS (
  SELECT policy_engine_grouping, policy_engine_count,
    CASE WHEN policy_engine_grouping IN (1) THEN `age` END AS `age`,
    CASE WHEN policy_engine_grouping IN (2) THEN `born` END AS `born`
  FROM fine
  CROSS JOIN (SELECT 1 AS policy_engine_grouping UNION ALL SELECT 2) AS policy_engine_groupings
), grouped AS (
  SELECT policy_engine_grouping, `age`, `born`, CAST(SUM(policy_engine_count) AS SIGNED) AS policy_engine_people
  FROM spread
  GROUP BY policy_engine_grouping, `age`, `born`
), drawn AS (
  SELECT policy_engine_grouping, `age`, `born`, policy_engine_people,
    SHA2(CONCAT(@policy_engine_salt, ':g:0:7601309e7d24da0a26d32e49820e4987b1e1eb922128855ae9fb019b12d5c9e7:', CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, `age` IS NULL, `age`, `born` IS NULL, `born`) AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin AS policy_engine_hash
  FROM grouped
), noised AS (
  SELECT policy_engine_grouping, `age`, `born`, policy_engine_people + CASE
      WHEN policy_engine_hash < '46295c6bba4c121' THEN -1
      WHEN policy_engine_hash < 'b9d6a39445b3edf' THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END AS policy_engine_n
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS SIGNED) AS `grouping`, `age`, `born`, policy_engine_n AS `n`
FROM noised
WHERE policy_engine_n >= 2
ORDER BY policy_engine_grouping, `age` IS NULL, `age`, `born` IS NULL, `born`
