-- policy: golden
-- digest: sha256:fb1c328901ab94f3c06c7ba88211918ebe47bf3875f36cfa0c765a9880850682
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip", "sex", "married", "born"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    "zip" AS "zip",
    "sex" AS "sex",
    "married" AS "married",
    "born" AS "born"
  FROM sampled
)
SELECT "zip", "sex", "married", "born", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip", "sex", "married", "born"
HAVING COUNT(*) >= 5
ORDER BY "zip" NULLS LAST, "sex" NULLS LAST, "married" NULLS LAST, "born" NULLS LAST
