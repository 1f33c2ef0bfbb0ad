-- policy: golden
-- digest: sha256:5f4e7636462c12805fe30eda34a6f9785f203df262675591983dfe1158318133
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "income", "weight"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      WHEN "age" < 65 THEN '[18,65)'
      ELSE '>=65'
    END AS "age",
    CASE
      WHEN "income" IS NULL THEN NULL
      WHEN "income" < CAST(0.5 AS DECIMAL(38, 2)) THEN '<0.5'
      ELSE '>=0.5'
    END AS "income",
    CASE
      WHEN "weight" IS NULL THEN NULL
      WHEN ISNAN(CAST("weight" AS DOUBLE)) THEN NULL
      WHEN CAST("weight" AS DOUBLE) < CAST(-1 AS DOUBLE) THEN '<-1'
      WHEN CAST("weight" AS DOUBLE) < CAST(70 AS DOUBLE) THEN '[-1,70)'
      ELSE '>=70'
    END AS "weight"
  FROM sampled
)
SELECT "age", "income", "weight", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "income", "weight"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "income" NULLS LAST, "weight" NULLS LAST
