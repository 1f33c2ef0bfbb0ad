-- policy: golden
-- digest: sha256:19b0e8fb37e5ed5fce903e68351c2991a1f2956a72d53670fe0c3d792de8605e
WITH sampled AS (
  SELECT "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN ABS(toFloat64("income")) < 0.00000000001 THEN toDecimal64('0', 10)
      WHEN ABS(toFloat64("income")) < 10000000 THEN toInt64(CASE WHEN ABS(toFloat64("income")) < 10000000 THEN FLOOR(ABS(toFloat64("income")) / 0.0000000001) + CASE WHEN ABS(toFloat64("income")) / 0.0000000001 - FLOOR(ABS(toFloat64("income")) / 0.0000000001) >= 0.5 THEN 1 ELSE 0 END ELSE 0 END) * CASE WHEN toFloat64("income") < 0 THEN toDecimal64('-0.0000000001', 10) ELSE toDecimal64('0.0000000001', 10) END
    END AS "income"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "income", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "income"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "income" NULLS LAST
