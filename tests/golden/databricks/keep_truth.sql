-- policy: golden
-- digest: sha256:fa6dc06a2959cee62e9b999cd8b50c8c1df95f4cccfc8e9272c7d8d0e2571061
WITH sampled AS (
  SELECT `married`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `married` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '400000000000000'
), counted AS (
  SELECT `married`, COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY `married`
), recoded AS (
  SELECT
    `married` AS `married`,
    policy_engine_count
  FROM counted
)
SELECT `married`, CAST(SUM(policy_engine_count) AS BIGINT) AS `n`
FROM recoded
GROUP BY `married`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `married` NULLS LAST
