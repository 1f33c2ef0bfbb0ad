-- policy: golden
-- digest: sha256:f2099906399b75ee1242897b44acbd2df5b758151899086de4c8358f40c72eea
WITH sampled AS (
  SELECT `age`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE TO_HEX(SHA256((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING))) < '400000000000000'
), recoded AS (
  SELECT
    `age` AS `age`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `age`, COUNT(*) AS `order by`
FROM recoded
GROUP BY `age`
HAVING COUNT(*) >= 5
ORDER BY `age` NULLS LAST
