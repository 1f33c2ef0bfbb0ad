-- policy: golden
-- digest: sha256:4116aad8bcbb323b19db1fac0d82d8cfd96ea3cce0ea7e0fc80479b613d810f3
WITH sampled AS NOT MATERIALIZED (
  SELECT 1
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    '*' AS "everybody"
  FROM sampled
)
SELECT "everybody", COUNT(*) AS "n"
FROM recoded
GROUP BY "everybody"
HAVING COUNT(*) >= 5
ORDER BY "everybody" NULLS LAST
