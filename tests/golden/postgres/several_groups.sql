-- policy: golden
-- digest: sha256:014d98ce3fef54516a9f77b9be695fbeedc5a01d6392299500af0013cfc4ec90
WITH people AS NOT MATERIALIZED (
  SELECT "age", "born", "income", "person"
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
      WHEN CAST("income" AS DOUBLE PRECISION) <= -10000000000 THEN -1000000000
      WHEN CAST("income" AS DOUBLE PRECISION) >= 10000000000 THEN 1000000000
      WHEN ABS(CAST("income" AS DOUBLE PRECISION)) < 1 THEN 0
      ELSE CAST(FLOOR(ABS(CAST("income" AS DOUBLE PRECISION)) / 10) + CASE WHEN ABS(CAST("income" AS DOUBLE PRECISION)) / 10 - FLOOR(ABS(CAST("income" AS DOUBLE PRECISION)) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE PRECISION) < 0 THEN -1 ELSE 1 END
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
  SELECT "age", "born", policy_engine_unit,
    CASE WHEN SUM("policy_engine_value_1") <= 0 THEN 0 WHEN SUM("policy_engine_value_1") >= 4 THEN 4 ELSE CAST(SUM("policy_engine_value_1") AS BIGINT) END AS "policy_engine_value_1",
    CASE WHEN SUM("policy_engine_value_2") <= 0 THEN 0 WHEN SUM("policy_engine_value_2") >= 100 THEN 100 ELSE CAST(SUM("policy_engine_value_2") AS BIGINT) END AS "policy_engine_value_2"
  FROM recoded
  GROUP BY "age", "born", policy_engine_unit
), beyond AS MATERIALIZED (
  SELECT policy_engine_unit AS policy_engine_many
  FROM found
  GROUP BY policy_engine_unit
  HAVING COUNT(*) > 2
), placed AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_unit, "policy_engine_value_1", "policy_engine_value_2",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS policy_engine_place
  FROM found JOIN beyond ON policy_engine_many = policy_engine_unit
), chosen AS NOT MATERIALIZED (
  SELECT "age", "born", "policy_engine_value_1", "policy_engine_value_2",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':o:' || CAST(policy_engine_unit AS TEXT) || ':' || CAST(policy_engine_place AS TEXT), 'UTF8')), policy_engine_place) AS policy_engine_rank
  FROM placed
), within AS NOT MATERIALIZED (
  SELECT "age", "born", "policy_engine_value_1", "policy_engine_value_2"
  FROM found LEFT JOIN beyond ON policy_engine_many = policy_engine_unit
  WHERE policy_engine_many IS NULL
  UNION ALL
  SELECT "age", "born", "policy_engine_value_1", "policy_engine_value_2"
  FROM chosen
  WHERE policy_engine_rank <= 2
), grouped AS NOT MATERIALIZED (
  SELECT "age", "born", COUNT(*) AS policy_engine_people,
    CAST(SUM("policy_engine_value_1") AS BIGINT) - 2 * COUNT(*) AS "policy_engine_total_1",
    CAST(SUM("policy_engine_value_2") AS BIGINT) AS "policy_engine_total_2"
  FROM within
  GROUP BY "age", "born"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people, "policy_engine_total_1", "policy_engine_total_2",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:1cd7e383777c858ef1bbaaa08d86eda4b06d9c01f0222900038eea95726b2ed1:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:1:1cd7e383777c858ef1bbaaa08d86eda4b06d9c01f0222900038eea95726b2ed1:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_1",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:2:1cd7e383777c858ef1bbaaa08d86eda4b06d9c01f0222900038eea95726b2ed1:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_2"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < DECODE('184bbbcdf6eb4fc0', 'hex') THEN -3
      WHEN policy_engine_hash < DECODE('3895405c8a75c400', 'hex') THEN -2
      WHEN policy_engine_hash < DECODE('637d730249fe2c80', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('9c828cfdb601d380', 'hex') THEN 0
      WHEN policy_engine_hash < DECODE('c76abfa3758a3c00', 'hex') THEN 1
      WHEN policy_engine_hash < DECODE('e7b444320914b040', 'hex') THEN 2
      ELSE 3
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < DECODE('0364b879fc9d1190', 'hex') THEN -20
      WHEN "policy_engine_hash_1" < DECODE('06fc2f4664df2930', 'hex') THEN -19
      WHEN "policy_engine_hash_1" < DECODE('0ac95b2ea13a68c0', 'hex') THEN -18
      WHEN "policy_engine_hash_1" < DECODE('0ecf5f4e8a273df0', 'hex') THEN -17
      WHEN "policy_engine_hash_1" < DECODE('13118dab2be401f0', 'hex') THEN -16
      WHEN "policy_engine_hash_1" < DECODE('179369f040cb7b40', 'hex') THEN -15
      WHEN "policy_engine_hash_1" < DECODE('1c58ac56a5251750', 'hex') THEN -14
      WHEN "policy_engine_hash_1" < DECODE('216544b629241fe0', 'hex') THEN -13
      WHEN "policy_engine_hash_1" < DECODE('26bd5dc549954060', 'hex') THEN -12
      WHEN "policy_engine_hash_1" < DECODE('2c6560897d9aebf0', 'hex') THEN -11
      WHEN "policy_engine_hash_1" < DECODE('3261f7faeff0e0e0', 'hex') THEN -10
      WHEN "policy_engine_hash_1" < DECODE('38b814dea49e35b0', 'hex') THEN -9
      WHEN "policy_engine_hash_1" < DECODE('3f6cf1da38e71560', 'hex') THEN -8
      WHEN "policy_engine_hash_1" < DECODE('468617c49ad8a500', 'hex') THEN -7
      WHEN "policy_engine_hash_1" < DECODE('4e0962374819b350', 'hex') THEN -6
      WHEN "policy_engine_hash_1" < DECODE('55fd0463d8eb5780', 'hex') THEN -5
      WHEN "policy_engine_hash_1" < DECODE('5e678e31d4a170f0', 'hex') THEN -4
      WHEN "policy_engine_hash_1" < DECODE('674ff1a908829990', 'hex') THEN -3
      WHEN "policy_engine_hash_1" < DECODE('70bd88acd922c450', 'hex') THEN -2
      WHEN "policy_engine_hash_1" < DECODE('7ab81b0d491f8fe0', 'hex') THEN -1
      WHEN "policy_engine_hash_1" < DECODE('8547e4f2b6e07020', 'hex') THEN 0
      WHEN "policy_engine_hash_1" < DECODE('8f42775326dd3bb0', 'hex') THEN 1
      WHEN "policy_engine_hash_1" < DECODE('98b00e56f77d6670', 'hex') THEN 2
      WHEN "policy_engine_hash_1" < DECODE('a19871ce2b5e8f10', 'hex') THEN 3
      WHEN "policy_engine_hash_1" < DECODE('aa02fb9c2714a880', 'hex') THEN 4
      WHEN "policy_engine_hash_1" < DECODE('b1f69dc8b7e64cb0', 'hex') THEN 5
      WHEN "policy_engine_hash_1" < DECODE('b979e83b65275b00', 'hex') THEN 6
      WHEN "policy_engine_hash_1" < DECODE('c0930e25c718eaa0', 'hex') THEN 7
      WHEN "policy_engine_hash_1" < DECODE('c747eb215b61ca50', 'hex') THEN 8
      WHEN "policy_engine_hash_1" < DECODE('cd9e0805100f1f20', 'hex') THEN 9
      WHEN "policy_engine_hash_1" < DECODE('d39a9f7682651410', 'hex') THEN 10
      WHEN "policy_engine_hash_1" < DECODE('d942a23ab66abfa0', 'hex') THEN 11
      WHEN "policy_engine_hash_1" < DECODE('de9abb49d6dbe020', 'hex') THEN 12
      WHEN "policy_engine_hash_1" < DECODE('e3a753a95adae8b0', 'hex') THEN 13
      WHEN "policy_engine_hash_1" < DECODE('e86c960fbf3484c0', 'hex') THEN 14
      WHEN "policy_engine_hash_1" < DECODE('ecee7254d41bfe10', 'hex') THEN 15
      WHEN "policy_engine_hash_1" < DECODE('f130a0b175d8c210', 'hex') THEN 16
      WHEN "policy_engine_hash_1" < DECODE('f536a4d15ec59740', 'hex') THEN 17
      WHEN "policy_engine_hash_1" < DECODE('f903d0b99b20d6d0', 'hex') THEN 18
      WHEN "policy_engine_hash_1" < DECODE('fc9b47860362ee70', 'hex') THEN 19
      ELSE 20
    END AS "policy_engine_total_1",
    "policy_engine_total_2" - "policy_engine_total_2" % 10 + CAST(10 AS BIGINT) * CASE
      WHEN "policy_engine_hash_2" < DECODE('048e9804ea488020', 'hex') THEN -24
      WHEN "policy_engine_hash_2" < DECODE('092a822c7dae0a30', 'hex') THEN -23
      WHEN "policy_engine_hash_2" < DECODE('0dd3e5671582cfc0', 'hex') THEN -22
      WHEN "policy_engine_hash_2" < DECODE('128ae916e0281080', 'hex') THEN -21
      WHEN "policy_engine_hash_2" < DECODE('174fb5112bc81b70', 'hex') THEN -20
      WHEN "policy_engine_hash_2" < DECODE('1c22719fb6dced50', 'hex') THEN -19
      WHEN "policy_engine_hash_2" < DECODE('21034782048e8620', 'hex') THEN -18
      WHEN "policy_engine_hash_2" < DECODE('25f25feeb4f43250', 'hex') THEN -17
      WHEN "policy_engine_hash_2" < DECODE('2aefe494e1442330', 'hex') THEN -16
      WHEN "policy_engine_hash_2" < DECODE('2ffbff9d7bfcd4f0', 'hex') THEN -15
      WHEN "policy_engine_hash_2" < DECODE('3516dbacb513e0d0', 'hex') THEN -14
      WHEN "policy_engine_hash_2" < DECODE('3a40a3e36235fce0', 'hex') THEN -13
      WHEN "policy_engine_hash_2" < DECODE('3f7983e06b240d20', 'hex') THEN -12
      WHEN "policy_engine_hash_2" < DECODE('44c1a7c23a394bc0', 'hex') THEN -11
      WHEN "policy_engine_hash_2" < DECODE('4a193c283126b250', 'hex') THEN -10
      WHEN "policy_engine_hash_2" < DECODE('4f806e3421eff0b0', 'hex') THEN -9
      WHEN "policy_engine_hash_2" < DECODE('54f76b8bcc3662b0', 'hex') THEN -8
      WHEN "policy_engine_hash_2" < DECODE('5a7e625a5ede99e0', 'hex') THEN -7
      WHEN "policy_engine_hash_2" < DECODE('60158151fe1d3560', 'hex') THEN -6
      WHEN "policy_engine_hash_2" < DECODE('65bcf7ad4df7e720', 'hex') THEN -5
      WHEN "policy_engine_hash_2" < DECODE('6b74f5310147ab50', 'hex') THEN -4
      WHEN "policy_engine_hash_2" < DECODE('713daa2d6d495d80', 'hex') THEN -3
      WHEN "policy_engine_hash_2" < DECODE('7717478021c9fc00', 'hex') THEN -2
      WHEN "policy_engine_hash_2" < DECODE('7d01fe9585fc12c0', 'hex') THEN -1
      WHEN "policy_engine_hash_2" < DECODE('82fe016a7a03ed40', 'hex') THEN 0
      WHEN "policy_engine_hash_2" < DECODE('88e8b87fde360400', 'hex') THEN 1
      WHEN "policy_engine_hash_2" < DECODE('8ec255d292b6a280', 'hex') THEN 2
      WHEN "policy_engine_hash_2" < DECODE('948b0acefeb854b0', 'hex') THEN 3
      WHEN "policy_engine_hash_2" < DECODE('9a430852b20818e0', 'hex') THEN 4
      WHEN "policy_engine_hash_2" < DECODE('9fea7eae01e2caa0', 'hex') THEN 5
      WHEN "policy_engine_hash_2" < DECODE('a5819da5a1216620', 'hex') THEN 6
      WHEN "policy_engine_hash_2" < DECODE('ab08947433c99d50', 'hex') THEN 7
      WHEN "policy_engine_hash_2" < DECODE('b07f91cbde100f50', 'hex') THEN 8
      WHEN "policy_engine_hash_2" < DECODE('b5e6c3d7ced94db0', 'hex') THEN 9
      WHEN "policy_engine_hash_2" < DECODE('bb3e583dc5c6b440', 'hex') THEN 10
      WHEN "policy_engine_hash_2" < DECODE('c0867c1f94dbf2e0', 'hex') THEN 11
      WHEN "policy_engine_hash_2" < DECODE('c5bf5c1c9dca0320', 'hex') THEN 12
      WHEN "policy_engine_hash_2" < DECODE('cae924534aec1f30', 'hex') THEN 13
      WHEN "policy_engine_hash_2" < DECODE('d004006284032b10', 'hex') THEN 14
      WHEN "policy_engine_hash_2" < DECODE('d5101b6b1ebbdcd0', 'hex') THEN 15
      WHEN "policy_engine_hash_2" < DECODE('da0da0114b0bcdb0', 'hex') THEN 16
      WHEN "policy_engine_hash_2" < DECODE('defcb87dfb7179e0', 'hex') THEN 17
      WHEN "policy_engine_hash_2" < DECODE('e3dd8e60492312b0', 'hex') THEN 18
      WHEN "policy_engine_hash_2" < DECODE('e8b04aeed437e490', 'hex') THEN 19
      WHEN "policy_engine_hash_2" < DECODE('ed7516e91fd7ef80', 'hex') THEN 20
      WHEN "policy_engine_hash_2" < DECODE('f22c1a98ea7d3040', 'hex') THEN 21
      WHEN "policy_engine_hash_2" < DECODE('f6d57dd38251f5d0', 'hex') THEN 22
      WHEN "policy_engine_hash_2" < DECODE('fb7167fb15b77fe0', 'hex') THEN 23
      ELSE 24
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
WHERE policy_engine_n >= 4
ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
