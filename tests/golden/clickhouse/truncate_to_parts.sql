-- policy: golden
-- digest: sha256:93149f503e6d6616097873928d18de1b0c9e6b49ad2004f3045ef22eb311c9dc
WITH sampled AS (
  SELECT "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN "born" BETWEEN toDate32('0001-01-01') AND toDate32('9999-12-31') THEN makeDate32(toYear("born"), toMonth("born"), 1) END AS "born",
    CASE WHEN "seen" BETWEEN toDateTime64('0001-01-01 00:00:00', 6, 'UTC') AND toDateTime64('9999-12-31 23:59:59.999999', 6, 'UTC') THEN toDateTime64(makeDate32(toYear(toDate32("seen", 'UTC')), toQuarter(toDate32("seen", 'UTC')) * 3 - 2, 1), 6, 'UTC') END AS "seen"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "born", "seen", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "born", "seen"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "born" NULLS LAST, "seen" NULLS LAST
