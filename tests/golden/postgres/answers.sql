-- policy: golden
-- digest: sha256:5dd1dc7f2d2302b58bb3416c2c7d05d7b459329c3407efb32e74792651244496
WITH people AS NOT MATERIALIZED (
  SELECT "age", "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, CAST("zip" AS TEXT) COLLATE "C" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      WHEN "age" < 65 THEN '[18,65)'
      ELSE '>=65'
    END AS "age",
    CASE
      WHEN CAST("zip" AS TEXT) COLLATE "C" IS NULL THEN NULL
      WHEN CAST("zip" AS TEXT) COLLATE "C" IN ('10115') THEN 'Berlin'
      ELSE 'elsewhere'
    END AS "zip"
  FROM people
  WHERE policy_engine_rank = 1
), numbered AS NOT MATERIALIZED (
  SELECT "age", "zip", ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "zip" COLLATE "C" NULLS LAST) AS policy_engine_number
  FROM recoded
), drawn AS NOT MATERIALIZED (
  SELECT "age", "zip",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:1:876878377bfb0bb41d0feeb6a42743ea038e8bda14fc634310221c6f487688d3:' || CAST(policy_engine_number AS TEXT), 'UTF8')) AS "policy_engine_hash_1",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:2:876878377bfb0bb41d0feeb6a42743ea038e8bda14fc634310221c6f487688d3:' || CAST(policy_engine_number AS TEXT), 'UTF8')) AS "policy_engine_hash_2"
  FROM numbered
), answered AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "policy_engine_hash_1" < DECODE('2cc4c905be551c30', 'hex') THEN '<18'
      WHEN "policy_engine_hash_1" < DECODE('5989920b7caa3860', 'hex') THEN '[18,65)'
      WHEN "policy_engine_hash_1" < DECODE('864e5b113aff5490', 'hex') THEN '>=65'
      WHEN "policy_engine_hash_1" < DECODE('b3132416f95470c0', 'hex') THEN NULL
      WHEN "policy_engine_hash_1" IS NOT NULL THEN "age"
    END AS "age",
    CASE
      WHEN "policy_engine_hash_2" < DECODE('3641cd4aa0f14850', 'hex') THEN 'Berlin'
      WHEN "policy_engine_hash_2" < DECODE('6c839a9541e290a0', 'hex') THEN 'elsewhere'
      WHEN "policy_engine_hash_2" < DECODE('a2c567dfe2d3d8f0', 'hex') THEN NULL
      WHEN "policy_engine_hash_2" IS NOT NULL THEN "zip"
    END AS "zip"
  FROM drawn
)
SELECT "age", "zip", COUNT(*) AS "n"
FROM answered
GROUP BY "age", "zip"
ORDER BY "age" COLLATE "C" NULLS LAST, "zip" COLLATE "C" NULLS LAST
