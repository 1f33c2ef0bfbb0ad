-- policy: golden
-- digest: sha256:5115aa28e4958737dbd680341d4346b9ebf26be8c7320514ba1305100e5f8d83
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
    CASE WHEN policy_engine_grouping IN (1, 2) THEN `age` END AS `age`,
    CASE WHEN policy_engine_grouping IN (1) THEN `born` END AS `born`
  FROM fine
  CROSS JOIN (SELECT 1 AS policy_engine_grouping UNION ALL SELECT 2) AS policy_engine_groupings
), grouped AS (
  SELECT policy_engine_grouping, `age`, `born`, CAST(SUM(policy_engine_count) AS SIGNED) AS policy_engine_people
  FROM spread
  GROUP BY policy_engine_grouping, `age`, `born`
), drawn AS (
  SELECT policy_engine_grouping, `age`, `born`, policy_engine_people,
    SHA2(CONCAT(@policy_engine_salt, ':g:0:c095fdcd5277179381ddde728bc66b69f4daf58ea155f80acf4e63206a77137c:', CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, CAST(`age` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`age` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin, CAST(`born` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`born` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin) AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin AS policy_engine_hash
  FROM grouped
), noised AS (
  SELECT policy_engine_grouping, `age`, `born`, policy_engine_people + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN policy_engine_hash < '1340ea2781523a1' THEN -4
      WHEN policy_engine_hash < '2ac51ac92d9ddfd' THEN -3
      WHEN policy_engine_hash < '477e2e673813c11' THEN -2
      WHEN policy_engine_hash < '6a933fd4b9624ce' THEN -1
      WHEN policy_engine_hash < '956cc02b469db32' THEN 0
      WHEN policy_engine_hash < 'b881d198c7ec3ef' THEN 1
      WHEN policy_engine_hash < 'd53ae536d262203' THEN 2
      WHEN policy_engine_hash < 'ecbf15d87eadc5f' THEN 3
      ELSE 4
    END ELSE CASE
      WHEN policy_engine_hash < '3c957e5cc5770bb' THEN -1
      WHEN policy_engine_hash < 'c36a81a33a88f45' THEN 0
      ELSE 1
    END END AS policy_engine_n
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS SIGNED) AS `grouping`, `age`, `born`, policy_engine_n AS `n`
FROM noised
WHERE policy_engine_n >= CASE WHEN policy_engine_grouping = 2 THEN 5 ELSE 2 END
ORDER BY policy_engine_grouping, CAST(`age` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`age` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin, CAST(`born` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`born` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin
