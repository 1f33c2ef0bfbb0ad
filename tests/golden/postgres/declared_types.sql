-- policy: golden
-- digest: sha256:d6d5a25b48808eb4d23c3aa42f3b9e9a3cfa1f8325a9425712f091c53069a811
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, CAST("zip" AS TEXT) COLLATE "C" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), typed AS NOT MATERIALIZED (
  SELECT
    CAST(CASE WHEN REGEXP_LIKE(CAST("zip" AS TEXT) COLLATE "C", '^([+-]?[0-9]{1,18})$') THEN CAST("zip" AS TEXT) COLLATE "C" END AS BIGINT) AS "zip"
  FROM sampled
  WHERE policy_engine_rank = 1
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "zip" IS NULL THEN NULL
      WHEN "zip" < 50000 THEN '<50000'
      ELSE '>=50000'
    END AS "zip"
  FROM typed
)
SELECT "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip"
HAVING COUNT(*) >= 5
ORDER BY "zip" COLLATE "C" NULLS LAST
