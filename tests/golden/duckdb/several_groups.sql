-- policy: golden
-- digest: sha256:2f80c7cbd9ab2fd56d6ff78702a28730fc36e81537c10b0efbcc531df03f78f5
WITH people AS NOT MATERIALIZED (
  SELECT "age", "zip", "income", "person"
  FROM "db"."main"."people"
  WHERE "person" IS NOT NULL
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip",
    CASE
      WHEN "income" IS NULL THEN 0
      WHEN CAST("income" AS DOUBLE) <= -10000000000 THEN -1000000000
      WHEN CAST("income" AS DOUBLE) >= 10000000000 THEN 1000000000
      WHEN ABS(CAST("income" AS DOUBLE)) < 1 THEN 0
      ELSE CAST(FLOOR(ABS(CAST("income" AS DOUBLE)) / 10) + CASE WHEN ABS(CAST("income" AS DOUBLE)) / 10 - FLOOR(ABS(CAST("income" AS DOUBLE)) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE) < 0 THEN -1 ELSE 1 END
    END AS "policy_engine_value_1",
    CASE
      WHEN "age" IS NULL THEN 0
      WHEN "age" <= -1000000000 THEN -1000000000
      WHEN "age" >= 1000000000 THEN 1000000000
      ELSE CAST("age" AS BIGINT)
    END AS "policy_engine_value_2",
    "person" AS policy_engine_unit
  FROM people
), found AS MATERIALIZED (
  SELECT "age", "zip", policy_engine_unit,
    CASE WHEN SUM("policy_engine_value_1") <= 0 THEN 0 WHEN SUM("policy_engine_value_1") >= 4 THEN 4 ELSE CAST(SUM("policy_engine_value_1") AS BIGINT) END AS "policy_engine_value_1",
    CASE WHEN SUM("policy_engine_value_2") <= 0 THEN 0 WHEN SUM("policy_engine_value_2") >= 100 THEN 100 ELSE CAST(SUM("policy_engine_value_2") AS BIGINT) END AS "policy_engine_value_2"
  FROM recoded
  GROUP BY "age", "zip", policy_engine_unit
), beyond AS MATERIALIZED (
  SELECT policy_engine_unit AS policy_engine_many
  FROM found
  GROUP BY policy_engine_unit
  HAVING COUNT(*) > 2
), placed AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_unit, "policy_engine_value_1", "policy_engine_value_2",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_place
  FROM found JOIN beyond ON policy_engine_many = policy_engine_unit
), chosen AS NOT MATERIALIZED (
  SELECT "age", "zip", "policy_engine_value_1", "policy_engine_value_2",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY SHA256($salt || ':o:' || CAST(policy_engine_unit AS VARCHAR) || ':' || CAST(policy_engine_place AS VARCHAR)), policy_engine_place) AS policy_engine_rank
  FROM placed
), within AS NOT MATERIALIZED (
  SELECT "age", "zip", "policy_engine_value_1", "policy_engine_value_2"
  FROM found LEFT JOIN beyond ON policy_engine_many = policy_engine_unit
  WHERE policy_engine_many IS NULL
  UNION ALL
  SELECT "age", "zip", "policy_engine_value_1", "policy_engine_value_2"
  FROM chosen
  WHERE policy_engine_rank <= 2
), grouped AS NOT MATERIALIZED (
  SELECT "age", "zip", COUNT(*) AS policy_engine_people,
    CAST(SUM("policy_engine_value_1") AS BIGINT) - 2 * COUNT(*) AS "policy_engine_total_1",
    CAST(SUM("policy_engine_value_2") AS BIGINT) AS "policy_engine_total_2"
  FROM within
  GROUP BY "age", "zip"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_people, "policy_engine_total_1", "policy_engine_total_2",
    SHA256($salt || ':g:0:2f884837b52aba3a90c845eb512ddc86285332fb29aa81d7909b3388718c7e44:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash,
    SHA256($salt || ':g:1:2f884837b52aba3a90c845eb512ddc86285332fb29aa81d7909b3388718c7e44:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_1",
    SHA256($salt || ':g:2:2f884837b52aba3a90c845eb512ddc86285332fb29aa81d7909b3388718c7e44:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_2"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_people + CASE
      WHEN policy_engine_hash < '184bbbcdf6eb4fc' THEN -3
      WHEN policy_engine_hash < '3895405c8a75c40' THEN -2
      WHEN policy_engine_hash < '637d730249fe2c8' THEN -1
      WHEN policy_engine_hash < '9c828cfdb601d38' THEN 0
      WHEN policy_engine_hash < 'c76abfa3758a3c0' THEN 1
      WHEN policy_engine_hash < 'e7b444320914b04' THEN 2
      ELSE 3
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < '0364b879fc9d119' THEN -20
      WHEN "policy_engine_hash_1" < '06fc2f4664df293' THEN -19
      WHEN "policy_engine_hash_1" < '0ac95b2ea13a68c' THEN -18
      WHEN "policy_engine_hash_1" < '0ecf5f4e8a273df' THEN -17
      WHEN "policy_engine_hash_1" < '13118dab2be401f' THEN -16
      WHEN "policy_engine_hash_1" < '179369f040cb7b4' THEN -15
      WHEN "policy_engine_hash_1" < '1c58ac56a525175' THEN -14
      WHEN "policy_engine_hash_1" < '216544b629241fe' THEN -13
      WHEN "policy_engine_hash_1" < '26bd5dc54995406' THEN -12
      WHEN "policy_engine_hash_1" < '2c6560897d9aebf' THEN -11
      WHEN "policy_engine_hash_1" < '3261f7faeff0e0e' THEN -10
      WHEN "policy_engine_hash_1" < '38b814dea49e35b' THEN -9
      WHEN "policy_engine_hash_1" < '3f6cf1da38e7156' THEN -8
      WHEN "policy_engine_hash_1" < '468617c49ad8a50' THEN -7
      WHEN "policy_engine_hash_1" < '4e0962374819b35' THEN -6
      WHEN "policy_engine_hash_1" < '55fd0463d8eb578' THEN -5
      WHEN "policy_engine_hash_1" < '5e678e31d4a170f' THEN -4
      WHEN "policy_engine_hash_1" < '674ff1a90882999' THEN -3
      WHEN "policy_engine_hash_1" < '70bd88acd922c45' THEN -2
      WHEN "policy_engine_hash_1" < '7ab81b0d491f8fe' THEN -1
      WHEN "policy_engine_hash_1" < '8547e4f2b6e0702' THEN 0
      WHEN "policy_engine_hash_1" < '8f42775326dd3bb' THEN 1
      WHEN "policy_engine_hash_1" < '98b00e56f77d667' THEN 2
      WHEN "policy_engine_hash_1" < 'a19871ce2b5e8f1' THEN 3
      WHEN "policy_engine_hash_1" < 'aa02fb9c2714a88' THEN 4
      WHEN "policy_engine_hash_1" < 'b1f69dc8b7e64cb' THEN 5
      WHEN "policy_engine_hash_1" < 'b979e83b65275b0' THEN 6
      WHEN "policy_engine_hash_1" < 'c0930e25c718eaa' THEN 7
      WHEN "policy_engine_hash_1" < 'c747eb215b61ca5' THEN 8
      WHEN "policy_engine_hash_1" < 'cd9e0805100f1f2' THEN 9
      WHEN "policy_engine_hash_1" < 'd39a9f768265141' THEN 10
      WHEN "policy_engine_hash_1" < 'd942a23ab66abfa' THEN 11
      WHEN "policy_engine_hash_1" < 'de9abb49d6dbe02' THEN 12
      WHEN "policy_engine_hash_1" < 'e3a753a95adae8b' THEN 13
      WHEN "policy_engine_hash_1" < 'e86c960fbf3484c' THEN 14
      WHEN "policy_engine_hash_1" < 'ecee7254d41bfe1' THEN 15
      WHEN "policy_engine_hash_1" < 'f130a0b175d8c21' THEN 16
      WHEN "policy_engine_hash_1" < 'f536a4d15ec5974' THEN 17
      WHEN "policy_engine_hash_1" < 'f903d0b99b20d6d' THEN 18
      WHEN "policy_engine_hash_1" < 'fc9b47860362ee7' THEN 19
      ELSE 20
    END AS "policy_engine_total_1",
    "policy_engine_total_2" - "policy_engine_total_2" % 10 + CAST(10 AS BIGINT) * CASE
      WHEN "policy_engine_hash_2" < '048e9804ea48802' THEN -24
      WHEN "policy_engine_hash_2" < '092a822c7dae0a3' THEN -23
      WHEN "policy_engine_hash_2" < '0dd3e5671582cfc' THEN -22
      WHEN "policy_engine_hash_2" < '128ae916e028108' THEN -21
      WHEN "policy_engine_hash_2" < '174fb5112bc81b7' THEN -20
      WHEN "policy_engine_hash_2" < '1c22719fb6dced5' THEN -19
      WHEN "policy_engine_hash_2" < '21034782048e862' THEN -18
      WHEN "policy_engine_hash_2" < '25f25feeb4f4325' THEN -17
      WHEN "policy_engine_hash_2" < '2aefe494e144233' THEN -16
      WHEN "policy_engine_hash_2" < '2ffbff9d7bfcd4f' THEN -15
      WHEN "policy_engine_hash_2" < '3516dbacb513e0d' THEN -14
      WHEN "policy_engine_hash_2" < '3a40a3e36235fce' THEN -13
      WHEN "policy_engine_hash_2" < '3f7983e06b240d2' THEN -12
      WHEN "policy_engine_hash_2" < '44c1a7c23a394bc' THEN -11
      WHEN "policy_engine_hash_2" < '4a193c283126b25' THEN -10
      WHEN "policy_engine_hash_2" < '4f806e3421eff0b' THEN -9
      WHEN "policy_engine_hash_2" < '54f76b8bcc3662b' THEN -8
      WHEN "policy_engine_hash_2" < '5a7e625a5ede99e' THEN -7
      WHEN "policy_engine_hash_2" < '60158151fe1d356' THEN -6
      WHEN "policy_engine_hash_2" < '65bcf7ad4df7e72' THEN -5
      WHEN "policy_engine_hash_2" < '6b74f5310147ab5' THEN -4
      WHEN "policy_engine_hash_2" < '713daa2d6d495d8' THEN -3
      WHEN "policy_engine_hash_2" < '7717478021c9fc0' THEN -2
      WHEN "policy_engine_hash_2" < '7d01fe9585fc12c' THEN -1
      WHEN "policy_engine_hash_2" < '82fe016a7a03ed4' THEN 0
      WHEN "policy_engine_hash_2" < '88e8b87fde36040' THEN 1
      WHEN "policy_engine_hash_2" < '8ec255d292b6a28' THEN 2
      WHEN "policy_engine_hash_2" < '948b0acefeb854b' THEN 3
      WHEN "policy_engine_hash_2" < '9a430852b20818e' THEN 4
      WHEN "policy_engine_hash_2" < '9fea7eae01e2caa' THEN 5
      WHEN "policy_engine_hash_2" < 'a5819da5a121662' THEN 6
      WHEN "policy_engine_hash_2" < 'ab08947433c99d5' THEN 7
      WHEN "policy_engine_hash_2" < 'b07f91cbde100f5' THEN 8
      WHEN "policy_engine_hash_2" < 'b5e6c3d7ced94db' THEN 9
      WHEN "policy_engine_hash_2" < 'bb3e583dc5c6b44' THEN 10
      WHEN "policy_engine_hash_2" < 'c0867c1f94dbf2e' THEN 11
      WHEN "policy_engine_hash_2" < 'c5bf5c1c9dca032' THEN 12
      WHEN "policy_engine_hash_2" < 'cae924534aec1f3' THEN 13
      WHEN "policy_engine_hash_2" < 'd004006284032b1' THEN 14
      WHEN "policy_engine_hash_2" < 'd5101b6b1ebbdcd' THEN 15
      WHEN "policy_engine_hash_2" < 'da0da0114b0bcdb' THEN 16
      WHEN "policy_engine_hash_2" < 'defcb87dfb7179e' THEN 17
      WHEN "policy_engine_hash_2" < 'e3dd8e60492312b' THEN 18
      WHEN "policy_engine_hash_2" < 'e8b04aeed437e49' THEN 19
      WHEN "policy_engine_hash_2" < 'ed7516e91fd7ef8' THEN 20
      WHEN "policy_engine_hash_2" < 'f22c1a98ea7d304' THEN 21
      WHEN "policy_engine_hash_2" < 'f6d57dd38251f5d' THEN 22
      WHEN "policy_engine_hash_2" < 'fb7167fb15b77fe' THEN 23
      ELSE 24
    END AS "policy_engine_total_2"
  FROM drawn
), bounded AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_n, CASE WHEN policy_engine_n < 1 THEN 1 ELSE policy_engine_n END AS policy_engine_divisor,
    CASE WHEN "policy_engine_total_1" + 2 * policy_engine_n < 0 THEN 0 WHEN "policy_engine_total_1" + 2 * policy_engine_n > 4 * policy_engine_n THEN 4 * policy_engine_n ELSE "policy_engine_total_1" + 2 * policy_engine_n END AS "policy_engine_total_1",
    "policy_engine_total_2"
  FROM noised
)
SELECT "age", "zip", policy_engine_n AS "n",
  (2 * "policy_engine_total_1" + policy_engine_divisor) // (2 * policy_engine_divisor) * 10 AS "pay",
  "policy_engine_total_2" AS "years"
FROM bounded
WHERE policy_engine_n >= 4
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
