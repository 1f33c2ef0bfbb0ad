-- policy: golden
-- digest: sha256:7e584e32fcea2bb336ff32e9872ef80edec82b9f1f0de1c46b6f3f88c6133ea3
WITH sampled AS (
  SELECT "born", "seen",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "seen" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' || CAST("person" AS VARCHAR(MAX)), 256) < '400000000000000'
), recoded AS (
  SELECT
    CASE WHEN "born" BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN TO_CHAR("born", 'IYYY-"W"IW') END AS "born",
    CASE WHEN "seen" BETWEEN CAST('0001-01-01 00:00:00' AS TIMESTAMP) AND CAST('9999-12-31 23:59:59.999999' AS TIMESTAMP) THEN TO_CHAR(CAST("seen" AS DATE), 'IYYY-"W"IW') END AS "seen"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "born", "seen", COUNT(*) AS "n"
FROM recoded
GROUP BY "born", "seen"
HAVING COUNT(*) >= 5
ORDER BY "born" NULLS LAST, "seen" NULLS LAST
