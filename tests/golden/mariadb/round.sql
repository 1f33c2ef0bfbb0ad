-- policy: golden
-- digest: sha256:a3481829c2fe1185c2a5ffe837f6074ef16fa4224e325e805e8180fd64a58cb3
WITH sampled AS (
  SELECT `age`, `income`, `weight`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `income` IS NULL, `income`, `weight` IS NULL, `weight`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN ABS(CAST(`age` AS DOUBLE)) < 1 THEN 0
      WHEN ABS(CAST(`age` AS DOUBLE)) < 1000000000000000000 THEN CAST(FLOOR(ABS(CAST(`age` AS DOUBLE)) / 10) + CASE WHEN ABS(CAST(`age` AS DOUBLE)) / 10 - FLOOR(ABS(CAST(`age` AS DOUBLE)) / 10) >= 0.5 THEN 1 ELSE 0 END AS SIGNED) * CASE WHEN CAST(`age` AS DOUBLE) < 0 THEN -10 ELSE 10 END
    END AS `age`,
    CAST(CASE
      WHEN ABS(CAST(`income` AS DOUBLE)) < 0.025 THEN 0
      WHEN ABS(CAST(`income` AS DOUBLE)) < 1000000000000000 THEN CAST(FLOOR(ABS(CAST(`income` AS DOUBLE)) / 0.25) + CASE WHEN ABS(CAST(`income` AS DOUBLE)) / 0.25 - FLOOR(ABS(CAST(`income` AS DOUBLE)) / 0.25) >= 0.5 THEN 1 ELSE 0 END AS SIGNED) * CASE WHEN CAST(`income` AS DOUBLE) < 0 THEN -0.25 ELSE 0.25 END
    END AS DECIMAL(18, 2)) AS `income`,
    CAST(CASE
      WHEN ABS(CAST(`weight` AS DOUBLE)) < 0.5 THEN 0
      WHEN ABS(CAST(`weight` AS DOUBLE)) < 100000000000000000 THEN CAST(FLOOR(ABS(CAST(`weight` AS DOUBLE)) / 5) + CASE WHEN ABS(CAST(`weight` AS DOUBLE)) / 5 - FLOOR(ABS(CAST(`weight` AS DOUBLE)) / 5) >= 0.5 THEN 1 ELSE 0 END AS SIGNED) * CASE WHEN CAST(`weight` AS DOUBLE) < 0 THEN -5 ELSE 5 END
    END AS DECIMAL(18, 0)) AS `weight`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, `income`, `weight`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `income`, `weight`
HAVING COUNT(*) >= 5
ORDER BY `age` IS NULL, `age`, `income` IS NULL, `income`, `weight` IS NULL, `weight`
