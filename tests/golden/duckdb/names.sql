-- policy: golden
-- digest: sha256:93cdb9f8dd4f1a2f22bcb4d8dfe838697be1bf0670ad319e3e38850dfbb2e7b0
WITH sampled AS NOT MATERIALIZED (
  SELECT "it""s"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE)
  WHERE file_row_number IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), recoded AS NOT MATERIALIZED (
  SELECT
    "it""s" AS "it""s"
  FROM sampled
)
SELECT "it""s", COUNT(*) AS "order by"
FROM recoded
GROUP BY "it""s"
HAVING COUNT(*) >= 5
ORDER BY "it""s" NULLS LAST
