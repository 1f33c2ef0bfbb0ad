-- policy: adult_public
-- digest: sha256:8f0e4b32f9467136a51ff2df3235686d14949f01817582b78f46d12488e58aea
WITH "sampled" AS NOT MATERIALIZED (
  SELECT
    "age",
    "education",
    "sex",
    "race",
    "income"
  FROM READ_PARQUET('data/adult.parquet') TABLESAMPLE BERNOULLI (10 PERCENT)
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
      WHEN "education" IS NULL
      THEN NULL
      WHEN "education" IN ('10th', '11th', '12th', '1st-4th', '5th-6th', '7th-8th', '9th', 'Preschool')
      THEN 'no diploma'
      WHEN "education" IN ('Assoc-acdm', 'Assoc-voc', 'Some-college')
      THEN 'some college'
      WHEN "education" IN ('Bachelors', 'Doctorate', 'Masters', 'Prof-school')
      THEN 'degree'
      WHEN "education" IN ('HS-grad')
      THEN 'high school'
      ELSE 'unknown'
    END AS "education",
    "sex" AS "sex",
    CASE
      WHEN "race" IS NULL
      THEN NULL
      WHEN "race" IN ('Black')
      THEN 'Black'
      WHEN "race" IN ('White')
      THEN 'White'
      ELSE 'other'
    END AS "race",
    "income" AS "income"
  FROM "sampled"
)
SELECT
  "age",
  "education",
  "sex",
  "race",
  "income",
  COUNT(*) AS "n"
FROM "recoded"
GROUP BY
  "age",
  "education",
  "sex",
  "race",
  "income"
HAVING
  COUNT(*) >= 20
ORDER BY
  "age" ASC,
  "education" ASC,
  "sex" ASC,
  "race" ASC,
  "income" ASC
