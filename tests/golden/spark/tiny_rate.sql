-- policy: golden
-- digest: sha256:7845a2623064a0e31ab6f10bb2f98aa63828a5acf39dcc221e01a67b5064b517
WITH sampled AS (
  SELECT `age`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `born` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '0cccccccccccccc'
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18'
      ELSE '>=18'
    END AS `age`,
    CASE
      WHEN `born` IS NULL THEN NULL
      WHEN `born` < CAST('1970-01-01' AS DATE) THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS `born`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, `born`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `born`
HAVING COUNT(*) >= 5
ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST
