-- policy: golden
-- digest: sha256:6d917072eba2fa0e97593b45196a00b82520d265f44848b17e516e469256ba71
WITH sampled AS (
  SELECT `born`, `moved`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`, `moved` IS NULL, `moved`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN `born` IS NULL THEN NULL
      WHEN `born` < CAST('1970-01-01' AS DATE) THEN '<1970-01-01' COLLATE utf8mb4_0900_bin
      ELSE '>=1970-01-01' COLLATE utf8mb4_0900_bin
    END AS `born`,
    CASE
      WHEN DATE_ADD(CAST('1970-01-01 00:00:00' AS DATETIME(6)), INTERVAL (NULLIF(UNIX_TIMESTAMP(`moved`), 0)) SECOND) IS NULL THEN NULL
      WHEN DATE_ADD(CAST('1970-01-01 00:00:00' AS DATETIME(6)), INTERVAL (NULLIF(UNIX_TIMESTAMP(`moved`), 0)) SECOND) < CAST('2000-01-01 00:00:00' AS DATETIME(6)) THEN '<2000-01-01' COLLATE utf8mb4_0900_bin
      ELSE '>=2000-01-01' COLLATE utf8mb4_0900_bin
    END AS `moved`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `born`, `moved`, COUNT(*) AS `n`
FROM recoded
GROUP BY `born`, `moved`
HAVING COUNT(*) >= 5
ORDER BY `born` IS NULL, `born`, `moved` IS NULL, `moved`
