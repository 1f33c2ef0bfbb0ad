-- policy: golden
-- digest: sha256:2c93438456805e0893bdb99e32adffbea3e3de2f32fda68d5db5bde1f34fe333
WITH people AS (
  SELECT "age", "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
), recoded AS (
  SELECT
    "age" AS "age",
    "zip" AS "zip"
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS (
  SELECT "age", "zip", COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY "age", "zip"
), domain AS (
  SELECT "age", "zip"
  FROM
    (SELECT CAST(18 AS BIGINT) AS "age" UNION ALL SELECT CAST(65 AS BIGINT) AS "age" UNION ALL SELECT CAST(NULL AS BIGINT) AS "age") AS "policy_engine_values_1" CROSS JOIN
    (SELECT '10115' AS "zip" UNION ALL SELECT 'it''s' AS "zip" UNION ALL SELECT CAST(NULL AS VARCHAR) AS "zip") AS "policy_engine_values_2"
), tuples AS (
  SELECT "age", "zip", SUM(policy_engine_people) AS policy_engine_people
  FROM (
    SELECT "age", "zip", 1 AS policy_engine_there, 0 AS policy_engine_people FROM domain
    UNION ALL
    SELECT "age", "zip", 0 AS policy_engine_there, policy_engine_people FROM grouped
  ) AS policy_engine_tuples
  GROUP BY "age", "zip"
  HAVING MAX(policy_engine_there) = 1
), drawn AS (
  SELECT "age", "zip", policy_engine_people,
    ENCODE(SHA256($salt || ':g:0:f98c4957b206ab1199f8cfb9b8e2de9530c09fe4c09a39bb9d0f407b2c61c613:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)), 'hex') AS policy_engine_hash
  FROM tuples
), noised AS (
  SELECT "age", "zip", policy_engine_people + CASE
      WHEN policy_engine_hash < '22ac3083af5ce85' THEN -1
      WHEN policy_engine_hash < 'dd53cf7c50a317b' THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END AS policy_engine_n
  FROM drawn
)
SELECT "age", "zip", policy_engine_n AS "n"
FROM noised

ORDER BY "age" NULLS LAST, "zip" NULLS LAST
