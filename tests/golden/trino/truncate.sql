-- policy: golden
-- digest: sha256:d782f11dd09f3cfea17c36dc18bedd3bc60915af2b153cf48cabb1db76535c5e
WITH sampled AS (
  SELECT "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE LOWER(TO_HEX(SHA256(TO_UTF8((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST("person" AS VARCHAR))))) < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN "born" BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN CAST(DATE_TRUNC('year', "born") AS DATE) END AS "born",
    CASE WHEN "seen" BETWEEN CAST('0001-01-01 00:00:00' AS TIMESTAMP(6)) AND CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP(6)) THEN CAST(DATE_TRUNC('hour', "seen") AS TIMESTAMP(6)) END AS "seen"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "born", "seen", COUNT(*) AS "n"
FROM recoded
GROUP BY "born", "seen"
HAVING COUNT(*) >= 5
ORDER BY "born" NULLS LAST, "seen" NULLS LAST
