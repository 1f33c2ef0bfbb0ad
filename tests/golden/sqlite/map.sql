-- policy: golden
-- digest: sha256:6534844a36b1fc6084cb15116f00b415ea4f9a03dbb542ccf36ba666a12ac5a8
WITH sampled AS (
  SELECT `zip`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `zip` COLLATE BINARY NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE POLICY_ENGINE_SHA256(CAST(:salt || ':u:' || CAST(`person` AS TEXT) AS BLOB)) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN `zip` COLLATE BINARY IS NULL THEN NULL
      WHEN `zip` COLLATE BINARY IN ('10115') THEN 'Berlin'
      WHEN `zip` COLLATE BINARY IN ('it''s') THEN NULL
      ELSE 'it''s 20%'
    END AS `zip`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `zip`, COUNT(*) AS `n`
FROM recoded
GROUP BY `zip`
HAVING COUNT(*) >= 5
ORDER BY `zip` COLLATE BINARY NULLS LAST
