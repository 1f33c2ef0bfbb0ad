-- policy: golden
-- digest: sha256:b71b5bfc76e669dc8f712588a04d855b5658493d271934572edda2a8c865966a
WITH people AS NOT MATERIALIZED (
  SELECT "age", "born"
  FROM READ_PARQUET('people.parquet')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    '*' AS "everybody",
    "born" AS "born"
  FROM people
), grouped AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born", COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY "age", "everybody", "born"
), domain AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born"
  FROM
    (SELECT '<18' AS "age", '*' AS "everybody", CAST('2020-01-01' AS DATE) AS "born" UNION ALL SELECT CAST(NULL AS VARCHAR) AS "age", '*' AS "everybody", CAST(NULL AS DATE) AS "born") AS "policy_engine_values_1"
), tuples AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born", CAST(SUM(policy_engine_people) AS BIGINT) AS policy_engine_people
  FROM (
    SELECT "age", "everybody", "born", 1 AS policy_engine_there, 0 AS policy_engine_people FROM domain
    UNION ALL
    SELECT "age", "everybody", "born", 0 AS policy_engine_there, policy_engine_people FROM grouped
  ) AS policy_engine_tuples
  GROUP BY "age", "everybody", "born"
  HAVING MAX(policy_engine_there) = 1
), drawn AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born", policy_engine_people,
    SHA256($salt || ':g:0:1cec333495da8d20ecc91faf9fa1ba83aa4068cb7fd742ef1eba68cf1b3d9264:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "everybody" NULLS LAST, "born" NULLS LAST) AS VARCHAR)) AS policy_engine_hash
  FROM tuples
), noised AS NOT MATERIALIZED (
  SELECT "age", "everybody", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < '22ac3083af5ce85' THEN -1
      WHEN policy_engine_hash < 'dd53cf7c50a317b' THEN 0
      WHEN policy_engine_hash IS NOT NULL THEN 1
    END AS policy_engine_n
  FROM drawn
)
SELECT "age", "everybody", "born", policy_engine_n AS "n"
FROM noised

ORDER BY "age" NULLS LAST, "everybody" NULLS LAST, "born" NULLS LAST
