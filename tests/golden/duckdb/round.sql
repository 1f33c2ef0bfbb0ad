-- policy: golden
-- digest: sha256:9e1f4bf9e5a5f67caf7cf16d34bb7614726647930b8fb60f54f2266d787c9b3a
WITH "sampled" AS NOT MATERIALIZED (
  SELECT
    "age",
    "income",
    "weight"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE)
  WHERE
    "file_row_number" IN (
      SELECT
        "unit"
      FROM policy_engine_sample_400000000000000
    )
), "recoded" AS NOT MATERIALIZED (
  SELECT
    TRY_CAST(CASE
      WHEN ABS(CAST("age" AS DOUBLE)) < 1000000000000000000
      THEN CAST(ROUND(CAST("age" AS DOUBLE) / 10) AS BIGINT) * 10
    END AS BIGINT) AS "age",
    TRY_CAST(CASE
      WHEN ABS(CAST("income" AS DOUBLE)) < 1000000000000000
      THEN CAST(ROUND(CAST("income" AS DOUBLE) / 0.25) AS BIGINT) * 0.25
    END AS DECIMAL(18, 2)) AS "income",
    TRY_CAST(CASE
      WHEN ABS(CAST("weight" AS DOUBLE)) < 100000000000000000
      THEN CAST(ROUND(CAST("weight" AS DOUBLE) / 5) AS BIGINT) * 5
    END AS DECIMAL(18, 0)) AS "weight"
  FROM "sampled"
)
SELECT
  "age",
  "income",
  "weight",
  COUNT(*) AS "n"
FROM "recoded"
GROUP BY
  "age",
  "income",
  "weight"
HAVING
  COUNT(*) >= 5
ORDER BY
  "age" ASC,
  "income" ASC,
  "weight" ASC
