-- policy: golden
-- digest: sha256:18e5641aec30d5da651789eb9f1e7e6628ecd77f235ff4abbe8b55ea8305e730
WITH sampled AS (
  SELECT 1,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE TO_HEX(SHA256((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING))) < '400000000000000'
), recoded AS (
  SELECT
    '*' AS `everybody`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `everybody`, COUNT(*) AS `n`
FROM recoded
GROUP BY `everybody`
HAVING COUNT(*) >= 5
ORDER BY COLLATE(`everybody`, '') NULLS LAST
