-- policy: golden
-- digest: sha256:4e5f834cbfbb1d9227c73118105da5c40051624e5c23ac9a01e756483997a73b
WITH sampled AS (
  SELECT DISTINCT "age", "person"
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), placed AS (
  SELECT "age", "person",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST) AS policy_engine_place
  FROM sampled
), chosen AS (
  SELECT "age",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY lower(hex(SHA256({salt:String} || ':o:' || toString("person") || ':' || toString(policy_engine_place)))), policy_engine_place) AS policy_engine_rank
  FROM placed
), counted AS (
  SELECT "age", toInt64(COUNT(*)) AS policy_engine_count
  FROM chosen
  WHERE policy_engine_rank = 1
  GROUP BY "age"
), recoded AS (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    policy_engine_count
  FROM counted
)
SELECT "age", toInt64(SUM(policy_engine_count)) AS "n"
FROM recoded
GROUP BY "age"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "age" NULLS LAST
