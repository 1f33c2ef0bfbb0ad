-- policy: golden
-- digest: sha256:fb1c328901ab94f3c06c7ba88211918ebe47bf3875f36cfa0c765a9880850682
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip", "sex", "married", "born"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE)
  WHERE file_row_number IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), recoded AS NOT MATERIALIZED (
  SELECT
    "zip" AS "zip",
    "sex" AS "sex",
    "married" AS "married",
    "born" AS "born"
  FROM sampled
)
SELECT "zip", "sex", "married", "born", COUNT(*) AS "n"
FROM recoded
GROUP BY "zip", "sex", "married", "born"
HAVING COUNT(*) >= 5
ORDER BY "zip" NULLS LAST, "sex" NULLS LAST, "married" NULLS LAST, "born" NULLS LAST
