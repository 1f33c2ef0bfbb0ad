-- policy: golden
-- digest: sha256:5e8acbf7125ddedcc894a1b5f956f58851940dd3be1f025024f11990579cee13
WITH sampled AS (
  SELECT `zip`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `zip` COLLATE BINARY NULLS LAST) AS policy_engine_rank
  FROM `main`.`people`
  WHERE POLICY_ENGINE_SHA256(CAST(:salt || ':u:' || CAST(`person` AS TEXT) AS BLOB)) < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN INSTR(`zip` COLLATE BINARY, CHAR(0)) = 0 THEN SUBSTR(`zip` COLLATE BINARY, 1, 3) END AS `zip`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `zip`, COUNT(*) AS `n`
FROM recoded
GROUP BY `zip`
HAVING COUNT(*) >= 5
ORDER BY `zip` COLLATE BINARY NULLS LAST
