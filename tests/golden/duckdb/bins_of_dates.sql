-- policy: golden
-- digest: sha256:77886289ca62684bb2404a263cd1b9f11dd7f84a0a794dadd9e86edd5e78c62f
WITH sampled AS NOT MATERIALIZED (
  SELECT "born", "moved"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "born" IS NULL THEN NULL
      WHEN "born" < CAST('1970-01-01' AS DATE) THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS "born",
    CASE
      WHEN "moved" AT TIME ZONE 'UTC' IS NULL THEN NULL
      WHEN "moved" AT TIME ZONE 'UTC' < CAST('2000-01-01 00:00:00' AS TIMESTAMP) THEN '<2000-01-01'
      ELSE '>=2000-01-01'
    END AS "moved"
  FROM sampled
)
SELECT "born", "moved", COUNT(*) AS "n"
FROM recoded
GROUP BY "born", "moved"
HAVING COUNT(*) >= 5
ORDER BY "born" NULLS LAST, "moved" NULLS LAST
