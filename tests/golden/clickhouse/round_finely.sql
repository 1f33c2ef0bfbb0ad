-- policy: golden
-- digest: sha256:826bc6a906ca4010d2543894a29f4e5674e28b391685e86c4aa385708e0e5978
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
