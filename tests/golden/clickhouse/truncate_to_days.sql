-- policy: golden
-- digest: sha256:105090d7820ceca64634007ca1386e45a950502c0e221b5afecdf149b2050a75
WITH sampled AS (
  SELECT "seen", "moved",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "seen" NULLS LAST, "moved" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN "seen" BETWEEN toDateTime64('0001-01-01 00:00:00', 6, 'UTC') AND toDateTime64('9999-12-31 23:59:59.999999', 6, 'UTC') THEN toDateTime64(toDate32("seen", 'UTC'), 6, 'UTC') END AS "seen",
    CASE WHEN toTimeZone("moved", 'UTC') BETWEEN toDateTime64('0001-01-01 00:00:00', 6, 'UTC') AND toDateTime64('9999-12-31 23:59:59.999999', 6, 'UTC') THEN toDateTime64(makeDate32(toYear(toDate32(toTimeZone("moved", 'UTC'), 'UTC')), 1, 1), 6, 'UTC') END AS "moved"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "seen", "moved", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "seen", "moved"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "seen" NULLS LAST, "moved" NULLS LAST
