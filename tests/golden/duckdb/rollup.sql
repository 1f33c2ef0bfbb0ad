-- policy: golden
-- digest: sha256:595ed8ea077bb103ae26327d897494ec67815ded8915ee7b2803bcc8d7c8f7ce
WITH people AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM READ_PARQUET('people.parquet')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip"
  FROM people
), grouped AS NOT MATERIALIZED (
  SELECT CASE GROUPING("age", "zip") WHEN 0 THEN 1 WHEN 1 THEN 2 END AS policy_engine_grouping, "age", "zip", COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY GROUPING SETS (("age", "zip"), ("age"))
), drawn AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "zip", policy_engine_people,
    SHA256($salt || ':g:0:9686d05cafc607cdf736c7b4194d5c84ee2c675d271bc2baa4cba541d3bdadf3:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "zip", policy_engine_people + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN policy_engine_hash < '14a5f2cb65940a5' THEN -4
      WHEN policy_engine_hash < '2dde386b8b465bd' THEN -3
      WHEN policy_engine_hash < '4cabedc516784eb' THEN -2
      WHEN policy_engine_hash < '724b8e05c30f6cd' THEN -1
      WHEN policy_engine_hash < 'a0f0fe1778ec1ef' THEN 0
      WHEN policy_engine_hash < 'c721d09c3eebeb7' THEN 1
      WHEN policy_engine_hash < 'e66666666666667' THEN 2
      WHEN policy_engine_hash IS NOT NULL THEN 3
    END ELSE CASE
      WHEN policy_engine_hash < '3c957e5cc5770bb' THEN -1
      WHEN policy_engine_hash < 'c36a81a33a88f45' THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END END AS policy_engine_n
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS "grouping", "age", "zip", policy_engine_n AS "n"
FROM noised
WHERE policy_engine_n >= CASE WHEN policy_engine_grouping = 2 THEN 4 ELSE 2 END
ORDER BY policy_engine_grouping, "age" NULLS LAST, "zip" NULLS LAST
