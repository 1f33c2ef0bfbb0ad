-- policy: golden
-- digest: sha256:6534844a36b1fc6084cb15116f00b415ea4f9a03dbb542ccf36ba666a12ac5a8
WITH sampled AS (
  SELECT "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE LOWER(TO_HEX(SHA256(TO_UTF8((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST("person" AS VARCHAR))))) < '400000000000000'
), counted AS (
  SELECT "zip", COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY "zip"
), recoded AS (
  SELECT
    CASE
      WHEN "zip" IS NULL THEN NULL
      WHEN "zip" IN ('10115') THEN 'Berlin'
      WHEN "zip" IN ('it''s') THEN NULL
      ELSE 'it''s 20%'
    END AS "zip",
    policy_engine_count
  FROM counted
)
SELECT "zip", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "zip"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "zip" NULLS LAST
