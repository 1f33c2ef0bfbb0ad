-- policy: golden
-- digest: sha256:7e584e32fcea2bb336ff32e9872ef80edec82b9f1f0de1c46b6f3f88c6133ea3
WITH sampled AS (
  SELECT "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN "born" BETWEEN toDate32('0001-01-01') AND toDate32('9999-12-31') THEN formatDateTime("born", '%G-W%V') END AS "born",
    CASE WHEN "seen" BETWEEN toDateTime64('0001-01-01 00:00:00', 6, 'UTC') AND toDateTime64('9999-12-31 23:59:59.999999', 6, 'UTC') THEN formatDateTime(toDate32("seen", 'UTC'), '%G-W%V') END AS "seen"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "born", "seen", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "born", "seen"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "born" NULLS LAST, "seen" NULLS LAST
