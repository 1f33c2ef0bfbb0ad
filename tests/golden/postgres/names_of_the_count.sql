-- policy: golden
-- digest: sha256:f2099906399b75ee1242897b44acbd2df5b758151899086de4c8358f40c72eea
WITH sampled AS NOT MATERIALIZED (
  SELECT "age",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    "age" AS "age"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", COUNT(*) AS "order by"
FROM recoded
GROUP BY "age"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST
