-- policy: golden
-- digest: sha256:d37534a73e8e46ade74885a51c35bdfb5e98c83ff72b377a216d78a89608a500
WITH people AS NOT MATERIALIZED (
  SELECT "age", "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    CASE
      WHEN "born" IS NULL THEN NULL
      WHEN "born" < CAST('1970-01-01' AS DATE) THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS "born"
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS NOT MATERIALIZED (
  SELECT "age", "born", COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY "age", "born"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:19f929c09a3cb4a1e954631f9ef658abf0c61ef0c21591dc8cc95e8fe224921d:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < DECODE('3641cd4aa0f14850', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('c9be32b55f0eb7b0', 'hex') THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END AS policy_engine_n
  FROM drawn
)
SELECT "age", "born", policy_engine_n AS "n"
FROM noised
WHERE policy_engine_n >= 2
ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
