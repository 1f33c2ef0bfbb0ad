-- policy: golden
-- digest: sha256:93149f503e6d6616097873928d18de1b0c9e6b49ad2004f3045ef22eb311c9dc
WITH sampled AS (
  SELECT `born`, `seen`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`, `seen` IS NULL, `seen`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN `born` BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN DATE_SUB(DATE(`born`), INTERVAL (DAYOFMONTH(`born`) - 1) DAY) END AS `born`,
    CASE WHEN `seen` BETWEEN CAST('0001-01-01 00:00:00' AS DATETIME(6)) AND CAST('9999-12-31 23:59:59.999999' AS DATETIME(6)) THEN CAST(DATE_SUB(DATE_SUB(DATE(`seen`), INTERVAL (DAYOFMONTH(`seen`) - 1) DAY), INTERVAL ((MONTH(`seen`) - 1) % 3) MONTH) AS DATETIME(6)) END AS `seen`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `born`, `seen`, COUNT(*) AS `n`
FROM recoded
GROUP BY `born`, `seen`
HAVING COUNT(*) >= 5
ORDER BY `born` IS NULL, `born`, `seen` IS NULL, `seen`
