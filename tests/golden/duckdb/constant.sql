-- policy: golden
-- digest: sha256:a80634ff81255fc02b14d5905e14d29eac6548fe65173b167630ed41b28b95a0
WITH sampled AS NOT MATERIALIZED (
  SELECT 1
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE)
  WHERE file_row_number IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), recoded AS NOT MATERIALIZED (
  SELECT
    '*' AS "everybody"
  FROM sampled
)
SELECT "everybody", COUNT(*) AS "n"
FROM recoded
GROUP BY "everybody"
HAVING COUNT(*) >= 5
ORDER BY "everybody" NULLS LAST
