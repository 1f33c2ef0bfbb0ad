-- policy: golden
-- digest: sha256:813c8decfb556df9a1734d450e69ce32fede7d1fc310b71b22de7a76295b9c3d
WITH sampled AS (
  SELECT "age",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2($policy_engine_salt || ':u:' || CAST("person" AS VARCHAR), 256) < '400000000000000'
), recoded AS (
  SELECT
    "age" AS "age"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", COUNT(*) AS "order by"
FROM recoded
GROUP BY "age"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST
