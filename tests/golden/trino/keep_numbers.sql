-- policy: golden
-- digest: sha256:38d81f5c6949c8ce8bd7fa4ae49b227194638e5f349ee3f99890bcfb4b1aa56a
WITH sampled AS (
  SELECT "age", "income", "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE LOWER(TO_HEX(SHA256(TO_UTF8((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST("person" AS VARCHAR))))) < '400000000000000'
), recoded AS (
  SELECT
    "age" AS "age",
    "income" AS "income",
    "born" AS "born",
    "seen" AS "seen"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", "income", "born", "seen", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "income", "born", "seen"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "income" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST
