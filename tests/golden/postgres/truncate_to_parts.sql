-- policy: golden
-- digest: sha256:93149f503e6d6616097873928d18de1b0c9e6b49ad2004f3045ef22eb311c9dc
WITH sampled AS NOT MATERIALIZED (
  SELECT "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE WHEN "born" BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN CAST(DATE_TRUNC('month', CAST("born" AS TIMESTAMP)) AS DATE) END AS "born",
    CASE WHEN "seen" BETWEEN CAST('0001-01-01 00:00:00' AS TIMESTAMP) AND CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP) THEN CAST(DATE_TRUNC('quarter', "seen") AS TIMESTAMP) END AS "seen"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "born", "seen", COUNT(*) AS "n"
FROM recoded
GROUP BY "born", "seen"
HAVING COUNT(*) >= 5
ORDER BY "born" NULLS LAST, "seen" NULLS LAST
