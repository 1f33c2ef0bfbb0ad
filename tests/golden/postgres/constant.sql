-- policy: golden
-- digest: sha256:171c5f058aba319b6e3129af16500bf7eb367dda53d4577c91ab38f0939e697a
WITH sampled AS NOT MATERIALIZED (
  SELECT 1,
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    '*' AS "everybody"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "everybody", COUNT(*) AS "n"
FROM recoded
GROUP BY "everybody"
HAVING COUNT(*) >= 5
ORDER BY "everybody" COLLATE "C" NULLS LAST
