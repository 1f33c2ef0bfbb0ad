-- policy: golden
-- digest: sha256:e22ca21af95bd49039e44dc7762282879d96c45ca0f7cb966b6cbf33644efb87
WITH sampled AS (
  SELECT `age`, `income`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `income` IS NULL, `income`) AS policy_engine_rank
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
    END AS `income`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, `income`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `income`
HAVING COUNT(*) >= 5
ORDER BY `age` IS NULL, `age`, `income` IS NULL, `income`
