-- policy: golden
-- digest: sha256:6534844a36b1fc6084cb15116f00b415ea4f9a03dbb542ccf36ba666a12ac5a8
WITH sampled AS (
  SELECT `zip`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, CAST(`zip` AS STRING) COLLATE UTF8_BINARY NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN CAST(`zip` AS STRING) COLLATE UTF8_BINARY IS NULL THEN NULL
      WHEN CAST(`zip` AS STRING) COLLATE UTF8_BINARY IN ('10115') THEN 'Berlin'
      WHEN CAST(`zip` AS STRING) COLLATE UTF8_BINARY IN ('it\'s') THEN NULL
      ELSE 'it\'s 20%'
    END AS `zip`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `zip`, COUNT(*) AS `n`
FROM recoded
GROUP BY `zip`
HAVING COUNT(*) >= 5
ORDER BY `zip` COLLATE UTF8_BINARY NULLS LAST
