-- policy: golden
-- digest: sha256:d6d5a25b48808eb4d23c3aa42f3b9e9a3cfa1f8325a9425712f091c53069a811
WITH sampled AS (
  SELECT `zip`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, CAST(`zip` AS STRING) COLLATE UTF8_BINARY NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '400000000000000'
), typed AS (
  SELECT
    CAST(CASE WHEN CAST(`zip` AS STRING) COLLATE UTF8_BINARY RLIKE '(?s)^([+-]?[0-9]{1,18})(?!.)' THEN CAST(`zip` AS STRING) COLLATE UTF8_BINARY END AS BIGINT) AS `zip`
  FROM sampled
  WHERE policy_engine_rank = 1
), recoded AS (
  SELECT
    CASE
      WHEN `zip` IS NULL THEN NULL
      WHEN `zip` < 50000 THEN '<50000'
      ELSE '>=50000'
    END AS `zip`
  FROM typed
)
SELECT `zip`, COUNT(*) AS `n`
FROM recoded
GROUP BY `zip`
HAVING COUNT(*) >= 5
ORDER BY `zip` COLLATE UTF8_BINARY NULLS LAST
