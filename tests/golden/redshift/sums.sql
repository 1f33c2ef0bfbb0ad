-- policy: golden
-- digest: sha256:0aefb2baf1517e84c96cccd77ac38b9501c8aa3cd4b33e38efe175133bf58f86
WITH people AS (
  SELECT "age", "born", "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
), recoded AS (
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
      WHEN "income" IS NULL THEN 0
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
), grouped AS (
  SELECT "age", "born", COUNT(*) AS policy_engine_people,
    CAST(SUM("policy_engine_value_1") AS BIGINT) - 2 * COUNT(*) AS "policy_engine_total_1",
    CAST(SUM("policy_engine_value_2") AS BIGINT) AS "policy_engine_total_2"
  FROM recoded
  GROUP BY "age", "born"
), drawn AS (
  SELECT "age", "born", policy_engine_people, "policy_engine_total_1", "policy_engine_total_2",
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:0:76308ec8e03cb8b1e5d7590c90f89d74156e26452f72feea60c82e917b40a578:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS VARCHAR(MAX)), 256) AS policy_engine_hash,
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:1:76308ec8e03cb8b1e5d7590c90f89d74156e26452f72feea60c82e917b40a578:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS VARCHAR(MAX)), 256) AS "policy_engine_hash_1",
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:2:76308ec8e03cb8b1e5d7590c90f89d74156e26452f72feea60c82e917b40a578:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS VARCHAR(MAX)), 256) AS "policy_engine_hash_2"
  FROM grouped
), noised AS (
  SELECT "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < '25fcf1bf08a76ed' THEN -2
      WHEN policy_engine_hash < '5b01328c069a518' THEN -1
      WHEN policy_engine_hash < 'a4fecd73f965ae8' THEN 0
      WHEN policy_engine_hash < 'da030e40f758913' THEN 1
      ELSE 2
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < '06d4076bceb17d5' THEN -9
      WHEN "policy_engine_hash_1" < '0eb259df201fcd8' THEN -8
      WHEN "policy_engine_hash_1" < '17c38876273ef3d' THEN -7
      WHEN "policy_engine_hash_1" < '2236525be702c01' THEN -6
      WHEN "policy_engine_hash_1" < '2e4095cc8d37dac' THEN -5
      WHEN "policy_engine_hash_1" < '3c2065cedf09b96' THEN -4
      WHEN "policy_engine_hash_1" < '4c1d4a3c8f9a7e1' THEN -3
      WHEN "policy_engine_hash_1" < '5e89b08b795089d' THEN -2
      WHEN "policy_engine_hash_1" < '73c494c50d62bfb' THEN -1
      WHEN "policy_engine_hash_1" < '8c3b6b3af29d405' THEN 0
      WHEN "policy_engine_hash_1" < 'a1764f7486af763' THEN 1
      WHEN "policy_engine_hash_1" < 'b3e2b5c3706581f' THEN 2
      WHEN "policy_engine_hash_1" < 'c3df9a3120f646a' THEN 3
      WHEN "policy_engine_hash_1" < 'd1bf6a3372c8254' THEN 4
      WHEN "policy_engine_hash_1" < 'ddc9ada418fd3ff' THEN 5
      WHEN "policy_engine_hash_1" < 'e83c7789d8c10c3' THEN 6
      WHEN "policy_engine_hash_1" < 'f14da620dfe0328' THEN 7
      WHEN "policy_engine_hash_1" < 'f92bf894314e82b' THEN 8
      ELSE 9
    END AS "policy_engine_total_1",
    "policy_engine_total_2" - "policy_engine_total_2" % 10 + CAST(10 AS BIGINT) * CASE
      WHEN "policy_engine_hash_2" < '07e4151f29569cd' THEN -13
      WHEN "policy_engine_hash_2" < '100245a7cf4c495' THEN -12
      WHEN "policy_engine_hash_2" < '185c3d7cfa44324' THEN -11
      WHEN "policy_engine_hash_2" < '20f3b4d08e4873b' THEN -10
      WHEN "policy_engine_hash_2" < '29ca707ded37569' THEN -9
      WHEN "policy_engine_hash_2" < '32e242673457ed1' THEN -8
      WHEN "policy_engine_hash_2" < '3c3d09d52888a76' THEN -7
      WHEN "policy_engine_hash_2" < '45dcb3d9e4c7da1' THEN -6
      WHEN "policy_engine_hash_2" < '4fc33bb65f679df' THEN -5
      WHEN "policy_engine_hash_2" < '59f2ab42dad40e5' THEN -4
      WHEN "policy_engine_hash_2" < '646d1b5a576cd7a' THEN -3
      WHEN "policy_engine_hash_2" < '6f34b4491c91609' THEN -2
      WHEN "policy_engine_hash_2" < '7a4bae3e6fa1bf0' THEN -1
      WHEN "policy_engine_hash_2" < '85b451c1905e410' THEN 0
      WHEN "policy_engine_hash_2" < '90cb4bb6e36e9f7' THEN 1
      WHEN "policy_engine_hash_2" < '9b92e4a5a893286' THEN 2
      WHEN "policy_engine_hash_2" < 'a60d54bd252bf1b' THEN 3
      WHEN "policy_engine_hash_2" < 'b03cc449a098621' THEN 4
      WHEN "policy_engine_hash_2" < 'ba234c261b3825f' THEN 5
      WHEN "policy_engine_hash_2" < 'c3c2f62ad77758a' THEN 6
      WHEN "policy_engine_hash_2" < 'cd1dbd98cba812f' THEN 7
      WHEN "policy_engine_hash_2" < 'd6358f8212c8a97' THEN 8
      WHEN "policy_engine_hash_2" < 'df0c4b2f71b78c5' THEN 9
      WHEN "policy_engine_hash_2" < 'e7a3c28305bbcdc' THEN 10
      WHEN "policy_engine_hash_2" < 'effdba5830b3b6b' THEN 11
      WHEN "policy_engine_hash_2" < 'f81beae0d6a9633' THEN 12
      ELSE 13
    END AS "policy_engine_total_2"
  FROM drawn
), bounded AS (
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
ORDER BY "age" NULLS LAST, "born" NULLS LAST
