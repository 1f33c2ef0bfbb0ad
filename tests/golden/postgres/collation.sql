-- policy: golden
-- digest: sha256:5eca45a473634aef93654a253a49246c37d13c940d418eab9405951516f4f1bc
WITH sampled AS NOT MATERIALIZED (
  SELECT "name",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, CAST("name" AS TEXT) COLLATE "C" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    CAST("name" AS TEXT) COLLATE "C" AS "name"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "name", COUNT(*) AS "n"
FROM recoded
GROUP BY "name"
HAVING COUNT(*) >= 5
ORDER BY "name" COLLATE "C" NULLS LAST
