-- policy: golden
-- digest: sha256:9e1f4bf9e5a5f67caf7cf16d34bb7614726647930b8fb60f54f2266d787c9b3a
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "income", "weight"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE)
  WHERE file_row_number IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN ABS(CAST("age" AS DOUBLE)) < 1 THEN 0
      WHEN ABS(CAST("age" AS DOUBLE)) < 1000000000000000000 THEN CAST(FLOOR(ABS(CAST("age" AS DOUBLE)) / 10) + CASE WHEN ABS(CAST("age" AS DOUBLE)) / 10 - FLOOR(ABS(CAST("age" AS DOUBLE)) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("age" AS DOUBLE) < 0 THEN -10 ELSE 10 END
    END AS "age",
    CAST(CASE
      WHEN ABS(CAST("income" AS DOUBLE)) < 0.025 THEN 0
      WHEN ABS(CAST("income" AS DOUBLE)) < 1000000000000000 THEN CAST(FLOOR(ABS(CAST("income" AS DOUBLE)) / 0.25) + CASE WHEN ABS(CAST("income" AS DOUBLE)) / 0.25 - FLOOR(ABS(CAST("income" AS DOUBLE)) / 0.25) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE) < 0 THEN -0.25 ELSE 0.25 END
    END AS DECIMAL(18, 2)) AS "income",
    CAST(CASE
      WHEN ABS(CAST("weight" AS DOUBLE)) < 0.5 THEN 0
      WHEN ABS(CAST("weight" AS DOUBLE)) < 100000000000000000 THEN CAST(FLOOR(ABS(CAST("weight" AS DOUBLE)) / 5) + CASE WHEN ABS(CAST("weight" AS DOUBLE)) / 5 - FLOOR(ABS(CAST("weight" AS DOUBLE)) / 5) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("weight" AS DOUBLE) < 0 THEN -5 ELSE 5 END
    END AS DECIMAL(18, 0)) AS "weight"
  FROM sampled
)
SELECT "age", "income", "weight", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "income", "weight"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "income" NULLS LAST, "weight" NULLS LAST
