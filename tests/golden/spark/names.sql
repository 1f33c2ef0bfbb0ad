-- policy: golden
-- digest: sha256:3d5ae3cfeb627826b324da3c65833d668a69055fa08caf50caefe9a64e9b4fb4
WITH sampled AS (
  SELECT `it"s`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, CAST(`it"s` AS STRING) COLLATE UTF8_BINARY NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '400000000000000'
), recoded AS (
  SELECT
    CAST(`it"s` AS STRING) COLLATE UTF8_BINARY AS `it"s`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `it"s`, COUNT(*) AS `order by`
FROM recoded
GROUP BY `it"s`
HAVING COUNT(*) >= 5
ORDER BY `it"s` COLLATE UTF8_BINARY NULLS LAST
