-- policy: golden
-- digest: sha256:493b4fe8020dd5d2f5390872278c137c58272d5e35f9d05c94bc662837dc722f
WITH sampled AS (
  SELECT `zip`, `sex`, `married`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin, `sex` IS NULL, `sex`, CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END IS NULL, CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END, `born` IS NULL, `born`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin AS `zip`,
    CAST(`sex` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin AS `sex`,
    CASE WHEN `married` THEN TRUE WHEN NOT `married` THEN FALSE END AS `married`,
    `born` AS `born`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `zip`, `sex`, `married`, `born`, COUNT(*) AS `n`
FROM recoded
GROUP BY `zip`, `sex`, `married`, `born`
HAVING COUNT(*) >= 5
ORDER BY `zip` IS NULL, `zip`, `sex` IS NULL, `sex`, `married` IS NULL, `married`, `born` IS NULL, `born`
