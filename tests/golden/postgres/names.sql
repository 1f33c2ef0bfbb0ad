-- policy: golden
-- digest: sha256:3d5ae3cfeb627826b324da3c65833d668a69055fa08caf50caefe9a64e9b4fb4
WITH sampled AS NOT MATERIALIZED (
  SELECT "it""s",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, CAST("it""s" AS TEXT) COLLATE "C" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    CAST("it""s" AS TEXT) COLLATE "C" AS "it""s"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "it""s", COUNT(*) AS "order by"
FROM recoded
GROUP BY "it""s"
HAVING COUNT(*) >= 5
ORDER BY "it""s" COLLATE "C" NULLS LAST
