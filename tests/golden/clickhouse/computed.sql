-- policy: golden
-- digest: sha256:8baa186c9643f95fb5b7a9be033b8262b20cbb0e31cbb7d32ae6b00bfc2310d8
WITH own AS (
  SELECT "age", "born", "seen", "moved", "person"

  FROM "main"."people"
), "policy_engine_joined" AS (
  SELECT "born" AS "policy_engine_since_1", toDate32("seen", 'UTC') AS "policy_engine_until_1", "born" AS "policy_engine_since_2", toDate32(toTimeZone("moved", 'UTC'), 'UTC') AS "policy_engine_until_2", "person", "age"

  FROM own
), "policy_engine_computed" AS (
  SELECT "person", "age", CASE
      WHEN "policy_engine_since_1" >= toDate32('0001-01-01') AND "policy_engine_since_1" <= "policy_engine_until_1" AND "policy_engine_until_1" <= toDate32('9999-12-31') THEN intDiv(toInt64((EXTRACT(YEAR FROM "policy_engine_until_1") - EXTRACT(YEAR FROM "policy_engine_since_1")) * 1200 + (EXTRACT(MONTH FROM "policy_engine_until_1") - EXTRACT(MONTH FROM "policy_engine_since_1")) * 100 + EXTRACT(DAY FROM "policy_engine_until_1") - EXTRACT(DAY FROM "policy_engine_since_1")), 1200)
    END AS "years", CASE
      WHEN "policy_engine_since_2" >= toDate32('0001-01-01') AND "policy_engine_since_2" <= "policy_engine_until_2" AND "policy_engine_until_2" <= toDate32('9999-12-31') THEN toInt64(dateDiff('day', "policy_engine_since_2", "policy_engine_until_2"))
    END AS "days"
  FROM "policy_engine_joined"
), sampled AS (
  SELECT "years", "days",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "years" NULLS LAST, "days" NULLS LAST) AS policy_engine_rank
  FROM "policy_engine_computed"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN "years" IS NULL THEN NULL
      WHEN "years" < 18 THEN '<18'
      ELSE '>=18'
    END AS "years",
    CASE
      WHEN ABS(toFloat64("days")) < 1 THEN 0
      WHEN ABS(toFloat64("days")) < 1000000000000000000 THEN toInt64(CASE WHEN ABS(toFloat64("days")) < 1000000000000000000 THEN FLOOR(ABS(toFloat64("days")) / 10) + CASE WHEN ABS(toFloat64("days")) / 10 - FLOOR(ABS(toFloat64("days")) / 10) >= 0.5 THEN 1 ELSE 0 END ELSE 0 END) * CASE WHEN toFloat64("days") < 0 THEN -10 ELSE 10 END
    END AS "days"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "years", "days", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "years", "days"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "years" NULLS LAST, "days" NULLS LAST
