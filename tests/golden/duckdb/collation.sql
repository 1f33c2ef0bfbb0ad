-- policy: golden
-- digest: sha256:2abe2a871b17d29f7aa6c64a2b17f7bdf0322a06a2beb46083a6e6226d3f619d
WITH sampled AS NOT MATERIALIZED (
  SELECT "name"
  FROM "db"."main"."people"
  WHERE rowid IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), recoded AS NOT MATERIALIZED (
  SELECT
    "name" COLLATE "binary" AS "name"
  FROM sampled
)
SELECT "name", COUNT(*) AS "n"
FROM recoded
GROUP BY "name"
HAVING COUNT(*) >= 5
ORDER BY "name" NULLS LAST
