-- policy: golden
-- digest: sha256:e22ca21af95bd49039e44dc7762282879d96c45ca0f7cb966b6cbf33644efb87
WITH sampled AS (
  SELECT "age", "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2($policy_engine_salt || ':u:' || CAST("person" AS VARCHAR), 256) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      WHEN "age" < 65 THEN '[18,65)'
      ELSE '>=65'
    END AS "age",
    CASE
      WHEN "income" IS NULL THEN NULL
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
ORDER BY COLLATE("age", '') NULLS LAST, COLLATE("income", '') NULLS LAST
