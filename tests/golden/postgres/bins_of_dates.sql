-- policy: golden
-- digest: sha256:6d917072eba2fa0e97593b45196a00b82520d265f44848b17e516e469256ba71
WITH sampled AS NOT MATERIALIZED (
  SELECT "born", "moved",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "moved" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "born" IS NULL THEN NULL
      WHEN "born" < CAST('1970-01-01' AS DATE) THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS "born",
    CASE
      WHEN "moved" AT TIME ZONE 'UTC' IS NULL THEN NULL
      WHEN "moved" AT TIME ZONE 'UTC' < CAST('2000-01-01 00:00:00' AS TIMESTAMP) THEN '<2000-01-01'
      ELSE '>=2000-01-01'
    END AS "moved"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "born", "moved", COUNT(*) AS "n"
FROM recoded
GROUP BY "born", "moved"
HAVING COUNT(*) >= 5
ORDER BY "born" COLLATE "C" NULLS LAST, "moved" COLLATE "C" NULLS LAST
