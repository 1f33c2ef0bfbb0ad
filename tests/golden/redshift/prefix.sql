-- policy: golden
-- digest: sha256:e92684e56cd1b743be52d6b5caf0b3e5279f078105f961e1ee397ce497629335
WITH sampled AS (
  SELECT "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, RTRIM(COLLATE(CAST("zip" AS VARCHAR(MAX)), 'case_sensitive')) NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST("person" AS VARCHAR(MAX)), 256) < '400000000000000'
), recoded AS (
  SELECT
    RTRIM(LEFT(RTRIM(COLLATE(CAST("zip" AS VARCHAR(MAX)), 'case_sensitive')), 3)) AS "zip"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip"
HAVING COUNT(*) >= 5
ORDER BY "zip" NULLS LAST
