-- policy: golden
-- digest: sha256:e92684e56cd1b743be52d6b5caf0b3e5279f078105f961e1ee397ce497629335
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, CAST("zip" AS TEXT) COLLATE "C" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    LEFT(CAST("zip" AS TEXT) COLLATE "C", 3) AS "zip"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip"
HAVING COUNT(*) >= 5
ORDER BY "zip" COLLATE "C" NULLS LAST
