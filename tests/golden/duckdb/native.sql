-- policy: golden
-- digest: sha256:907c63dac24c3e1d5297528659ed22da8b23d58a5e84afd520d3b6c98cfc58de
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM "db"."main"."people" TABLESAMPLE BERNOULLI (25 PERCENT)
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip"
  FROM sampled
)
SELECT "age", "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "zip"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
