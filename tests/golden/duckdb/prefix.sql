-- policy: golden
-- digest: sha256:43a2a699e51e2708bca5e7131aff229c33e82a8cdcc7a75568eae8fae1edb2cc
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip", "name"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    LEFT("zip", 3) AS "zip",
    LEFT("name", 1) AS "name"
  FROM sampled
)
SELECT "zip", "name", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip", "name"
HAVING COUNT(*) >= 5
ORDER BY "zip" NULLS LAST, "name" NULLS LAST
