-- policy: golden
-- digest: sha256:e788028db8a8ee8e5e670cffacdd92654a0f740e7a7c3ed01342a8433156f4d6
WITH sampled AS (
  SELECT `name`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CAST(`name` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`name` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CAST(`name` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin AS `name`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `name`, COUNT(*) AS `n`
FROM recoded
GROUP BY `name`
HAVING COUNT(*) >= 5
ORDER BY `name` IS NULL, `name`
