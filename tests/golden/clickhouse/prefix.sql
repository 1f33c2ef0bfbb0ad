-- policy: golden
-- digest: sha256:e92684e56cd1b743be52d6b5caf0b3e5279f078105f961e1ee397ce497629335
WITH sampled AS (
  SELECT "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    leftUTF8("zip", 3) AS "zip"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "zip", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "zip"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "zip" NULLS LAST
