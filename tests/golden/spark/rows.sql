-- policy: golden
-- digest: sha256:42659b4f02fd454a3ac7943d2956852cea95e2c67b0e1e8a111ed418e784afde
WITH sampled AS (
  SELECT `age`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `born` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '400000000000000'
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
), released AS (
  SELECT `age`, `born`, COUNT(*) AS policy_engine_n
  FROM recoded
  GROUP BY `age`, `born`
  HAVING COUNT(*) >= 5
), repeated AS (
  SELECT `age`, `born`, EXPLODE(ARRAY_REPEAT(1, CAST(policy_engine_n AS INT))) AS policy_engine_copy
  FROM released
)
SELECT `age`, `born`
FROM repeated
ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST
