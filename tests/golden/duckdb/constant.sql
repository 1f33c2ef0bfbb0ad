-- policy: golden
-- digest: sha256:4116aad8bcbb323b19db1fac0d82d8cfd96ea3cce0ea7e0fc80479b613d810f3
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
