-- policy: golden
-- digest: sha256:2a4b3608fa5fa9f57bf051570c463fbbb9615f24cf7f6d07bd8e589942925a97
WITH sampled AS NOT MATERIALIZED (
  SELECT "it""s"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    "it""s" AS "it""s"
  FROM sampled
)
SELECT "it""s", COUNT(*) AS "order by"
FROM recoded
GROUP BY "it""s"
HAVING COUNT(*) >= 5
ORDER BY "it""s" NULLS LAST
