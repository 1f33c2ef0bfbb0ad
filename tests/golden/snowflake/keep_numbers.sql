-- policy: golden
-- digest: sha256:05b8e13e4b435e345213a26cd6507942f1a3425573ec9813f6a27e14edc1a51b
WITH sampled AS (
  SELECT "age", "income", "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "income" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2($policy_engine_salt || ':u:' || CAST("person" AS VARCHAR), 256) < '400000000000000'
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
