-- policy: golden
-- digest: sha256:fbf08d97af152b6962b866ce0813e02a12f7d6a076f789c2609c0873343f07fa
WITH people AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM READ_PARQUET('people.parquet')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip"
  FROM people
), grouped AS NOT MATERIALIZED (
  SELECT CASE GROUPING("age", "zip") WHEN 1 THEN 1 WHEN 2 THEN 2 END AS policy_engine_grouping, "age", "zip", COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY GROUPING SETS (("age"), ("zip"))
), drawn AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "zip", policy_engine_people,
    SHA256($salt || ':g:0:4ca94d6a483ee4f10d1c0c7780ec0427ac11eb8a6138bbe0b8f61b4124e81f9b:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "zip", policy_engine_people + CASE
      WHEN policy_engine_hash < '46295c6bba4c121' THEN -1
      WHEN policy_engine_hash < 'b9d6a39445b3edf' THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END AS policy_engine_n
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS "grouping", "age", "zip", policy_engine_n AS "n"
FROM noised
WHERE policy_engine_n >= 2
ORDER BY policy_engine_grouping, "age" NULLS LAST, "zip" NULLS LAST
