-- policy: golden
-- digest: sha256:e22ca21af95bd49039e44dc7762282879d96c45ca0f7cb966b6cbf33644efb87
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
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
    END AS "income"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", "income", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "income"
HAVING COUNT(*) >= 5
ORDER BY "age" COLLATE "C" NULLS LAST, "income" COLLATE "C" NULLS LAST
