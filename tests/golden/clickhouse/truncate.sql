-- policy: golden
-- digest: sha256:d782f11dd09f3cfea17c36dc18bedd3bc60915af2b153cf48cabb1db76535c5e
WITH sampled AS (
  SELECT "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN "born" BETWEEN toDate32('0001-01-01') AND toDate32('9999-12-31') THEN makeDate32(toYear("born"), 1, 1) END AS "born",
    CASE WHEN "seen" BETWEEN toDateTime64('0001-01-01 00:00:00', 6, 'UTC') AND toDateTime64('9999-12-31 23:59:59.999999', 6, 'UTC') THEN addHours(toDateTime64(toDate32("seen", 'UTC'), 6, 'UTC'), toHour("seen", 'UTC')) END AS "seen"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "born", "seen", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "born", "seen"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "born" NULLS LAST, "seen" NULLS LAST
