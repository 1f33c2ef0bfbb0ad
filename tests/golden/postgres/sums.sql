-- policy: golden
-- digest: sha256:0aefb2baf1517e84c96cccd77ac38b9501c8aa3cd4b33e38efe175133bf58f86
WITH people AS NOT MATERIALIZED (
  SELECT "age", "born", "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
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
    END AS "born",
    CASE
      WHEN "income" IS NULL OR "income" = CAST('NaN' AS DECIMAL) THEN 0
      WHEN CAST("income" AS DOUBLE PRECISION) <= 0 THEN 0
      WHEN CAST("income" AS DOUBLE PRECISION) >= 40 THEN 4
      WHEN ABS(CAST("income" AS DOUBLE PRECISION)) < 1 THEN 0
      ELSE CAST(FLOOR(ABS(CAST("income" AS DOUBLE PRECISION)) / 10) + CASE WHEN ABS(CAST("income" AS DOUBLE PRECISION)) / 10 - FLOOR(ABS(CAST("income" AS DOUBLE PRECISION)) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE PRECISION) < 0 THEN -1 ELSE 1 END
    END AS "policy_engine_value_1",
    CASE
      WHEN "age" IS NULL THEN 0
      WHEN "age" <= 0 THEN 0
      WHEN "age" >= 100 THEN 100
      ELSE CAST("age" AS BIGINT)
    END AS "policy_engine_value_2"
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS NOT MATERIALIZED (
  SELECT "age", "born", COUNT(*) AS policy_engine_people,
    CAST(SUM("policy_engine_value_1") AS BIGINT) - 2 * COUNT(*) AS "policy_engine_total_1",
    CAST(SUM("policy_engine_value_2") AS BIGINT) AS "policy_engine_total_2"
  FROM recoded
  GROUP BY "age", "born"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people, "policy_engine_total_1", "policy_engine_total_2",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:76308ec8e03cb8b1e5d7590c90f89d74156e26452f72feea60c82e917b40a578:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:1:76308ec8e03cb8b1e5d7590c90f89d74156e26452f72feea60c82e917b40a578:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_1",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:2:76308ec8e03cb8b1e5d7590c90f89d74156e26452f72feea60c82e917b40a578:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_2"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < DECODE('25fcf1bf08a76ed0', 'hex') THEN -2
      WHEN policy_engine_hash < DECODE('5b01328c069a5180', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('a4fecd73f965ae80', 'hex') THEN 0
      WHEN policy_engine_hash < DECODE('da030e40f7589130', 'hex') THEN 1
      ELSE 2
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < DECODE('06d4076bceb17d50', 'hex') THEN -9
      WHEN "policy_engine_hash_1" < DECODE('0eb259df201fcd80', 'hex') THEN -8
      WHEN "policy_engine_hash_1" < DECODE('17c38876273ef3d0', 'hex') THEN -7
      WHEN "policy_engine_hash_1" < DECODE('2236525be702c010', 'hex') THEN -6
      WHEN "policy_engine_hash_1" < DECODE('2e4095cc8d37dac0', 'hex') THEN -5
      WHEN "policy_engine_hash_1" < DECODE('3c2065cedf09b960', 'hex') THEN -4
      WHEN "policy_engine_hash_1" < DECODE('4c1d4a3c8f9a7e10', 'hex') THEN -3
      WHEN "policy_engine_hash_1" < DECODE('5e89b08b795089d0', 'hex') THEN -2
      WHEN "policy_engine_hash_1" < DECODE('73c494c50d62bfb0', 'hex') THEN -1
      WHEN "policy_engine_hash_1" < DECODE('8c3b6b3af29d4050', 'hex') THEN 0
      WHEN "policy_engine_hash_1" < DECODE('a1764f7486af7630', 'hex') THEN 1
      WHEN "policy_engine_hash_1" < DECODE('b3e2b5c3706581f0', 'hex') THEN 2
      WHEN "policy_engine_hash_1" < DECODE('c3df9a3120f646a0', 'hex') THEN 3
      WHEN "policy_engine_hash_1" < DECODE('d1bf6a3372c82540', 'hex') THEN 4
      WHEN "policy_engine_hash_1" < DECODE('ddc9ada418fd3ff0', 'hex') THEN 5
      WHEN "policy_engine_hash_1" < DECODE('e83c7789d8c10c30', 'hex') THEN 6
      WHEN "policy_engine_hash_1" < DECODE('f14da620dfe03280', 'hex') THEN 7
      WHEN "policy_engine_hash_1" < DECODE('f92bf894314e82b0', 'hex') THEN 8
      ELSE 9
    END AS "policy_engine_total_1",
    "policy_engine_total_2" - "policy_engine_total_2" % 10 + CAST(10 AS BIGINT) * CASE
      WHEN "policy_engine_hash_2" < DECODE('07e4151f29569cd0', 'hex') THEN -13
      WHEN "policy_engine_hash_2" < DECODE('100245a7cf4c4950', 'hex') THEN -12
      WHEN "policy_engine_hash_2" < DECODE('185c3d7cfa443240', 'hex') THEN -11
      WHEN "policy_engine_hash_2" < DECODE('20f3b4d08e4873b0', 'hex') THEN -10
      WHEN "policy_engine_hash_2" < DECODE('29ca707ded375690', 'hex') THEN -9
      WHEN "policy_engine_hash_2" < DECODE('32e242673457ed10', 'hex') THEN -8
      WHEN "policy_engine_hash_2" < DECODE('3c3d09d52888a760', 'hex') THEN -7
      WHEN "policy_engine_hash_2" < DECODE('45dcb3d9e4c7da10', 'hex') THEN -6
      WHEN "policy_engine_hash_2" < DECODE('4fc33bb65f679df0', 'hex') THEN -5
      WHEN "policy_engine_hash_2" < DECODE('59f2ab42dad40e50', 'hex') THEN -4
      WHEN "policy_engine_hash_2" < DECODE('646d1b5a576cd7a0', 'hex') THEN -3
      WHEN "policy_engine_hash_2" < DECODE('6f34b4491c916090', 'hex') THEN -2
      WHEN "policy_engine_hash_2" < DECODE('7a4bae3e6fa1bf00', 'hex') THEN -1
      WHEN "policy_engine_hash_2" < DECODE('85b451c1905e4100', 'hex') THEN 0
      WHEN "policy_engine_hash_2" < DECODE('90cb4bb6e36e9f70', 'hex') THEN 1
      WHEN "policy_engine_hash_2" < DECODE('9b92e4a5a8932860', 'hex') THEN 2
      WHEN "policy_engine_hash_2" < DECODE('a60d54bd252bf1b0', 'hex') THEN 3
      WHEN "policy_engine_hash_2" < DECODE('b03cc449a0986210', 'hex') THEN 4
      WHEN "policy_engine_hash_2" < DECODE('ba234c261b3825f0', 'hex') THEN 5
      WHEN "policy_engine_hash_2" < DECODE('c3c2f62ad77758a0', 'hex') THEN 6
      WHEN "policy_engine_hash_2" < DECODE('cd1dbd98cba812f0', 'hex') THEN 7
      WHEN "policy_engine_hash_2" < DECODE('d6358f8212c8a970', 'hex') THEN 8
      WHEN "policy_engine_hash_2" < DECODE('df0c4b2f71b78c50', 'hex') THEN 9
      WHEN "policy_engine_hash_2" < DECODE('e7a3c28305bbcdc0', 'hex') THEN 10
      WHEN "policy_engine_hash_2" < DECODE('effdba5830b3b6b0', 'hex') THEN 11
      WHEN "policy_engine_hash_2" < DECODE('f81beae0d6a96330', 'hex') THEN 12
      ELSE 13
    END AS "policy_engine_total_2"
  FROM drawn
), bounded AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_n, CASE WHEN policy_engine_n < 1 THEN 1 ELSE policy_engine_n END AS policy_engine_divisor,
    CASE WHEN "policy_engine_total_1" + 2 * policy_engine_n < 0 THEN 0 WHEN "policy_engine_total_1" + 2 * policy_engine_n > 4 * policy_engine_n THEN 4 * policy_engine_n ELSE "policy_engine_total_1" + 2 * policy_engine_n END AS "policy_engine_total_1",
    "policy_engine_total_2"
  FROM noised
)
SELECT "age", "born", policy_engine_n AS "n",
  (2 * "policy_engine_total_1" + policy_engine_divisor) / (2 * policy_engine_divisor) * 10 AS "pay",
  "policy_engine_total_2" AS "years"
FROM bounded
WHERE policy_engine_n >= 3
ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
