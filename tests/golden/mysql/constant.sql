-- policy: golden
-- digest: sha256:171c5f058aba319b6e3129af16500bf7eb367dda53d4577c91ab38f0939e697a
WITH sampled AS (
  SELECT 1,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    '*' COLLATE utf8mb4_0900_bin AS `everybody`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `everybody`, COUNT(*) AS `n`
FROM recoded
GROUP BY `everybody`
HAVING COUNT(*) >= 5
ORDER BY `everybody` IS NULL, `everybody`
