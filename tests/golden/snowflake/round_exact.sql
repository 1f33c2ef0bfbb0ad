-- policy: golden
-- digest: sha256:26c4f5a8aecfea04f60dfecd8f2523e1488bc82d4a7a9d376482cb2e15d651d2
WITH sampled AS (
  SELECT "age", "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2($policy_engine_salt || ':u:' || CAST("person" AS VARCHAR), 256) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN ABS(CAST("age" AS DOUBLE)) < 1 THEN 0
      WHEN ABS(CAST("age" AS DOUBLE)) < 1000000000000000000 THEN CAST(FLOOR(ABS(CAST("age" AS DOUBLE)) / 10) + CASE WHEN ABS(CAST("age" AS DOUBLE)) / 10 - FLOOR(ABS(CAST("age" AS DOUBLE)) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("age" AS DOUBLE) < 0 THEN -10 ELSE 10 END
    END AS "age",
    CAST(CASE
      WHEN ABS(CAST("income" AS DOUBLE)) < 0.025 THEN 0
      WHEN ABS(CAST("income" AS DOUBLE)) < 1000000000000000 THEN CAST(FLOOR(ABS(CAST("income" AS DOUBLE)) / 0.25) + CASE WHEN ABS(CAST("income" AS DOUBLE)) / 0.25 - FLOOR(ABS(CAST("income" AS DOUBLE)) / 0.25) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE) < 0 THEN -0.25 ELSE 0.25 END
    END AS DECIMAL(18, 2)) AS "income"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", "income", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "income"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "income" NULLS LAST
