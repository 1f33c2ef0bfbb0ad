-- policy: golden
-- digest: sha256:a0a85eacf472fa299d977f320e2693aef00878594cb87d854d8c073b289d0701
WITH sampled AS (
  SELECT "age", "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN ABS(toFloat64("age")) < 1 THEN 0
      WHEN ABS(toFloat64("age")) < 1000000000000000000 THEN toInt64(CASE WHEN ABS(toFloat64("age")) < 1000000000000000000 THEN FLOOR(ABS(toFloat64("age")) / 10) + CASE WHEN ABS(toFloat64("age")) / 10 - FLOOR(ABS(toFloat64("age")) / 10) >= 0.5 THEN 1 ELSE 0 END ELSE 0 END) * CASE WHEN toFloat64("age") < 0 THEN -10 ELSE 10 END
    END AS "age",
    CASE
      WHEN ABS(toFloat64("income")) < 0.025 THEN toDecimal64('0', 2)
      WHEN ABS(toFloat64("income")) < 1000000000000000 THEN toInt64(CASE WHEN ABS(toFloat64("income")) < 1000000000000000 THEN FLOOR(ABS(toFloat64("income")) / 0.25) + CASE WHEN ABS(toFloat64("income")) / 0.25 - FLOOR(ABS(toFloat64("income")) / 0.25) >= 0.5 THEN 1 ELSE 0 END ELSE 0 END) * CASE WHEN toFloat64("income") < 0 THEN toDecimal64('-0.25', 2) ELSE toDecimal64('0.25', 2) END
    END AS "income"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", "income", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "age", "income"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "age" NULLS LAST, "income" NULLS LAST
