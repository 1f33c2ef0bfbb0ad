-- policy: golden
-- digest: sha256:13cce24a5f8deac5cb55738acf22eb538d78cba32e7fc113c88633ac41f6bca3
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
