-- policy: golden
-- digest: sha256:be6189534ee702f3508536e4b9123da06fbfb4a8fa065a7677792395368a8de1
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "income", "weight"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" BETWEEN 0 AND 1000000000000000 THEN 10 * ((2 * CAST("age" AS BIGINT) + 10) // (2 * 10))
      WHEN "age" BETWEEN -1000000000000000 AND 0 THEN -10 * ((10 - 2 * CAST("age" AS BIGINT)) // (2 * 10))
      ELSE CASE
      WHEN ABS(CAST("age" AS DOUBLE)) < 1 THEN 0
      WHEN ABS(CAST("age" AS DOUBLE)) < 1000000000000000000 THEN CAST(ROUND(ABS(CAST("age" AS DOUBLE)) / 10) AS BIGINT) * CASE WHEN CAST("age" AS DOUBLE) < 0 THEN -10 ELSE 10 END
    END
    END AS "age",
    CAST(CASE
      WHEN ABS(CAST("income" AS DOUBLE)) < 0.025 THEN 0
      WHEN ABS(CAST("income" AS DOUBLE)) < 1000000000000000 THEN CAST(ROUND(ABS(CAST("income" AS DOUBLE)) / 0.25) AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE) < 0 THEN -0.25 ELSE 0.25 END
    END AS DECIMAL(18, 2)) AS "income",
    CAST(CASE
      WHEN ABS(CAST("weight" AS DOUBLE)) < 0.5 THEN 0
      WHEN ABS(CAST("weight" AS DOUBLE)) < 100000000000000000 THEN CAST(ROUND(ABS(CAST("weight" AS DOUBLE)) / 5) AS BIGINT) * CASE WHEN CAST("weight" AS DOUBLE) < 0 THEN -5 ELSE 5 END
    END AS DECIMAL(18, 0)) AS "weight"
  FROM sampled
)
SELECT "age", "income", "weight", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "income", "weight"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "income" NULLS LAST, "weight" NULLS LAST
