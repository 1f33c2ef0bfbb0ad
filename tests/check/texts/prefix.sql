-- policy: password_prefix
-- digest: sha256:ef1e6a36ce0d26a336ae665e504d2d79ba75f65101571e96b0f285d44f0a7800
WITH "sampled" AS NOT MATERIALIZED (
  SELECT
    "sha1"
  FROM READ_PARQUET('data/digests.parquet', file_row_number = TRUE)
  WHERE
    "file_row_number" IN (
      SELECT
        "unit"
      FROM policy_engine_sample_400000000000000
    )
), "recoded" AS NOT MATERIALIZED (
  SELECT
    LEFT("sha1", 3) AS "sha1"
  FROM "sampled"
)
SELECT
  "sha1",
  COUNT(*) AS "n"
FROM "recoded"
GROUP BY
  "sha1"
HAVING
  COUNT(*) >= 10
ORDER BY
  "sha1" ASC
