-- policy: golden
-- digest: sha256:00fb4cf78d7631257101576d638d0a2a8bbf297e8ba1bb568c4b139daf2e92b2
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_rank
  FROM "db"."main"."people"
  WHERE "person" IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), counted AS NOT MATERIALIZED (
  SELECT "age", "zip", COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "age", "zip"
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip",
    policy_engine_count
  FROM counted
), released AS NOT MATERIALIZED (
  SELECT "age", "zip", CAST(SUM(policy_engine_count) AS BIGINT) AS policy_engine_n
  FROM recoded
  GROUP BY "age", "zip"
  HAVING SUM(policy_engine_count) >= 5
), repeated AS NOT MATERIALIZED (
  SELECT "age", "zip", UNNEST(RANGE(policy_engine_n)) AS policy_engine_copy
  FROM released
)
SELECT "age", "zip"
FROM repeated
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
