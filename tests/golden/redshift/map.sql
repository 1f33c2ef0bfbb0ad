-- policy: golden
-- digest: sha256:6534844a36b1fc6084cb15116f00b415ea4f9a03dbb542ccf36ba666a12ac5a8
WITH sampled AS (
  SELECT "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, RTRIM(COLLATE(CAST("zip" AS VARCHAR(MAX)), 'case_sensitive')) NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST("person" AS VARCHAR(MAX)), 256) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN RTRIM(COLLATE(CAST("zip" AS VARCHAR(MAX)), 'case_sensitive')) IS NULL THEN NULL
      WHEN RTRIM(COLLATE(CAST("zip" AS VARCHAR(MAX)), 'case_sensitive')) IN ('10115') THEN 'Berlin'
      WHEN RTRIM(COLLATE(CAST("zip" AS VARCHAR(MAX)), 'case_sensitive')) IN ('it''s') THEN NULL
      ELSE 'it''s 20%'
    END AS "zip"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip"
HAVING COUNT(*) >= 5
ORDER BY "zip" NULLS LAST
