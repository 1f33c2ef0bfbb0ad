CREATE TABLE "db"."main"."out" AS
-- policy: golden
-- digest: sha256:8f25d4431ba1d4deb8c8e3660590d6eb01e30dccd8e4d7715635951e2bc180b4
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM "db"."main"."people"
  WHERE rowid IN (SELECT unit FROM "policy_engine_sample_400000000000000")
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
