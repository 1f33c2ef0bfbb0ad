-- policy: golden
-- digest: sha256:96347d677e911308a0913329d24e73d71e12e03579dfa623e79301a5685a6ebe
WITH people AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM READ_PARQUET('people.parquet')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      WHEN "age" < 65 THEN '[18,65)'
      ELSE '>=65'
    END AS "age",
    CASE
      WHEN "zip" IS NULL THEN NULL
      WHEN "zip" IN ('10115') THEN 'Berlin'
      ELSE 'elsewhere'
    END AS "zip"
  FROM people
), domain AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM
    (SELECT '<18' AS "age" UNION ALL SELECT '[18,65)' AS "age" UNION ALL SELECT '>=65' AS "age" UNION ALL SELECT CAST(NULL AS VARCHAR) AS "age") AS "policy_engine_values_1" CROSS JOIN
    (SELECT 'Berlin' AS "zip" UNION ALL SELECT 'elsewhere' AS "zip" UNION ALL SELECT CAST(NULL AS VARCHAR) AS "zip") AS "policy_engine_values_2"
), tuples AS NOT MATERIALIZED (
  SELECT "age", "zip", MAX(policy_engine_there) AS policy_engine_there
  FROM (
    SELECT "age", "zip", 0 AS policy_engine_there FROM domain
    UNION ALL
    SELECT "age", "zip", 1 AS policy_engine_there FROM recoded
  ) AS policy_engine_tuples
  GROUP BY "age", "zip"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_there,
    SHA256($salt || ':g:1:79c7360db472a7356064ddc88299493c2b7e32bf51cbbefe1b7e42a6c4748ac5:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash
  FROM tuples
)
SELECT "age", "zip"
FROM drawn
WHERE policy_engine_hash < '44d9585152ea194' OR policy_engine_there = 1 AND policy_engine_hash < 'bb26a7aead15e6c'
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
