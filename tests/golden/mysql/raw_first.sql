-- policy: golden
-- digest: sha256:4846c682d545431be0fe514828f4e9e456b4bb046ac1ecd4b28b62b3b9121436
WITH sampled AS (
  SELECT `age`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), counted AS (
  SELECT `age`, `born`, COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY `age`, `born`
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
    END AS `born`,
    policy_engine_count
  FROM counted
)
SELECT `age`, `born`, CAST(SUM(policy_engine_count) AS SIGNED) AS `n`
FROM recoded
GROUP BY `age`, `born`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`
