-- policy: golden
-- digest: sha256:a0a85eacf472fa299d977f320e2693aef00878594cb87d854d8c073b289d0701
WITH sampled AS (
  SELECT `age`, `income`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `income` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE TO_HEX(SHA256((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING))) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN ABS(CAST(`age` AS FLOAT64)) < 1 THEN 0
      WHEN ABS(CAST(`age` AS FLOAT64)) < 1000000000000000000 THEN CAST(FLOOR(ABS(CAST(`age` AS FLOAT64)) / 10) + CASE WHEN ABS(CAST(`age` AS FLOAT64)) / 10 - FLOOR(ABS(CAST(`age` AS FLOAT64)) / 10) >= 0.5 THEN 1 ELSE 0 END AS INT64) * CASE WHEN CAST(`age` AS FLOAT64) < 0 THEN -10 ELSE 10 END
    END AS `age`,
    CAST(CASE
      WHEN ABS(CAST(`income` AS FLOAT64)) < 0.025 THEN 0
      WHEN ABS(CAST(`income` AS FLOAT64)) < 1000000000000000 THEN CAST(FLOOR(ABS(CAST(`income` AS FLOAT64)) / 0.25) + CASE WHEN ABS(CAST(`income` AS FLOAT64)) / 0.25 - FLOOR(ABS(CAST(`income` AS FLOAT64)) / 0.25) >= 0.5 THEN 1 ELSE 0 END AS INT64) * CASE WHEN CAST(`income` AS FLOAT64) < 0 THEN CAST('-0.25' AS NUMERIC) ELSE CAST('0.25' AS NUMERIC) END
    END AS NUMERIC) AS `income`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, `income`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `income`
HAVING COUNT(*) >= 5
ORDER BY `age` NULLS LAST, `income` NULLS LAST
