-- policy: golden
-- digest: sha256:38d81f5c6949c8ce8bd7fa4ae49b227194638e5f349ee3f99890bcfb4b1aa56a
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "income", "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    "age" AS "age",
    CAST(NULLIF("income", CAST('NaN' AS DECIMAL)) AS DECIMAL(10, 2)) AS "income",
    "born" AS "born",
    "seen" AS "seen"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", "income", "born", "seen", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "income", "born", "seen"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "income" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST
