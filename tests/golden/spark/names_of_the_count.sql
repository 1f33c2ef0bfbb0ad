-- policy: golden
-- digest: sha256:dc541b14a700a5fd5065e35a0aacd62ac5e0ad93e3a52cd55834d6ce81f786b5
WITH sampled AS (
  SELECT `age`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '400000000000000'
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
