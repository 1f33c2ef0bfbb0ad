CREATE TABLE "db"."main"."out" AS
-- policy: golden
-- digest: sha256:214c6a061e1832fa4a1040f741374376f6d1c746bd31896b19fae2277cca9d6e
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM "db"."main"."people" JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = rowid >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(rowid % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip"
  FROM sampled
)
SELECT "age", "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "zip"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
