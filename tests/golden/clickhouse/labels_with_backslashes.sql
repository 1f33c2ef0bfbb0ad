-- policy: golden
-- digest: sha256:acbd7dfd08ad58fa60869df171736d91e05bd2b03dd8e7213385dd7ca878b82a
WITH sampled AS (
  SELECT "age",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), counted AS (
  SELECT "age", toInt64(COUNT(*)) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "age"
), recoded AS (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN 'a\\b'
      ELSE 'c'
    END AS "age",
    policy_engine_count
  FROM counted
)
SELECT "age", toInt64(SUM(policy_engine_count)) AS "n"
FROM recoded
GROUP BY "age"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "age" NULLS LAST
