-- policy: golden
-- digest: sha256:493b4fe8020dd5d2f5390872278c137c58272d5e35f9d05c94bc662837dc722f
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
