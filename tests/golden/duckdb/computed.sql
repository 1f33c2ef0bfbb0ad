-- policy: golden
-- digest: sha256:3afc24cd64077942e9090a79b4c949d28dfae5771022cd84b2785cc0fcb15655
WITH own AS NOT MATERIALIZED (
  SELECT "age", "born", "seen", "moved", "person"

  FROM READ_PARQUET('people.parquet')
), "policy_engine_joined" AS NOT MATERIALIZED (
  SELECT "born" AS "policy_engine_since_1", CAST("seen" AS DATE) AS "policy_engine_until_1", "born" AS "policy_engine_since_2", CAST("moved" AT TIME ZONE 'UTC' AS DATE) AS "policy_engine_until_2", "person", "age"

  FROM own
), "policy_engine_computed" AS NOT MATERIALIZED (
  SELECT "person", "age", CASE
      WHEN "policy_engine_since_1" >= CAST('0001-01-01' AS DATE) AND "policy_engine_since_1" <= "policy_engine_until_1" AND "policy_engine_until_1" <= CAST('9999-12-31' AS DATE) THEN CAST((EXTRACT(YEAR FROM "policy_engine_until_1") - EXTRACT(YEAR FROM "policy_engine_since_1")) * 1200 + (EXTRACT(MONTH FROM "policy_engine_until_1") - EXTRACT(MONTH FROM "policy_engine_since_1")) * 100 + EXTRACT(DAY FROM "policy_engine_until_1") - EXTRACT(DAY FROM "policy_engine_since_1") AS BIGINT) // 1200
    END AS "years", CASE
      WHEN "policy_engine_since_2" >= CAST('0001-01-01' AS DATE) AND "policy_engine_since_2" <= "policy_engine_until_2" AND "policy_engine_until_2" <= CAST('9999-12-31' AS DATE) THEN CAST(DATEDIFF('day', "policy_engine_since_2", "policy_engine_until_2") AS BIGINT)
    END AS "days"
  FROM "policy_engine_joined"
), sampled AS NOT MATERIALIZED (
  SELECT "years", "days",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "years" NULLS LAST, "days" NULLS LAST) AS policy_engine_rank
  FROM "policy_engine_computed"
  WHERE "person" IN (SELECT unit FROM "policy_engine_sample_400000000000000")
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "years" IS NULL THEN NULL
      WHEN "years" < 18 THEN '<18'
      ELSE '>=18'
    END AS "years",
    CASE
      WHEN "days" BETWEEN 0 AND 1000000000000000 THEN 10 * ((2 * CAST("days" AS BIGINT) + 10) // (2 * 10))
      WHEN "days" BETWEEN -1000000000000000 AND 0 THEN -10 * ((10 - 2 * CAST("days" AS BIGINT)) // (2 * 10))
      ELSE CASE
      WHEN ABS(CAST("days" AS DOUBLE)) < 1 THEN 0
      WHEN ABS(CAST("days" AS DOUBLE)) < 1000000000000000000 THEN CAST(ROUND(ABS(CAST("days" AS DOUBLE)) / 10) AS BIGINT) * CASE WHEN CAST("days" AS DOUBLE) < 0 THEN -10 ELSE 10 END
    END
    END AS "days"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "years", "days", COUNT(*) AS "n"
FROM recoded
GROUP BY "years", "days"
HAVING COUNT(*) >= 5
ORDER BY "years" NULLS LAST, "days" NULLS LAST
