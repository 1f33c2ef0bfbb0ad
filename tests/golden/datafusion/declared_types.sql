-- policy: golden
-- digest: sha256:d6d5a25b48808eb4d23c3aa42f3b9e9a3cfa1f8325a9425712f091c53069a811
WITH sampled AS (
  SELECT "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE ENCODE(SHA256($salt || ':u:' || CAST("person" AS VARCHAR)), 'hex') < '400000000000000'
), counted AS (
  SELECT "zip", COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "zip"
), typed AS (
  SELECT
    CAST(CASE WHEN REGEXP_LIKE("zip", '^([+-]?[0-9]{1,18})$') THEN "zip" END AS BIGINT) AS "zip",
    policy_engine_count
  FROM counted
), recoded AS (
  SELECT
    CASE
      WHEN "zip" IS NULL THEN NULL
      WHEN "zip" < 50000 THEN '<50000'
      ELSE '>=50000'
    END AS "zip",
    policy_engine_count
  FROM typed
)
SELECT "zip", SUM(policy_engine_count) AS "n"
FROM recoded
GROUP BY "zip"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "zip" NULLS LAST
