-- policy: golden
-- digest: sha256:6534844a36b1fc6084cb15116f00b415ea4f9a03dbb542ccf36ba666a12ac5a8
WITH sampled AS (
  SELECT `zip`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL THEN NULL
      WHEN CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IN ('10115') THEN 'Berlin' COLLATE utf8mb4_0900_bin
      WHEN CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IN ('it\'s') THEN NULL
      ELSE 'it\'s 20%' COLLATE utf8mb4_0900_bin
    END AS `zip`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `zip`, COUNT(*) AS `n`
FROM recoded
GROUP BY `zip`
HAVING COUNT(*) >= 5
ORDER BY `zip` IS NULL, `zip`
