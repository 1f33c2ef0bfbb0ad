-- policy: golden
-- digest: sha256:c140f7d5673f0cb2795e112b19a00d5dc93dbbdef97d8d212e59ca92397dbe1b
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
), numbered AS NOT MATERIALIZED (
  SELECT "age", "zip", ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_number
  FROM recoded
), drawn AS NOT MATERIALIZED (
  SELECT "age", "zip",
    SHA256($salt || ':g:1:c4090b417468648a36be042c6a1cfe7424c8ebd2e25cff2c92b5944bdeb6d4d8:' || CAST(policy_engine_number AS VARCHAR)) AS "policy_engine_hash_1",
    SHA256($salt || ':g:2:c4090b417468648a36be042c6a1cfe7424c8ebd2e25cff2c92b5944bdeb6d4d8:' || CAST(policy_engine_number AS VARCHAR)) AS "policy_engine_hash_2"
  FROM numbered
), answered AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "policy_engine_hash_1" < '2cc4c905be551c3' THEN '<18'
      WHEN "policy_engine_hash_1" < '5989920b7caa386' THEN '[18,65)'
      WHEN "policy_engine_hash_1" < '864e5b113aff549' THEN '>=65'
      WHEN "policy_engine_hash_1" < 'b3132416f95470c' THEN NULL
      WHEN "policy_engine_hash_1" IS NOT NULL THEN "age"
    END AS "age",
    CASE
      WHEN "policy_engine_hash_2" < '3641cd4aa0f1485' THEN 'Berlin'
      WHEN "policy_engine_hash_2" < '6c839a9541e290a' THEN 'elsewhere'
      WHEN "policy_engine_hash_2" < 'a2c567dfe2d3d8f' THEN NULL
      WHEN "policy_engine_hash_2" IS NOT NULL THEN "zip"
    END AS "zip"
  FROM drawn
)
SELECT "age", "zip", COUNT(*) AS "n"
FROM answered
GROUP BY "age", "zip"
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
