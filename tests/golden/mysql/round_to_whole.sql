-- policy: golden
-- digest: sha256:6b8e19463817283cc0d5d8401262a13e1c31ea3f7727b9a4fee1375cec29e86b
WITH sampled AS (
  SELECT `income`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `income` IS NULL, `income`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CAST(CASE
      WHEN ABS(CAST(`income` AS DOUBLE)) < 1 THEN 0
      WHEN ABS(CAST(`income` AS DOUBLE)) < 100000000000000000 THEN CAST(FLOOR(ABS(CAST(`income` AS DOUBLE)) / 10) + CASE WHEN ABS(CAST(`income` AS DOUBLE)) / 10 - FLOOR(ABS(CAST(`income` AS DOUBLE)) / 10) >= 0.5 THEN 1 ELSE 0 END AS SIGNED) * CASE WHEN CAST(`income` AS DOUBLE) < 0 THEN -10 ELSE 10 END
    END AS DECIMAL(18, 0)) AS `income`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `income`, COUNT(*) AS `n`
FROM recoded
GROUP BY `income`
HAVING COUNT(*) >= 5
ORDER BY `income` IS NULL, `income`
