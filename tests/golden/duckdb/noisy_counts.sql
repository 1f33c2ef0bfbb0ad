-- policy: golden
-- digest: sha256:5cdef6256cb4e2fe0d5ed6684e14cc93e0e66919aa57603587ccf529c177966d
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
    SHA256($salt || ':g:0:783b94a74bcd12119375acf8d1bdc409d738c4bcf4e76e221d2da091365a4cff:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_people + CASE
      WHEN policy_engine_hash < '3641cd4aa0f1485' THEN -1
      WHEN policy_engine_hash < 'c9be32b55f0eb7b' THEN 0
      ELSE 1
    END AS policy_engine_n
  FROM drawn
)
SELECT "age", "zip", policy_engine_n AS "n"
FROM noised
WHERE policy_engine_n >= 2
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
