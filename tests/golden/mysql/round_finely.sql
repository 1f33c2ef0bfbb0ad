-- policy: golden
-- digest: sha256:826bc6a906ca4010d2543894a29f4e5674e28b391685e86c4aa385708e0e5978
WITH sampled AS (
  SELECT `income`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `income` IS NULL, `income`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CAST(CASE
      WHEN ABS(CAST(`income` AS DOUBLE)) < 0.00000000001 THEN 0
      WHEN ABS(CAST(`income` AS DOUBLE)) < 10000000 THEN CAST(FLOOR(ABS(CAST(`income` AS DOUBLE)) / 0.0000000001) + CASE WHEN ABS(CAST(`income` AS DOUBLE)) / 0.0000000001 - FLOOR(ABS(CAST(`income` AS DOUBLE)) / 0.0000000001) >= 0.5 THEN 1 ELSE 0 END AS SIGNED) * CASE WHEN CAST(`income` AS DOUBLE) < 0 THEN -0.0000000001 ELSE 0.0000000001 END
    END AS DECIMAL(18, 10)) AS `income`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `income`, COUNT(*) AS `n`
FROM recoded
GROUP BY `income`
HAVING COUNT(*) >= 5
ORDER BY `income` IS NULL, `income`
