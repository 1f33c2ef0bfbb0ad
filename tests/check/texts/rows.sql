-- policy: adult_rows
-- digest: sha256:a738ebe7401789d56f53861ef47ea472ed1bfb985ecdb3a6939743d7f8396a41
WITH "sampled" AS NOT MATERIALIZED (
  SELECT
    "age",
    "marital_status",
    "sex",
    "hours_per_week",
    "income"
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
      WHEN "age" < 30
      THEN '<30'
      WHEN "age" < 45
      THEN '[30,45)'
      WHEN "age" < 60
      THEN '[45,60)'
      ELSE '>=60'
    END AS "age",
    CASE
      WHEN "marital_status" IS NULL
      THEN NULL
      WHEN "marital_status" IN ('Divorced', 'Separated', 'Widowed')
      THEN 'no longer married'
      WHEN "marital_status" IN ('Married-AF-spouse', 'Married-civ-spouse', 'Married-spouse-absent')
      THEN 'married'
      WHEN "marital_status" IN ('Never-married')
      THEN 'never married'
      ELSE 'unknown'
    END AS "marital_status",
    "sex" AS "sex",
    CASE
      WHEN "hours_per_week" IS NULL
      THEN NULL
      WHEN "hours_per_week" < 35
      THEN '<35'
      WHEN "hours_per_week" < 45
      THEN '[35,45)'
      ELSE '>=45'
    END AS "hours_per_week",
    "income" AS "income"
  FROM "sampled"
), "released" AS NOT MATERIALIZED (
  SELECT
    "age",
    "marital_status",
    "sex",
    "hours_per_week",
    "income",
    COUNT(*) AS "policy_engine_n"
  FROM "recoded"
  GROUP BY
    "age",
    "marital_status",
    "sex",
    "hours_per_week",
    "income"
  HAVING
    COUNT(*) >= 20
), "repeated" AS NOT MATERIALIZED (
  SELECT
    "age",
    "marital_status",
    "sex",
    "hours_per_week",
    "income",
    UNNEST(RANGE(0, "policy_engine_n")) AS "policy_engine_copy"
  FROM "released"
)
SELECT
  "age",
  "marital_status",
  "sex",
  "hours_per_week",
  "income"
FROM "repeated"
ORDER BY
  "age" ASC,
  "marital_status" ASC,
  "sex" ASC,
  "hours_per_week" ASC,
  "income" ASC
