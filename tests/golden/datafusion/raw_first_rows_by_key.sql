-- policy: golden
-- digest: sha256:0cc23c801b4197e9bcb64a62f2e63a28b2132df0536ce3815f5d53113070cc63
WITH sampled AS (
  SELECT "age", "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE ENCODE(SHA256($salt || ':u:' || CAST("person" AS VARCHAR)), 'hex') < '400000000000000'
), counted AS (
  SELECT "age", "born", COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "age", "born"
), recoded AS (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    CASE
      WHEN "born" IS NULL THEN NULL
      WHEN "born" < CAST('1970-01-01' AS DATE) THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS "born",
    policy_engine_count
  FROM counted
), released AS (
  SELECT "age", "born", SUM(policy_engine_count) AS policy_engine_n
  FROM recoded
  GROUP BY "age", "born"
  HAVING SUM(policy_engine_count) >= 5
), repeated AS (
  SELECT "age", "born", UNNEST(RANGE(0, policy_engine_n)) AS policy_engine_copy
  FROM released
)
SELECT "age", "born"
FROM repeated
ORDER BY "age" NULLS LAST, "born" NULLS LAST
