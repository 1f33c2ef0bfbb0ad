-- policy: golden
-- digest: sha256:2d0c3ff2afbc6909cf5afc65f71ec2aa92216e6c0cc6798bd298510fcbaa2589
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "seen" DESC NULLS LAST, "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_rank
  FROM "db"."main"."people"
  WHERE "person" IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "age", "zip", COUNT(*) AS "n"
FROM recoded
GROUP BY "age", "zip"
HAVING COUNT(*) >= 5
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
