-- policy: golden
-- digest: sha256:12fb470de65116baa602a1e6949ada732e5e953781c596a1d90228f8e750b6bb
WITH sampled AS (
  SELECT `married`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END IS NULL, CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), counted AS (
  SELECT `married`, COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY `married`
), recoded AS (
  SELECT
    CASE
      WHEN CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END IS NULL THEN NULL
      WHEN CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END IN (FALSE) THEN 'no' COLLATE utf8mb4_nopad_bin
      WHEN CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END IN (TRUE) THEN 'yes' COLLATE utf8mb4_nopad_bin
      ELSE 'none' COLLATE utf8mb4_nopad_bin
    END AS `married`,
    policy_engine_count
  FROM counted
)
SELECT `married`, CAST(SUM(policy_engine_count) AS SIGNED) AS `n`
FROM recoded
GROUP BY `married`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `married` IS NULL, `married`
