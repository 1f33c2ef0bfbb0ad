-- policy: golden
-- digest: sha256:5dd1dc7f2d2302b58bb3416c2c7d05d7b459329c3407efb32e74792651244496
WITH people AS (
  SELECT "age", "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, COLLATE("zip", '') NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
), recoded AS (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      WHEN "age" < 65 THEN '[18,65)'
      ELSE '>=65'
    END AS "age",
    CASE
      WHEN COLLATE("zip", '') IS NULL THEN NULL
      WHEN COLLATE("zip", '') IN ('10115') THEN 'Berlin'
      ELSE 'elsewhere'
    END AS "zip"
  FROM people
  WHERE policy_engine_rank = 1
), numbered AS (
  SELECT "age", "zip", ROW_NUMBER() OVER (ORDER BY COLLATE("age", '') NULLS LAST, COLLATE("zip", '') NULLS LAST) AS policy_engine_number
  FROM recoded
), drawn AS (
  SELECT "age", "zip",
    SHA2($policy_engine_salt || ':g:1:876878377bfb0bb41d0feeb6a42743ea038e8bda14fc634310221c6f487688d3:' || CAST(policy_engine_number AS VARCHAR), 256) AS "policy_engine_hash_1",
    SHA2($policy_engine_salt || ':g:2:876878377bfb0bb41d0feeb6a42743ea038e8bda14fc634310221c6f487688d3:' || CAST(policy_engine_number AS VARCHAR), 256) AS "policy_engine_hash_2"
  FROM numbered
), answered AS (
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
ORDER BY COLLATE("age", '') NULLS LAST, COLLATE("zip", '') NULLS LAST
