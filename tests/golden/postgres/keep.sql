-- policy: golden
-- digest: sha256:6df64d7e5ea1f53d97eaa59700dd0540dc2ece65bd88ddee0a9a83dd8161db50
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip", "sex", "married", "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, CAST("zip" AS TEXT) COLLATE "C" NULLS LAST, "sex" NULLS LAST, "married" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    CAST("zip" AS TEXT) COLLATE "C" AS "zip",
    CAST("sex" AS TEXT) AS "sex",
    "married" AS "married",
    "born" AS "born"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "zip", "sex", "married", "born", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip", "sex", "married", "born"
HAVING COUNT(*) >= 5
ORDER BY "zip" COLLATE "C" NULLS LAST, "sex" COLLATE "C" NULLS LAST, "married" NULLS LAST, "born" NULLS LAST
