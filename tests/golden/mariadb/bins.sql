-- policy: golden
-- digest: sha256:2ed1cdf81bc0c24ac7b945956311d3c6e99a969eb4bd1b2e9226132894282405
WITH sampled AS (
  SELECT `age`, `income`, `weight`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `income` IS NULL, `income`, `weight` IS NULL, `weight`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18' COLLATE utf8mb4_nopad_bin
      WHEN `age` < 65 THEN '[18,65)' COLLATE utf8mb4_nopad_bin
      ELSE '>=65' COLLATE utf8mb4_nopad_bin
    END AS `age`,
    CASE
      WHEN `income` IS NULL THEN NULL
      WHEN `income` < CAST(0.5 AS DECIMAL(38, 2)) THEN '<0.5' COLLATE utf8mb4_nopad_bin
      ELSE '>=0.5' COLLATE utf8mb4_nopad_bin
    END AS `income`,
    CASE
      WHEN `weight` IS NULL THEN NULL
      WHEN CAST(`weight` AS DOUBLE) <> CAST(`weight` AS DOUBLE) THEN NULL
      WHEN CAST(`weight` AS DOUBLE) < CAST(-1 AS DOUBLE) THEN '<-1' COLLATE utf8mb4_nopad_bin
      WHEN CAST(`weight` AS DOUBLE) < CAST(70 AS DOUBLE) THEN '[-1,70)' COLLATE utf8mb4_nopad_bin
      ELSE '>=70' COLLATE utf8mb4_nopad_bin
    END AS `weight`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, `income`, `weight`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `income`, `weight`
HAVING COUNT(*) >= 5
ORDER BY `age` IS NULL, `age`, `income` IS NULL, `income`, `weight` IS NULL, `weight`
