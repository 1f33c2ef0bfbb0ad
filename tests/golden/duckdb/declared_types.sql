-- policy: golden
-- digest: sha256:6a1ce25e46addef2dab7c1b1aa7f1008f4421bfaf3b22055aa9aef866ff216de
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), counted AS NOT MATERIALIZED (
  SELECT "zip", COUNT(*) AS policy_engine_count
  FROM sampled
  GROUP BY "zip"
), typed AS NOT MATERIALIZED (
  SELECT
    CAST(CASE WHEN REGEXP_FULL_MATCH("zip", '[+-]?[0-9]{1,18}') THEN "zip" END AS BIGINT) AS "zip",
    policy_engine_count
  FROM counted
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "zip" IS NULL THEN NULL
      WHEN "zip" < 50000 THEN '<50000'
      ELSE '>=50000'
    END AS "zip",
    policy_engine_count
  FROM typed
)
SELECT "zip", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "zip"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "zip" NULLS LAST
