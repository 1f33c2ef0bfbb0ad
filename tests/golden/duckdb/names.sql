-- policy: golden
-- digest: sha256:ad5ed329b2a607891672363351c93f0f3c4f6d04c3d6c73cf822794d11445417
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
