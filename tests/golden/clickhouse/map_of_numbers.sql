-- policy: golden
-- digest: sha256:3a08c13201ba43f2cc7f6df8f1d985c0ad754ed46afcd9d2d47d4ad0454c5a47
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
      WHEN "age" IN (-1) THEN NULL
      WHEN "age" IN (17) THEN 'young'
      ELSE 'old'
    END AS "age",
    policy_engine_count
  FROM counted
)
SELECT "age", toInt64(SUM(policy_engine_count)) AS "n"
FROM recoded
GROUP BY "age"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "age" NULLS LAST
