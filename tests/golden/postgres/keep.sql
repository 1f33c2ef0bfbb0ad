-- policy: golden
-- digest: sha256:6df64d7e5ea1f53d97eaa59700dd0540dc2ece65bd88ddee0a9a83dd8161db50
WITH "sampled" AS NOT MATERIALIZED (
  SELECT
    "zip",
    "sex",
    "married",
    "born",
    ROW_NUMBER() OVER (
      PARTITION BY "person"
      ORDER BY "age" ASC, "zip" COLLATE "C" ASC, "sex" ASC, "married" ASC, "born" ASC
    ) AS "policy_engine_rank"
  FROM "main"."people"
  WHERE
    SHA256(
      CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')
    ) < DECODE('4000000000000000', 'hex')
), "recoded" AS NOT MATERIALIZED (
  SELECT
    "zip" AS "zip",
    CAST("sex" AS TEXT) AS "sex",
    "married" AS "married",
    "born" AS "born"
  FROM "sampled"
  WHERE
    "policy_engine_rank" = 1
)
SELECT
  "zip",
  "sex",
  "married",
  "born",
  COUNT(*) AS "n"
FROM "recoded"
GROUP BY
  "zip",
  "sex",
  "married",
  "born"
HAVING
  COUNT(*) >= 5
ORDER BY
  "zip" COLLATE "C" ASC,
  "sex" COLLATE "C" ASC,
  "married" ASC,
  "born" ASC
