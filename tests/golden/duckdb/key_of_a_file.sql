-- policy: golden
-- digest: sha256:bdd3eae74642f9a1e56fc666fc14965f9e1fba0f4c5a06cf2e39df34d4bae620
WITH sampled AS NOT MATERIALIZED (
  SELECT DISTINCT "age", "zip", "person"
  FROM READ_PARQUET('people.parquet')
  WHERE "person" IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), placed AS NOT MATERIALIZED (
  SELECT "age", "zip", "person",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_place
  FROM sampled
), chosen AS NOT MATERIALIZED (
  SELECT "age", "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY SHA256($salt || ':o:' || CAST("person" AS VARCHAR) || ':' || CAST(policy_engine_place AS VARCHAR)), policy_engine_place) AS policy_engine_rank
  FROM placed
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip"
  FROM chosen
  WHERE policy_engine_rank = 1
)
SELECT "age", "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "zip"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
