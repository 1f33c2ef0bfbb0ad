-- policy: golden
-- digest: sha256:55633d51361527a993561319ef4f6021800b0682e0e34bd677e398d249a5cbec
WITH sampled AS (
  SELECT "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE ENCODE(SHA256($salt || ':u:' || CAST("person" AS VARCHAR)), 'hex') < '400000000000000'
), counted AS (
  SELECT "born", COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "born"
), recoded AS (
  SELECT
    CASE
      WHEN "born" IS NULL THEN NULL
      WHEN "born" IN (CAST('1970-01-01' AS DATE)) THEN 'epoch'
      ELSE 'other'
    END AS "born",
    policy_engine_count
  FROM counted
)
SELECT "born", SUM(policy_engine_count) AS "n"
FROM recoded
GROUP BY "born"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "born" NULLS LAST
