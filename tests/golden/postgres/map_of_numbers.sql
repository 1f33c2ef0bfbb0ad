-- policy: golden
-- digest: sha256:3a08c13201ba43f2cc7f6df8f1d985c0ad754ed46afcd9d2d47d4ad0454c5a47
WITH sampled AS NOT MATERIALIZED (
  SELECT "age",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), counted AS NOT MATERIALIZED (
  SELECT "age", COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "age"
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" IN (-1) THEN NULL
      WHEN "age" IN (17) THEN 'young'
      ELSE 'old'
    END AS "age",
    policy_engine_count
  FROM counted
)
SELECT "age", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "age"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "age" COLLATE "C" NULLS LAST
