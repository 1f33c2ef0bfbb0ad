-- policy: golden
-- digest: sha256:7845a2623064a0e31ab6f10bb2f98aa63828a5acf39dcc221e01a67b5064b517
WITH sampled AS (
  SELECT "age", "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '0cccccccccccccc'
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
