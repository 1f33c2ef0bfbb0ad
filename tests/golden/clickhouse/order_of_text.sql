-- policy: golden
-- digest: sha256:134d1b70ebdfd92de289c6cd2f83e4dba27755f2c2fc2e55040f3cab705c1347
WITH sampled AS (
  SELECT "age", "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "zip" DESC NULLS LAST, "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    CASE
      WHEN "born" IS NULL THEN NULL
      WHEN "born" < toDate32('1970-01-01') THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS "born"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", "born", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "age", "born"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "age" NULLS LAST, "born" NULLS LAST
