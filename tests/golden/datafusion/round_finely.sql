-- policy: golden
-- digest: sha256:19b0e8fb37e5ed5fce903e68351c2991a1f2956a72d53670fe0c3d792de8605e
WITH sampled AS (
  SELECT "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE ENCODE(SHA256($salt || ':u:' || CAST("person" AS VARCHAR)), 'hex') < '400000000000000'
), recoded AS (
  SELECT
    TRY_CAST(CASE
      WHEN ABS(CAST("income" AS DOUBLE)) < 0.00000000001 THEN 0
      WHEN ABS(CAST("income" AS DOUBLE)) < 10000000 THEN TRY_CAST(FLOOR(ABS(CAST("income" AS DOUBLE)) / 0.0000000001) + CASE WHEN ABS(CAST("income" AS DOUBLE)) / 0.0000000001 - FLOOR(ABS(CAST("income" AS DOUBLE)) / 0.0000000001) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE) < 0 THEN CAST('-0.0000000001' AS DECIMAL(18, 10)) ELSE CAST('0.0000000001' AS DECIMAL(18, 10)) END
    END AS DECIMAL(18, 10)) AS "income"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "income", COUNT(*) AS "n"
FROM recoded
GROUP BY "income"
HAVING COUNT(*) >= 5
ORDER BY "income" NULLS LAST
