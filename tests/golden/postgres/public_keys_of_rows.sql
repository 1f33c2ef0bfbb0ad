-- policy: golden
-- digest: sha256:764352c20eaeabd80eca100c61a70ec720f7c018d10401a33e916fe5a75709b2
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
    '*' AS "everybody",
    "born" AS "born"
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born", COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY "age", "everybody", "born"
), domain AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born"
  FROM
    (SELECT '<18' AS "age", '*' AS "everybody", CAST('2020-01-01' AS DATE) AS "born" UNION ALL SELECT CAST(NULL AS TEXT) AS "age", '*' AS "everybody", CAST(NULL AS DATE) AS "born") AS "policy_engine_values_1"
), tuples AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born", CAST(SUM(policy_engine_people) AS BIGINT) AS policy_engine_people
  FROM (
    SELECT "age", "everybody", "born", 1 AS policy_engine_there, 0 AS policy_engine_people FROM domain
    UNION ALL
    SELECT "age", "everybody", "born", 0 AS policy_engine_there, policy_engine_people FROM grouped
  ) AS policy_engine_tuples
  GROUP BY "age", "everybody", "born"
  HAVING MAX(policy_engine_there) = 1
), drawn AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born", policy_engine_people,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:c11e949ce6a58207137482493be9f4b59f9fd04c84ce06a48d06d3625712a365:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "everybody" COLLATE "C" NULLS LAST, "born" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash
  FROM tuples
), noised AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < DECODE('22ac3083af5ce850', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('dd53cf7c50a317b0', 'hex') THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END AS policy_engine_n
  FROM drawn
)
SELECT "age", "everybody", "born", policy_engine_n AS "n"
FROM noised

ORDER BY "age" COLLATE "C" NULLS LAST, "everybody" COLLATE "C" NULLS LAST, "born" NULLS LAST
