-- policy: golden
-- digest: sha256:7ffab5cb02fa4997fedc8cd6fe360f38879993456302c8cb1b9a14166cc2120d
WITH "sampled" AS NOT MATERIALIZED (
  SELECT
    "age",
    "zip",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" ASC, "zip" ASC) AS "policy_engine_rank"
  FROM READ_PARQUET('people.parquet')
  WHERE
    "person" IN (
      SELECT
        "unit"
      FROM policy_engine_sample_400000000000000
    )
), "recoded" AS NOT MATERIALIZED (
  SELECT
    CASE WHEN "age" IS NULL THEN NULL WHEN "age" < 18 THEN '<18' ELSE '>=18' END AS "age",
    LEFT("zip", 2) AS "zip"
  FROM "sampled"
  WHERE
    "policy_engine_rank" = 1
)
SELECT
  "age",
  "zip",
  COUNT(*) AS "n"
FROM "recoded"
GROUP BY
  "age",
  "zip"
HAVING
  COUNT(*) >= 5
ORDER BY
  "age" ASC,
  "zip" ASC
