-- policy: golden
-- digest: sha256:7e584e32fcea2bb336ff32e9872ef80edec82b9f1f0de1c46b6f3f88c6133ea3
WITH sampled AS (
  SELECT `born`, `seen`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`, `seen` IS NULL, `seen`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN `born` BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN CAST(DATE_FORMAT(DATE_SUB(`born`, INTERVAL (WEEKDAY(`born`)) DAY), '%x-W%v') AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin END AS `born`,
    CASE WHEN `seen` BETWEEN CAST('0001-01-01 00:00:00' AS DATETIME(6)) AND CAST('9999-12-31 23:59:59.999999' AS DATETIME(6)) THEN CAST(DATE_FORMAT(DATE_SUB(CAST(`seen` AS DATE), INTERVAL (WEEKDAY(CAST(`seen` AS DATE))) DAY), '%x-W%v') AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin END AS `seen`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `born`, `seen`, COUNT(*) AS `n`
FROM recoded
GROUP BY `born`, `seen`
HAVING COUNT(*) >= 5
ORDER BY `born` IS NULL, `born`, `seen` IS NULL, `seen`
