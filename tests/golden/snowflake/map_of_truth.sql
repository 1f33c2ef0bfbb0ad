-- policy: golden
-- digest: sha256:b4dd7892eb7de09ae5c57f296d844d8e80f2b2b5ccaacc648caf8b2ba8e41f49
WITH sampled AS (
  SELECT "married",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "married" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2($policy_engine_salt || ':u:' || CAST("person" AS VARCHAR), 256) < '400000000000000'
), counted AS (
  SELECT "married", COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "married"
), recoded AS (
  SELECT
    CASE
      WHEN "married" IS NULL THEN NULL
      WHEN "married" IN (FALSE) THEN 'no'
      WHEN "married" IN (TRUE) THEN 'yes'
      ELSE 'none'
    END AS "married",
    policy_engine_count
  FROM counted
)
SELECT "married", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "married"
HAVING SUM(policy_engine_count) >= 5
ORDER BY COLLATE("married", '') NULLS LAST
