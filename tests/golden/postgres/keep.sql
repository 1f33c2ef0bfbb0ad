-- policy: golden
-- digest: sha256:493b4fe8020dd5d2f5390872278c137c58272d5e35f9d05c94bc662837dc722f
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
