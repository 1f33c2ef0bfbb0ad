-- policy: golden
-- digest: sha256:d00820303eddbfe0625876771ae412b7806f700926b309e43e1a51fe4464e4d9
WITH people AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM READ_PARQUET('people.parquet')
), recoded AS NOT MATERIALIZED (
  SELECT
    "age" AS "age",
    "zip" AS "zip"
  FROM people
), grouped AS NOT MATERIALIZED (
  SELECT "age", "zip", COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY "age", "zip"
), domain AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM
    (SELECT CAST(18 AS BIGINT) AS "age" UNION ALL SELECT CAST(65 AS BIGINT) AS "age" UNION ALL SELECT CAST(NULL AS BIGINT) AS "age") AS "policy_engine_values_1" CROSS JOIN
    (SELECT '10115' AS "zip" UNION ALL SELECT 'it''s' AS "zip" UNION ALL SELECT CAST(NULL AS VARCHAR) AS "zip") AS "policy_engine_values_2"
), tuples AS NOT MATERIALIZED (
  SELECT "age", "zip", CAST(SUM(policy_engine_people) AS BIGINT) AS policy_engine_people
  FROM (
    SELECT "age", "zip", 1 AS policy_engine_there, 0 AS policy_engine_people FROM domain
    UNION ALL
    SELECT "age", "zip", 0 AS policy_engine_there, policy_engine_people FROM grouped
  ) AS policy_engine_tuples
  GROUP BY "age", "zip"
  HAVING MAX(policy_engine_there) = 1
), drawn AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_people,
    SHA256($salt || ':g:0:32beafff494d5882e2943a1dc173fd030447c769d3cceef7b1b6606b0e7e8d74:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash
  FROM tuples
), noised AS NOT MATERIALIZED (
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
