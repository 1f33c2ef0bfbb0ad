-- policy: golden
-- digest: sha256:2d17be431df078066089bc53e376bcc4903854eeb61e29df8429a5000388100b
WITH sampled AS NOT MATERIALIZED (
  SELECT "name"
  FROM "db"."main"."people" JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = rowid >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(rowid % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    "name" COLLATE "binary" AS "name"
  FROM sampled
)
SELECT "name", COUNT(*) AS "n"
FROM recoded
GROUP BY "name"
HAVING COUNT(*) >= 5
ORDER BY "name" NULLS LAST
