-- policy: golden
-- digest: sha256:171c5f058aba319b6e3129af16500bf7eb367dda53d4577c91ab38f0939e697a
WITH sampled AS (
  SELECT 1,
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE LOWER(TO_HEX(SHA256(TO_UTF8((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST("person" AS VARCHAR))))) < '400000000000000'
), recoded AS (
  SELECT
    '*' AS "everybody"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "everybody", COUNT(*) AS "n"
FROM recoded
GROUP BY "everybody"
HAVING COUNT(*) >= 5
ORDER BY "everybody" NULLS LAST
