-- policy: golden
-- digest: sha256:284c5f492c77b2f8b94c0d212b4655a8a1b2ea9b12f8a391a61a68b6107b1b6c
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), counted AS NOT MATERIALIZED (
  SELECT "zip", COUNT(*) AS policy_engine_count
  FROM sampled
  GROUP BY "zip"
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "zip" IS NULL THEN NULL
      WHEN "zip" IN ('10115') THEN 'Berlin'
      WHEN "zip" IN ('it''s') THEN NULL
      ELSE 'it''s 20%'
    END AS "zip",
    policy_engine_count
  FROM counted
)
SELECT "zip", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "zip"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "zip" NULLS LAST
