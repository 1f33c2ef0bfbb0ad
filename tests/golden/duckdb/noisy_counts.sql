-- policy: golden
-- digest: sha256:5d939d7a656c0b72da4582ff186a195d11be3b6bcecc57c75eec3f0cd0016723
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
  SELECT "age", "zip", COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY "age", "zip"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_people,
    SHA256($salt || ':g:0:f13f72592f0a1dd40802b6130c7bec158dd08d5ee30ddda5406541c00d34f3f6:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_people + CASE
      WHEN policy_engine_hash < '3641cd4aa0f1485' THEN -1
      WHEN policy_engine_hash < 'c9be32b55f0eb7b' THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END AS policy_engine_n
  FROM drawn
)
SELECT "age", "zip", policy_engine_n AS "n"
FROM noised
WHERE policy_engine_n >= 2
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
