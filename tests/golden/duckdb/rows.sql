-- policy: golden
-- digest: sha256:f4a6ff5ec92bb4b0cd86eec0eebb75069946e5094807c2fc84f9df5b5065d7cd
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip"
  FROM sampled
), released AS NOT MATERIALIZED (
  SELECT "age", "zip", COUNT(*) AS policy_engine_n
  FROM recoded
  GROUP BY "age", "zip"
  HAVING COUNT(*) >= 5
), repeated AS NOT MATERIALIZED (
  SELECT "age", "zip", UNNEST(RANGE(policy_engine_n)) AS policy_engine_copy
  FROM released
)
SELECT "age", "zip"
FROM repeated
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
