-- policy: golden
-- digest: sha256:194418fe260bd44e90af08d6a51668e1898d71e46f84c093d4ded0839e32e64d
WITH people AS NOT MATERIALIZED (
  SELECT "age", "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
), recoded AS MATERIALIZED (
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
  SELECT 0 AS policy_engine_grouping, "age", "born", 0 AS policy_engine_people
  FROM recoded
  WHERE 1 = 0
  UNION ALL
  SELECT 1, "age", NULL, COUNT(*)
  FROM recoded
  GROUP BY "age"
  UNION ALL
  SELECT 2, NULL, "born", COUNT(*)
  FROM recoded
  GROUP BY "born"
), drawn AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "born", policy_engine_people,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:7601309e7d24da0a26d32e49820e4987b1e1eb922128855ae9fb019b12d5c9e7:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < DECODE('46295c6bba4c1210', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('b9d6a39445b3edf0', 'hex') THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END AS policy_engine_n
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS "grouping", "age", "born", policy_engine_n AS "n"
FROM noised
WHERE policy_engine_n >= 2
ORDER BY policy_engine_grouping, "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
