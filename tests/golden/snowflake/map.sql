-- policy: golden
-- digest: sha256:6534844a36b1fc6084cb15116f00b415ea4f9a03dbb542ccf36ba666a12ac5a8
WITH sampled AS (
  SELECT "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, COLLATE("zip", '') NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2($policy_engine_salt || ':u:' || CAST("person" AS VARCHAR), 256) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN COLLATE("zip", '') IS NULL THEN NULL
      WHEN COLLATE("zip", '') IN ('10115') THEN 'Berlin'
      WHEN COLLATE("zip", '') IN ('it\'s') THEN NULL
      ELSE 'it\'s 20%'
    END AS "zip"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip"
HAVING COUNT(*) >= 5
ORDER BY COLLATE("zip", '') NULLS LAST
