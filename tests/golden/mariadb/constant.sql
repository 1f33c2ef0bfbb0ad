-- policy: golden
-- digest: sha256:18e5641aec30d5da651789eb9f1e7e6628ecd77f235ff4abbe8b55ea8305e730
WITH sampled AS (
  SELECT 1,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), recoded AS (
  SELECT
    '*' COLLATE utf8mb4_nopad_bin AS `everybody`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `everybody`, COUNT(*) AS `n`
FROM recoded
GROUP BY `everybody`
HAVING COUNT(*) >= 5
ORDER BY CAST(`everybody` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IS NULL, CAST(`everybody` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin
