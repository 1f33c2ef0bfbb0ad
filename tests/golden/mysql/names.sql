-- policy: golden
-- digest: sha256:3d5ae3cfeb627826b324da3c65833d668a69055fa08caf50caefe9a64e9b4fb4
WITH sampled AS (
  SELECT `it"s`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CAST(`it"s` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin IS NULL, CAST(`it"s` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CAST(`it"s` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin AS `it"s`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `it"s`, COUNT(*) AS `order by`
FROM recoded
GROUP BY `it"s`
HAVING COUNT(*) >= 5
ORDER BY `it"s` IS NULL, `it"s`
