-- policy: golden
-- digest: sha256:e261db4095cdd4a00909a67547e38d716307dc620cecf792d9daa92f713cad7a
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
      WHEN `age` < 18 THEN 'a' COLLATE utf8mb4_0900_bin
      ELSE 'a ' COLLATE utf8mb4_0900_bin
    END AS `age`,
    policy_engine_count
  FROM counted
)
SELECT `age`, CAST(SUM(policy_engine_count) AS SIGNED) AS `n`
FROM recoded
GROUP BY `age`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `age` IS NULL, `age`
