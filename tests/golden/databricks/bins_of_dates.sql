-- policy: golden
-- digest: sha256:6d917072eba2fa0e97593b45196a00b82520d265f44848b17e516e469256ba71
WITH sampled AS (
  SELECT `born`, `moved`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `born` NULLS LAST, `moved` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING), 256) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN `born` IS NULL THEN NULL
      WHEN `born` < CAST('1970-01-01' AS DATE) THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS `born`,
    CASE
      WHEN CAST(`moved` AS TIMESTAMP_NTZ) IS NULL THEN NULL
      WHEN CAST(`moved` AS TIMESTAMP_NTZ) < CAST('2000-01-01 00:00:00' AS TIMESTAMP_NTZ) THEN '<2000-01-01'
      ELSE '>=2000-01-01'
    END AS `moved`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `born`, `moved`, COUNT(*) AS `n`
FROM recoded
GROUP BY `born`, `moved`
HAVING COUNT(*) >= 5
ORDER BY `born` COLLATE UTF8_BINARY NULLS LAST, `moved` COLLATE UTF8_BINARY NULLS LAST
