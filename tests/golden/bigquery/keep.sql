-- policy: golden
-- digest: sha256:6df64d7e5ea1f53d97eaa59700dd0540dc2ece65bd88ddee0a9a83dd8161db50
WITH sampled AS (
  SELECT `zip`, `sex`, `married`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, COLLATE(`zip`, '') NULLS LAST, `sex` NULLS LAST, `married` NULLS LAST, `born` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE TO_HEX(SHA256((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING))) < '400000000000000'
), recoded AS (
  SELECT
    `zip` AS `zip`,
    `sex` AS `sex`,
    `married` AS `married`,
    `born` AS `born`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `zip`, `sex`, `married`, `born`, COUNT(*) AS `n`
FROM recoded
GROUP BY `zip`, `sex`, `married`, `born`
HAVING COUNT(*) >= 5
ORDER BY COLLATE(`zip`, '') NULLS LAST, COLLATE(`sex`, '') NULLS LAST, `married` NULLS LAST, `born` NULLS LAST
