-- policy: golden
-- digest: sha256:05d530461e29f7cd27372f2934ba4ebc706c280efd5020c45f7f28cfe19d2e9e
WITH sampled AS NOT MATERIALIZED (
  SELECT "born", "seen"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE WHEN "born" BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN CAST(DATE_TRUNC('year', "born") AS DATE) END AS "born",
    CASE WHEN "seen" BETWEEN CAST('0001-01-01 00:00:00' AS TIMESTAMP) AND CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP) THEN CAST(DATE_TRUNC('hour', "seen") AS TIMESTAMP) END AS "seen"
  FROM sampled
)
SELECT "born", "seen", COUNT(*) AS "n"
FROM recoded
GROUP BY "born", "seen"
HAVING COUNT(*) >= 5
ORDER BY "born" NULLS LAST, "seen" NULLS LAST
