-- policy: golden
-- digest: sha256:ee75c12b839ea116e6f2125e8129ff7b1f774bf7ca5cbac797269937a2193de9
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
