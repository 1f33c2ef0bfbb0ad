-- policy: golden
-- digest: sha256:f709067ee8dc84ac248f04cec8ad0e76d2d50fe75aea4c4c5376d51e1d048af8
WITH sampled AS (
  SELECT `age`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `seen` IS NULL, `seen` DESC, `age` IS NULL, `age`, `born` IS NULL, `born`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18' COLLATE utf8mb4_0900_bin
      ELSE '>=18' COLLATE utf8mb4_0900_bin
    END AS `age`,
    CASE
      WHEN `born` IS NULL THEN NULL
      WHEN `born` < CAST('1970-01-01' AS DATE) THEN '<1970-01-01' COLLATE utf8mb4_0900_bin
      ELSE '>=1970-01-01' COLLATE utf8mb4_0900_bin
    END AS `born`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, `born`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `born`
HAVING COUNT(*) >= 5
ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`
