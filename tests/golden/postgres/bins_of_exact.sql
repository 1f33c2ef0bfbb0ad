-- policy: golden
-- digest: sha256:88610ccc9c24320b754068d00dbb29da7b42c627d98521eeab9206f1e57730fe
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
