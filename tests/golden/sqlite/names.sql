-- policy: golden
-- digest: sha256:e1e6c32c6fba8c6d42d4f5a294a0c5f8ee16e78e3c17c91c15a0db2adb887c51
WITH sampled AS (
  SELECT `it"s`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `it"s` COLLATE BINARY NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE POLICY_ENGINE_SHA256(CAST(:salt || ':u:' || CAST(`person` AS TEXT) AS BLOB)) < '400000000000000'
), recoded AS (
  SELECT
    `it"s` COLLATE BINARY AS `it"s`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `it"s`, COUNT(*) AS `order by`
FROM recoded
GROUP BY `it"s`
HAVING COUNT(*) >= 5
ORDER BY `it"s` COLLATE BINARY NULLS LAST
