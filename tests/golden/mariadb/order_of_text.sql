-- policy: golden
-- digest: sha256:134d1b70ebdfd92de289c6cd2f83e4dba27755f2c2fc2e55040f3cab705c1347
WITH sampled AS (
  SELECT `age`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IS NULL, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin DESC, `age` IS NULL, `age`, `born` IS NULL, `born`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18' COLLATE utf8mb4_nopad_bin
      ELSE '>=18' COLLATE utf8mb4_nopad_bin
    END AS `age`,
    CASE
      WHEN `born` IS NULL THEN NULL
      WHEN `born` < CAST('1970-01-01' AS DATE) THEN '<1970-01-01' COLLATE utf8mb4_nopad_bin
      ELSE '>=1970-01-01' COLLATE utf8mb4_nopad_bin
    END AS `born`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, `born`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `born`
HAVING COUNT(*) >= 5
ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`
