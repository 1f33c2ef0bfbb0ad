-- policy: hospital_visits
-- digest: sha256:ce7b5ba6e819468d11455206f6a0c671d9ea04071f9a6cec9754bdcdbdb343f1
WITH "sampled" AS NOT MATERIALIZED (
  SELECT
    "department",
    "visit_date",
    "age",
    "sex",
    ROW_NUMBER() OVER (
      PARTITION BY "person_id"
      ORDER BY "visit_date" DESC, "visit_id" DESC, "department" ASC, "age" ASC, "sex" ASC
    ) AS "policy_engine_rank"
  FROM READ_PARQUET('data/visits.parquet')
  WHERE
    "person_id" IN (
      SELECT
        "unit"
      FROM policy_engine_sample_333333333333333
    )
), "counted" AS NOT MATERIALIZED (
  SELECT
    "department",
    "visit_date",
    "age",
    "sex",
    COUNT(*) AS "policy_engine_count"
  FROM "sampled"
  WHERE
    "policy_engine_rank" = 1
  GROUP BY
    "department",
    "visit_date",
    "age",
    "sex"
), "recoded" AS NOT MATERIALIZED (
  SELECT
    "department" AS "department",
    CASE
      WHEN "visit_date" BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)
      THEN CAST(DATE_TRUNC('QUARTER', "visit_date") AS DATE)
    END AS "visit_date",
    CASE
      WHEN "age" IS NULL
      THEN NULL
      WHEN "age" < 16
      THEN '<16'
      WHEN "age" < 40
      THEN '[16,40)'
      WHEN "age" < 65
      THEN '[40,65)'
      ELSE '>=65'
    END AS "age",
    "sex" AS "sex",
    "policy_engine_count"
  FROM "counted"
)
SELECT
  "department",
  "visit_date",
  "age",
  "sex",
  CAST(SUM("policy_engine_count") AS BIGINT) AS "n"
FROM "recoded"
GROUP BY
  "department",
  "visit_date",
  "age",
  "sex"
HAVING
  SUM("policy_engine_count") >= 20
ORDER BY
  "department" ASC,
  "visit_date" ASC,
  "age" ASC,
  "sex" ASC
