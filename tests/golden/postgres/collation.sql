-- policy: golden
-- digest: sha256:e788028db8a8ee8e5e670cffacdd92654a0f740e7a7c3ed01342a8433156f4d6
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
