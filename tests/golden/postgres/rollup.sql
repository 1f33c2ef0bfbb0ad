-- policy: golden
-- digest: sha256:e3b8b21494b5c7f7d10eb5d535297127703cf8a8654f613ee680c05db0aa2585
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
  SELECT 1, "age", "born", COUNT(*)
  FROM recoded
  GROUP BY "age", "born"
  UNION ALL
  SELECT 2, "age", NULL, COUNT(*)
  FROM recoded
  GROUP BY "age"
), drawn AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "born", policy_engine_people,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:ca82e3d202b43b848b06abad762969143aff09866e7de39605ec9efbe2078dc0:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "born", policy_engine_people + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN policy_engine_hash < DECODE('14a5f2cb65940a50', 'hex') THEN -4
      WHEN policy_engine_hash < DECODE('2dde386b8b465bd0', 'hex') THEN -3
      WHEN policy_engine_hash < DECODE('4cabedc516784eb0', 'hex') THEN -2
      WHEN policy_engine_hash < DECODE('724b8e05c30f6cd0', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('a0f0fe1778ec1ef0', 'hex') THEN 0
      WHEN policy_engine_hash < DECODE('c721d09c3eebeb70', 'hex') THEN 1
      WHEN policy_engine_hash < DECODE('e666666666666670', 'hex') THEN 2
      WHEN policy_engine_hash IS NOT NULL THEN 3
    END ELSE CASE
      WHEN policy_engine_hash < DECODE('3c957e5cc5770bb0', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('c36a81a33a88f450', 'hex') THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END END AS policy_engine_n
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS "grouping", "age", "born", policy_engine_n AS "n"
FROM noised
WHERE policy_engine_n >= CASE WHEN policy_engine_grouping = 2 THEN 4 ELSE 2 END
ORDER BY policy_engine_grouping, "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
