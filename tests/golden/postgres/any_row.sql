-- policy: golden
-- digest: sha256:4e5f834cbfbb1d9227c73118105da5c40051624e5c23ac9a01e756483997a73b
WITH sampled AS NOT MATERIALIZED (
  SELECT DISTINCT "age", "person"
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), placed AS NOT MATERIALIZED (
  SELECT "age", "person",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST) AS policy_engine_place
  FROM sampled
), chosen AS NOT MATERIALIZED (
  SELECT "age",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':o:' || CAST("person" AS TEXT) || ':' || CAST(policy_engine_place AS TEXT), 'UTF8')), policy_engine_place) AS policy_engine_rank
  FROM placed
), counted AS NOT MATERIALIZED (
  SELECT "age", COUNT(*) AS policy_engine_count
  FROM chosen
  WHERE policy_engine_rank = 1
  GROUP BY "age"
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    policy_engine_count
  FROM counted
)
SELECT "age", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "age"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "age" COLLATE "C" NULLS LAST
