-- policy: golden
-- digest: sha256:05b8e13e4b435e345213a26cd6507942f1a3425573ec9813f6a27e14edc1a51b
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
