-- policy: golden
-- digest: sha256:02ef73d67bb6595769d00c722634df80f5c5ee7a381acafef56dd3d21933487a
WITH "sampled" AS NOT MATERIALIZED (
  SELECT
    "seen",
    "moved",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" ASC, "seen" ASC, "moved" ASC) AS "policy_engine_rank"
  FROM "main"."people"
  WHERE
    SHA256(
      CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')
    ) < DECODE('4000000000000000', 'hex')
), "recoded" AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "seen" BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)
      THEN DATE_TRUNC('DAY', CAST("seen" AS TIMESTAMP))
    END AS "seen",
    CASE
      WHEN "moved" AT TIME ZONE 'UTC' BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)
      THEN DATE_TRUNC('YEAR', CAST("moved" AT TIME ZONE 'UTC' AS TIMESTAMP))
    END AS "moved"
  FROM "sampled"
  WHERE
    "policy_engine_rank" = 1
)
SELECT
  "seen",
  "moved",
  COUNT(*) AS "n"
FROM "recoded"
GROUP BY
  "seen",
  "moved"
HAVING
  COUNT(*) >= 5
ORDER BY
  "seen" ASC,
  "moved" ASC
