-- policy: golden
-- digest: sha256:93149f503e6d6616097873928d18de1b0c9e6b49ad2004f3045ef22eb311c9dc
WITH sampled AS (
  SELECT "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE ENCODE(SHA256($salt || ':u:' || CAST("person" AS VARCHAR)), 'hex') < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN "born" BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN MAKE_DATE(EXTRACT(YEAR FROM "born"), EXTRACT(MONTH FROM "born"), 1) END AS "born",
    CASE WHEN "seen" BETWEEN ARROW_CAST('0001-01-01 00:00:00', 'Timestamp(Microsecond, None)') AND ARROW_CAST('9999-12-31 23:59:59.999999', 'Timestamp(Microsecond, None)') THEN ARROW_CAST(MAKE_DATE(EXTRACT(YEAR FROM CAST("seen" AS DATE)), EXTRACT(QUARTER FROM CAST("seen" AS DATE)) * 3 - 2, 1), 'Timestamp(Microsecond, None)') END AS "seen"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "born", "seen", COUNT(*) AS "n"
FROM recoded
GROUP BY "born", "seen"
HAVING COUNT(*) >= 5
ORDER BY "born" NULLS LAST, "seen" NULLS LAST
