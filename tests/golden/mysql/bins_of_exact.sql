-- policy: golden
-- digest: sha256:88610ccc9c24320b754068d00dbb29da7b42c627d98521eeab9206f1e57730fe
WITH sampled AS (
  SELECT `age`, `income`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `income` IS NULL, `income`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18' COLLATE utf8mb4_0900_bin
      WHEN `age` < 65 THEN '[18,65)' COLLATE utf8mb4_0900_bin
      ELSE '>=65' COLLATE utf8mb4_0900_bin
    END AS `age`,
    CASE
      WHEN `income` IS NULL THEN NULL
      WHEN `income` < CAST(0.5 AS DECIMAL(38, 2)) THEN '<0.5' COLLATE utf8mb4_0900_bin
      ELSE '>=0.5' COLLATE utf8mb4_0900_bin
    END AS `income`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, `income`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `income`
HAVING COUNT(*) >= 5
ORDER BY CAST(`age` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`age` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin, CAST(`income` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`income` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin
