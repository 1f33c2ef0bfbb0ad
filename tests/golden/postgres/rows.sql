-- policy: golden
-- digest: sha256:42659b4f02fd454a3ac7943d2956852cea95e2c67b0e1e8a111ed418e784afde
WITH sampled AS NOT MATERIALIZED (
  SELECT "age", "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':u:' || CAST("person" AS TEXT), 'UTF8')) < DECODE('4000000000000000', 'hex')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    CASE
      WHEN "born" IS NULL THEN NULL
      WHEN "born" < CAST('1970-01-01' AS DATE) THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS "born"
  FROM sampled
  WHERE policy_engine_rank = 1
), released AS NOT MATERIALIZED (
  SELECT "age", "born", COUNT(*) AS policy_engine_n
  FROM recoded
  GROUP BY "age", "born"
  HAVING COUNT(*) >= 5
), repeated AS NOT MATERIALIZED (
  SELECT "age", "born", GENERATE_SERIES(1, policy_engine_n) AS policy_engine_copy
  FROM released
)
SELECT "age", "born"
FROM repeated
ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
