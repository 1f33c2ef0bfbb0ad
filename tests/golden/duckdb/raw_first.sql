-- policy: golden
-- digest: sha256:26c5cfccdf0225efb046254bd8fd5120338d5113b220a3799b30db14604e710f
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), counted AS NOT MATERIALIZED (
  SELECT "age", "zip", COUNT(*) AS policy_engine_count
  FROM sampled
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
)
SELECT "age", "zip", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "age", "zip"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
