-- policy: golden
-- digest: sha256:e92684e56cd1b743be52d6b5caf0b3e5279f078105f961e1ee397ce497629335
WITH sampled AS (
  SELECT `zip`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IS NULL, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), recoded AS (
  SELECT
    LEFT(CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin, 3) AS `zip`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `zip`, COUNT(*) AS `n`
FROM recoded
GROUP BY `zip`
HAVING COUNT(*) >= 5
ORDER BY `zip` IS NULL, `zip`
