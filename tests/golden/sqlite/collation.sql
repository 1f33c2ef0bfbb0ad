-- policy: golden
-- digest: sha256:e788028db8a8ee8e5e670cffacdd92654a0f740e7a7c3ed01342a8433156f4d6
WITH sampled AS (
  SELECT `name`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `name` COLLATE BINARY NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE POLICY_ENGINE_SHA256(CAST(:salt || ':u:' || CAST(`person` AS TEXT) AS BLOB)) < '400000000000000'
), recoded AS (
  SELECT
    `name` COLLATE BINARY AS `name`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `name`, COUNT(*) AS `n`
FROM recoded
GROUP BY `name`
HAVING COUNT(*) >= 5
ORDER BY `name` COLLATE BINARY NULLS LAST
