-- policy: golden
-- digest: sha256:114d131e75a0be102b24fbba6cd1e0412b73f71012f075e0ee12efbebefa65a2
WITH sampled AS (
  SELECT "married",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "married" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE LOWER(TO_HEX(SHA256(TO_UTF8((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST("person" AS VARCHAR))))) < '400000000000000'
), counted AS (
  SELECT "married", COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "married"
), recoded AS (
  SELECT
    "married" AS "married",
    policy_engine_count
  FROM counted
)
SELECT "married", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "married"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "married" NULLS LAST
