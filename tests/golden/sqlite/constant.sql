-- policy: golden
-- digest: sha256:18e5641aec30d5da651789eb9f1e7e6628ecd77f235ff4abbe8b55ea8305e730
WITH sampled AS (
  SELECT 1,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE POLICY_ENGINE_SHA256(CAST(:salt || ':u:' || CAST(`person` AS TEXT) AS BLOB)) < '400000000000000'
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
ORDER BY `everybody` COLLATE BINARY NULLS LAST
