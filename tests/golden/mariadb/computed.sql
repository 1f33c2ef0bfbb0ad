-- policy: golden
-- digest: sha256:8baa186c9643f95fb5b7a9be033b8262b20cbb0e31cbb7d32ae6b00bfc2310d8
WITH own AS (
  SELECT `age`, `born`, `seen`, `moved`, `person`

  FROM `main`.`people`
), `policy_engine_joined` AS (
  SELECT `born` AS `policy_engine_since_1`, CAST(`seen` AS DATE) AS `policy_engine_until_1`, `born` AS `policy_engine_since_2`, CAST(DATE_ADD(CAST('1970-01-01 00:00:00' AS DATETIME(6)), INTERVAL (NULLIF(UNIX_TIMESTAMP(`moved`), 0)) SECOND) AS DATE) AS `policy_engine_until_2`, `person`, `age`

  FROM own
), `policy_engine_computed` AS (
  SELECT `person`, `age`, CASE
      WHEN `policy_engine_since_1` >= CAST('0001-01-01' AS DATE) AND `policy_engine_since_1` <= `policy_engine_until_1` AND `policy_engine_until_1` <= CAST('9999-12-31' AS DATE) THEN CAST((EXTRACT(YEAR FROM `policy_engine_until_1`) - EXTRACT(YEAR FROM `policy_engine_since_1`)) * 1200 + (EXTRACT(MONTH FROM `policy_engine_until_1`) - EXTRACT(MONTH FROM `policy_engine_since_1`)) * 100 + EXTRACT(DAY FROM `policy_engine_until_1`) - EXTRACT(DAY FROM `policy_engine_since_1`) AS SIGNED) DIV 1200
    END AS `years`, CASE
      WHEN `policy_engine_since_2` >= CAST('0001-01-01' AS DATE) AND `policy_engine_since_2` <= `policy_engine_until_2` AND `policy_engine_until_2` <= CAST('9999-12-31' AS DATE) THEN CAST(DATEDIFF(`policy_engine_until_2`, `policy_engine_since_2`) AS SIGNED)
    END AS `days`
  FROM `policy_engine_joined`
), sampled AS (
  SELECT `years`, `days`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `years` IS NULL, `years`, `days` IS NULL, `days`) AS policy_engine_rank
  FROM `policy_engine_computed`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN `years` IS NULL THEN NULL
      WHEN `years` < 18 THEN '<18' COLLATE utf8mb4_nopad_bin
      ELSE '>=18' COLLATE utf8mb4_nopad_bin
    END AS `years`,
    CASE
      WHEN ABS(CAST(`days` AS DOUBLE)) < 1 THEN 0
      WHEN ABS(CAST(`days` AS DOUBLE)) < 1000000000000000000 THEN CAST(FLOOR(ABS(CAST(`days` AS DOUBLE)) / 10) + CASE WHEN ABS(CAST(`days` AS DOUBLE)) / 10 - FLOOR(ABS(CAST(`days` AS DOUBLE)) / 10) >= 0.5 THEN 1 ELSE 0 END AS SIGNED) * CASE WHEN CAST(`days` AS DOUBLE) < 0 THEN -10 ELSE 10 END
    END AS `days`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `years`, `days`, COUNT(*) AS `n`
FROM recoded
GROUP BY `years`, `days`
HAVING COUNT(*) >= 5
ORDER BY `years` IS NULL, `years`, `days` IS NULL, `days`
