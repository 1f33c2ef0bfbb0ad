-- policy: golden
-- digest: sha256:105090d7820ceca64634007ca1386e45a950502c0e221b5afecdf149b2050a75
WITH sampled AS (
  SELECT "seen", "moved",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "seen" NULLS LAST, "moved" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE ENCODE(SHA256($salt || ':u:' || CAST("person" AS VARCHAR)), 'hex') < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN "seen" BETWEEN ARROW_CAST('0001-01-01 00:00:00', 'Timestamp(Microsecond, None)') AND ARROW_CAST('9999-12-31 23:59:59.999999', 'Timestamp(Microsecond, None)') THEN ARROW_CAST(CAST("seen" AS DATE), 'Timestamp(Microsecond, None)') END AS "seen",
    CASE WHEN ARROW_CAST("moved", 'Timestamp(Microsecond, None)') BETWEEN ARROW_CAST('0001-01-01 00:00:00', 'Timestamp(Microsecond, None)') AND ARROW_CAST('9999-12-31 23:59:59.999999', 'Timestamp(Microsecond, None)') THEN ARROW_CAST(MAKE_DATE(EXTRACT(YEAR FROM CAST(ARROW_CAST("moved", 'Timestamp(Microsecond, None)') AS DATE)), 1, 1), 'Timestamp(Microsecond, None)') END AS "moved"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "seen", "moved", COUNT(*) AS "n"
FROM recoded
GROUP BY "seen", "moved"
HAVING COUNT(*) >= 5
ORDER BY "seen" NULLS LAST, "moved" NULLS LAST
