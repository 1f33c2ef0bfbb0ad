-- policy: golden
-- digest: sha256:105090d7820ceca64634007ca1386e45a950502c0e221b5afecdf149b2050a75
WITH sampled AS (
  SELECT `seen`, `moved`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `seen` NULLS LAST, `moved` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN `seen` BETWEEN CAST('0001-01-01 00:00:00' AS TIMESTAMP_NTZ) AND CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP_NTZ) THEN CAST(DATE_TRUNC('day', `seen`) AS TIMESTAMP_NTZ) END AS `seen`,
    CASE WHEN CAST(`moved` AS TIMESTAMP_NTZ) BETWEEN CAST('0001-01-01 00:00:00' AS TIMESTAMP_NTZ) AND CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP_NTZ) THEN CAST(DATE_TRUNC('year', CAST(`moved` AS TIMESTAMP_NTZ)) AS TIMESTAMP_NTZ) END AS `moved`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `seen`, `moved`, COUNT(*) AS `n`
FROM recoded
GROUP BY `seen`, `moved`
HAVING COUNT(*) >= 5
ORDER BY `seen` NULLS LAST, `moved` NULLS LAST
