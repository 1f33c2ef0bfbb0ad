-- policy: golden
-- digest: sha256:114d131e75a0be102b24fbba6cd1e0412b73f71012f075e0ee12efbebefa65a2
WITH sampled AS NOT MATERIALIZED (
  SELECT "married",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "married" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), counted AS NOT MATERIALIZED (
  SELECT "married", COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "married"
), recoded AS NOT MATERIALIZED (
  SELECT
    "married" AS "married",
    policy_engine_count
  FROM counted
)
SELECT "married", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "married"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "married" NULLS LAST
