-- policy: golden
-- digest: sha256:6534844a36b1fc6084cb15116f00b415ea4f9a03dbb542ccf36ba666a12ac5a8
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, CAST("zip" AS TEXT) COLLATE "C" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN CAST("zip" AS TEXT) COLLATE "C" IS NULL THEN NULL
      WHEN CAST("zip" AS TEXT) COLLATE "C" IN ('10115') THEN 'Berlin'
      WHEN CAST("zip" AS TEXT) COLLATE "C" IN ('it''s') THEN NULL
      ELSE 'it''s 20%'
    END AS "zip"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip"
HAVING COUNT(*) >= 5
ORDER BY "zip" COLLATE "C" NULLS LAST
