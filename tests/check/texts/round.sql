-- policy: adult_auto
-- digest: sha256:e85de17d59b4e64e80b16abb076b34f233a7fe2d2f6a02beb8f57fe23d84f8f1
WITH "sampled" AS NOT MATERIALIZED (
  SELECT
    "age",
    "sex",
    "hours_per_week"
  FROM READ_PARQUET('../adult/data/adult.parquet', file_row_number = TRUE)
  WHERE
    "file_row_number" IN (
      SELECT
        "unit"
      FROM policy_engine_sample_199999999999999
    )
), "recoded" AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL
      THEN NULL
      WHEN "age" < 25
      THEN '<25'
      WHEN "age" < 35
      THEN '[25,35)'
      WHEN "age" < 45
      THEN '[35,45)'
      WHEN "age" < 55
      THEN '[45,55)'
      WHEN "age" < 65
      THEN '[55,65)'
      ELSE '>=65'
    END AS "age",
    "sex" AS "sex",
    TRY_CAST(CASE
      WHEN ABS(CAST("hours_per_week" AS DOUBLE)) < 1000000000000000000
      THEN CAST(ROUND(CAST("hours_per_week" AS DOUBLE) / 10) AS BIGINT) * 10
    END AS BIGINT) AS "hours_per_week"
  FROM "sampled"
)
SELECT
  "age",
  "sex",
  "hours_per_week",
  COUNT(*) AS "n"
FROM "recoded"
GROUP BY
  "age",
  "sex",
  "hours_per_week"
HAVING
  COUNT(*) >= 24
ORDER BY
  "age" ASC,
  "sex" ASC,
  "hours_per_week" ASC
