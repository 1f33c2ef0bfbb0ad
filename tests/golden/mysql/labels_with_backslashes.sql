-- policy: golden
-- digest: sha256:acbd7dfd08ad58fa60869df171736d91e05bd2b03dd8e7213385dd7ca878b82a
WITH sampled AS (
  SELECT `age`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), counted AS (
  SELECT `age`, COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY `age`
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN 'a\\b' COLLATE utf8mb4_0900_bin
      ELSE 'c' COLLATE utf8mb4_0900_bin
    END AS `age`,
    policy_engine_count
  FROM counted
)
SELECT `age`, CAST(SUM(policy_engine_count) AS SIGNED) AS `n`
FROM recoded
GROUP BY `age`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `age` IS NULL, `age`
