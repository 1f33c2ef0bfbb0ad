-- policy: golden
-- digest: sha256:e788028db8a8ee8e5e670cffacdd92654a0f740e7a7c3ed01342a8433156f4d6
WITH sampled AS (
  SELECT "name",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, RTRIM(COLLATE(CAST("name" AS VARCHAR(MAX)), 'case_sensitive')) NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST("person" AS VARCHAR(MAX)), 256) < '400000000000000'
), recoded AS (
  SELECT
    RTRIM(COLLATE(CAST("name" AS VARCHAR(MAX)), 'case_sensitive')) AS "name"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "name", COUNT(*) AS "n"
FROM recoded
GROUP BY "name"
HAVING COUNT(*) >= 5
ORDER BY "name" NULLS LAST
