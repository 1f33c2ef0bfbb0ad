-- policy: golden
-- digest: sha256:2ed1cdf81bc0c24ac7b945956311d3c6e99a969eb4bd1b2e9226132894282405
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "income", "weight",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST, "weight" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      WHEN "age" < 65 THEN '[18,65)'
      ELSE '>=65'
    END AS "age",
    CASE
      WHEN "income" IS NULL OR "income" = CAST('NaN' AS DECIMAL) THEN NULL
      WHEN "income" < CAST(0.5 AS DECIMAL(38, 2)) THEN '<0.5'
      ELSE '>=0.5'
    END AS "income",
    CASE
      WHEN "weight" IS NULL THEN NULL
      WHEN CAST("weight" AS DOUBLE PRECISION) = CAST('NaN' AS DOUBLE PRECISION) THEN NULL
      WHEN CAST("weight" AS DOUBLE PRECISION) < CAST(-1 AS DOUBLE PRECISION) THEN '<-1'
      WHEN CAST("weight" AS DOUBLE PRECISION) < CAST(70 AS DOUBLE PRECISION) THEN '[-1,70)'
      ELSE '>=70'
    END AS "weight"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", "income", "weight", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "income", "weight"
HAVING COUNT(*) >= 5
ORDER BY "age" COLLATE "C" NULLS LAST, "income" COLLATE "C" NULLS LAST, "weight" COLLATE "C" NULLS LAST
