-- policy: golden
-- digest: sha256:77cb1bab9dc7f78bab3b69be9cb3dad67561160189aca0e3618a68ed1c40a799
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
      WHEN `age` < 18 THEN 'jung' COLLATE utf8mb4_0900_bin
      ELSE 'älter' COLLATE utf8mb4_0900_bin
    END AS `age`,
    policy_engine_count
  FROM counted
)
SELECT `age`, CAST(SUM(policy_engine_count) AS SIGNED) AS `n`
FROM recoded
GROUP BY `age`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `age` IS NULL, `age`
