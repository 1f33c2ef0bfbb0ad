-- policy: golden
-- digest: sha256:12fb470de65116baa602a1e6949ada732e5e953781c596a1d90228f8e750b6bb
WITH sampled AS (
  SELECT `married`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `married` NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE TO_HEX(SHA256((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST(`person` AS STRING))) < '400000000000000'
), counted AS (
  SELECT `married`, COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY `married`
), recoded AS (
  SELECT
    CASE
      WHEN `married` IS NULL THEN NULL
      WHEN `married` IN (FALSE) THEN 'no'
      WHEN `married` IN (TRUE) THEN 'yes'
      ELSE 'none'
    END AS `married`,
    policy_engine_count
  FROM counted
)
SELECT `married`, CAST(SUM(policy_engine_count) AS INT64) AS `n`
FROM recoded
GROUP BY `married`
HAVING SUM(policy_engine_count) >= 5
ORDER BY COLLATE(`married`, '') NULLS LAST
