-- policy: golden
-- digest: sha256:ad5ed329b2a607891672363351c93f0f3c4f6d04c3d6c73cf822794d11445417
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
