-- policy: golden
-- digest: sha256:f10dfb8d32b5ac52a95e8487ba834d3041880a624d07635324ed683810b119f3
WITH sampled AS (
  SELECT `age`, `born`
  FROM `main`.`people` TABLESAMPLE (25 PERCENT)
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
)
SELECT `age`, `born`, COUNT(*) AS `n`
FROM recoded
GROUP BY `age`, `born`
HAVING COUNT(*) >= 5
ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST
