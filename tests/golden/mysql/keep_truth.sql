-- policy: golden
-- digest: sha256:114d131e75a0be102b24fbba6cd1e0412b73f71012f075e0ee12efbebefa65a2
WITH sampled AS (
  SELECT `married`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END IS NULL, CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), counted AS (
  SELECT `married`, COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY `married`
), recoded AS (
  SELECT
    CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END AS `married`,
    policy_engine_count
  FROM counted
)
SELECT `married`, CAST(SUM(policy_engine_count) AS SIGNED) AS `n`
FROM recoded
GROUP BY `married`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `married` IS NULL, `married`
