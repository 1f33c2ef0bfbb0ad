-- policy: golden
-- digest: sha256:6b8e19463817283cc0d5d8401262a13e1c31ea3f7727b9a4fee1375cec29e86b
WITH sampled AS (
  SELECT "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN ABS(toFloat64("income")) < 1 THEN toDecimal64('0', 0)
      WHEN ABS(toFloat64("income")) < 100000000000000000 THEN toInt64(CASE WHEN ABS(toFloat64("income")) < 100000000000000000 THEN FLOOR(ABS(toFloat64("income")) / 10) + CASE WHEN ABS(toFloat64("income")) / 10 - FLOOR(ABS(toFloat64("income")) / 10) >= 0.5 THEN 1 ELSE 0 END ELSE 0 END) * CASE WHEN toFloat64("income") < 0 THEN toDecimal64('-10', 0) ELSE toDecimal64('10', 0) END
    END AS "income"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "income", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "income"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "income" NULLS LAST
