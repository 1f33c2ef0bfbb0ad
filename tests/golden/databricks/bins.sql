-- policy: golden
-- digest: sha256:2ed1cdf81bc0c24ac7b945956311d3c6e99a969eb4bd1b2e9226132894282405
WITH sampled AS (
  SELECT `age`, `income`, `weight`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `income` NULLS LAST, `weight` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18'
      WHEN `age` < 65 THEN '[18,65)'
      ELSE '>=65'
    END AS `age`,
    CASE
      WHEN `income` IS NULL THEN NULL
      WHEN `income` < CAST(0.5 AS DECIMAL(38, 2)) THEN '<0.5'
      ELSE '>=0.5'
    END AS `income`,
    CASE
      WHEN `weight` IS NULL THEN NULL
      WHEN ISNAN(CAST(`weight` AS DOUBLE)) THEN NULL
      WHEN CAST(`weight` AS DOUBLE) < CAST(-1 AS DOUBLE) THEN '<-1'
      WHEN CAST(`weight` AS DOUBLE) < CAST(70 AS DOUBLE) THEN '[-1,70)'
      ELSE '>=70'
    END AS `weight`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, `income`, `weight`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `income`, `weight`
HAVING COUNT(*) >= 5
ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `income` COLLATE UTF8_BINARY NULLS LAST, `weight` COLLATE UTF8_BINARY NULLS LAST
