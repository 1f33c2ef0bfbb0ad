-- policy: golden
-- digest: sha256:6b8e19463817283cc0d5d8401262a13e1c31ea3f7727b9a4fee1375cec29e86b
WITH sampled AS (
  SELECT `income`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `income` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE TO_HEX(SHA256((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING))) < '400000000000000'
), recoded AS (
  SELECT
    CAST(CASE
      WHEN ABS(CAST(`income` AS FLOAT64)) < 1 THEN 0
      WHEN ABS(CAST(`income` AS FLOAT64)) < 100000000000000000 THEN CAST(FLOOR(ABS(CAST(`income` AS FLOAT64)) / 10) + CASE WHEN ABS(CAST(`income` AS FLOAT64)) / 10 - FLOOR(ABS(CAST(`income` AS FLOAT64)) / 10) >= 0.5 THEN 1 ELSE 0 END AS INT64) * CASE WHEN CAST(`income` AS FLOAT64) < 0 THEN CAST('-10' AS NUMERIC) ELSE CAST('10' AS NUMERIC) END
    END AS NUMERIC) AS `income`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `income`, COUNT(*) AS `n`
FROM recoded
GROUP BY `income`
HAVING COUNT(*) >= 5
ORDER BY `income` NULLS LAST
