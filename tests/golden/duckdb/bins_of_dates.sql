-- policy: golden
-- digest: sha256:f2b26bb8971164b67b1ef5d3291c5c02e3ee615434e2d762a9439a289784b7f3
WITH sampled AS NOT MATERIALIZED (
  SELECT "born", "moved"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE)
  WHERE file_row_number IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "born" IS NULL THEN NULL
      WHEN "born" < CAST('1970-01-01' AS DATE) THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS "born",
    CASE
      WHEN "moved" AT TIME ZONE 'UTC' IS NULL THEN NULL
      WHEN "moved" AT TIME ZONE 'UTC' < CAST('2000-01-01 00:00:00' AS TIMESTAMP) THEN '<2000-01-01'
      ELSE '>=2000-01-01'
    END AS "moved"
  FROM sampled
)
SELECT "born", "moved", COUNT(*) AS "n"
FROM recoded
GROUP BY "born", "moved"
HAVING COUNT(*) >= 5
ORDER BY "born" NULLS LAST, "moved" NULLS LAST
