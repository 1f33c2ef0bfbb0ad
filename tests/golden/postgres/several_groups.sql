-- policy: golden
-- digest: sha256:1211b660e79f8d8c302077099876a00893e49bb778e6abdbe2aba5b8315b324f
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
      WHEN "income" IS NULL OR "income" = CAST('NaN' AS DECIMAL) THEN NULL
      WHEN CAST("income" AS DOUBLE PRECISION) <= 0 THEN 0
      WHEN CAST("income" AS DOUBLE PRECISION) >= 40 THEN 4
      WHEN ABS(CAST("income" AS DOUBLE PRECISION)) < 1 THEN 0
      ELSE CAST(FLOOR(ABS(CAST("income" AS DOUBLE PRECISION)) / 10) + CASE WHEN ABS(CAST("income" AS DOUBLE PRECISION)) / 10 - FLOOR(ABS(CAST("income" AS DOUBLE PRECISION)) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE PRECISION) < 0 THEN -1 ELSE 1 END
    END AS "policy_engine_value_2",
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" <= -1000000000 THEN -1000000000
      WHEN "age" >= 1000000000 THEN 1000000000
      ELSE CAST("age" AS BIGINT)
    END AS "policy_engine_value_3",
    "person" AS policy_engine_unit
  FROM people
), gathered AS MATERIALIZED (
  SELECT "age", "born", policy_engine_unit, COUNT(*) AS policy_engine_rows,
CAST(SUM("policy_engine_value_2") AS BIGINT) AS "policy_engine_value_2", COUNT("policy_engine_value_2") AS "policy_engine_many_2",
CASE WHEN SUM("policy_engine_value_3") <= 0 * COUNT("policy_engine_value_3") THEN 0 WHEN SUM("policy_engine_value_3") >= 100 * COUNT("policy_engine_value_3") THEN 100 ELSE 0 + (2 * (CAST(SUM("policy_engine_value_3") AS BIGINT) - 0 * COUNT("policy_engine_value_3")) + COUNT("policy_engine_value_3")) / (2 * CASE WHEN COUNT("policy_engine_value_3") = 0 THEN 1 ELSE COUNT("policy_engine_value_3") END) END AS "policy_engine_value_3",
    CASE WHEN COUNT(*) > 3 THEN 3 ELSE COUNT(*) END AS "policy_engine_many_1"

  FROM recoded
  GROUP BY "age", "born", policy_engine_unit
), crowded AS NOT MATERIALIZED (
  SELECT policy_engine_unit AS policy_engine_many
  FROM gathered
  WHERE policy_engine_rows > 3
  GROUP BY policy_engine_unit
), lined AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_value_3",
    COUNT(*) OVER (PARTITION BY policy_engine_unit, "age", "born") AS policy_engine_rows,
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, "age", "born" ORDER BY "policy_engine_value_2" NULLS LAST, "policy_engine_value_3" NULLS LAST) AS policy_engine_place
  FROM recoded JOIN crowded ON policy_engine_many = policy_engine_unit
), ranked AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_value_3",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, "age", "born" ORDER BY pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':r:' || CAST(policy_engine_unit AS TEXT) || ':' || CAST(policy_engine_place AS TEXT), 'UTF8')), policy_engine_place) AS policy_engine_rank
  FROM lined
  WHERE policy_engine_rows > 3
), trimmed AS MATERIALIZED (
  SELECT "age", "born", policy_engine_unit,
CAST(SUM(CASE WHEN policy_engine_rank <= 3 THEN "policy_engine_value_2" END) AS BIGINT) AS "policy_engine_value_2", COUNT(CASE WHEN policy_engine_rank <= 3 THEN "policy_engine_value_2" END) AS "policy_engine_many_2",
CASE WHEN SUM("policy_engine_value_3") <= 0 * COUNT("policy_engine_value_3") THEN 0 WHEN SUM("policy_engine_value_3") >= 100 * COUNT("policy_engine_value_3") THEN 100 ELSE 0 + (2 * (CAST(SUM("policy_engine_value_3") AS BIGINT) - 0 * COUNT("policy_engine_value_3")) + COUNT("policy_engine_value_3")) / (2 * CASE WHEN COUNT("policy_engine_value_3") = 0 THEN 1 ELSE COUNT("policy_engine_value_3") END) END AS "policy_engine_value_3",
    CASE WHEN COUNT(*) > 3 THEN 3 ELSE COUNT(*) END AS "policy_engine_many_1"

  FROM ranked
  GROUP BY "age", "born", policy_engine_unit
), found AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"
  FROM (
    SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"
    FROM gathered
    WHERE policy_engine_rows <= 3
    UNION ALL
    SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"
    FROM trimmed
  ) AS policy_engine_given
), beyond AS MATERIALIZED (
  SELECT policy_engine_unit AS policy_engine_many
  FROM found
  GROUP BY policy_engine_unit
  HAVING COUNT(*) > 2
), placed AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS policy_engine_place
  FROM found JOIN beyond ON policy_engine_many = policy_engine_unit
), chosen AS NOT MATERIALIZED (
  SELECT "age", "born", "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':o:' || CAST(policy_engine_unit AS TEXT) || ':' || CAST(policy_engine_place AS TEXT), 'UTF8')), policy_engine_place) AS policy_engine_rank
  FROM placed
), within AS NOT MATERIALIZED (
  SELECT "age", "born", "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"

  FROM found LEFT JOIN beyond ON policy_engine_many = policy_engine_unit
  WHERE policy_engine_many IS NULL
  UNION ALL
  SELECT "age", "born", "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"

  FROM chosen
  WHERE policy_engine_rank <= 2
), grouped AS NOT MATERIALIZED (
  SELECT "age", "born", COUNT(*) AS policy_engine_people,
    CAST(SUM("policy_engine_many_1") AS BIGINT) AS "policy_engine_total_1",
    CAST(SUM("policy_engine_many_2") AS BIGINT) AS "policy_engine_total_2",
    COALESCE(CAST(SUM("policy_engine_value_2") AS BIGINT), 0) - 2 * CAST(SUM("policy_engine_many_2") AS BIGINT) AS "policy_engine_total_3",
    COUNT("policy_engine_value_3") AS "policy_engine_total_4",
    COALESCE(CAST(SUM("policy_engine_value_3") AS BIGINT), 0) - 50 * COUNT("policy_engine_value_3") AS "policy_engine_total_5"
  FROM within
  GROUP BY "age", "born"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people, "policy_engine_total_1", "policy_engine_total_2", "policy_engine_total_3", "policy_engine_total_4", "policy_engine_total_5",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:1:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_1",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:2:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_2",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:3:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_3",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:4:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_4",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:5:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_5"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < DECODE('0c26f8e2485122f0', 'hex') THEN -5
      WHEN policy_engine_hash < DECODE('1bc4221d24ffbe40', 'hex') THEN -4
      WHEN policy_engine_hash < DECODE('2fd3ec123bc2f6f0', 'hex') THEN -3
      WHEN policy_engine_hash < DECODE('499aaffb9f683880', 'hex') THEN -2
      WHEN policy_engine_hash < DECODE('6ab92bd9533ee9e0', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('9546d426acc11620', 'hex') THEN 0
      WHEN policy_engine_hash < DECODE('b66550046097c780', 'hex') THEN 1
      WHEN policy_engine_hash < DECODE('d02c13edc43d0910', 'hex') THEN 2
      WHEN policy_engine_hash < DECODE('e43bdde2db0041c0', 'hex') THEN 3
      WHEN policy_engine_hash < DECODE('f3d9071db7aedd10', 'hex') THEN 4
      WHEN policy_engine_hash IS NOT NULL THEN 5
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < DECODE('183b9fc6f9e56b00', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('02e08948f9f98310', 'hex') THEN -34
      WHEN "policy_engine_hash_1" < DECODE('05cbde849cc92a60', 'hex') THEN -33
      WHEN "policy_engine_hash_1" < DECODE('08c22836fb1cce40', 'hex') THEN -32
      WHEN "policy_engine_hash_1" < DECODE('0bc38f7c322edd30', 'hex') THEN -31
      WHEN "policy_engine_hash_1" < DECODE('0ed03e0aa4544600', 'hex') THEN -30
      WHEN "policy_engine_hash_1" < DECODE('11e85e353be77620', 'hex') THEN -29
      WHEN "policy_engine_hash_1" < DECODE('150c1aedb6afcf10', 'hex') THEN -28
      WHEN "policy_engine_hash_1" IS NOT NULL THEN -27
    END
      WHEN "policy_engine_hash_1" < DECODE('33752f34e6c37340', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('1b7718f76ef18100', 'hex') THEN -26
      WHEN "policy_engine_hash_1" < DECODE('1ebeb35b690c31a0', 'hex') THEN -25
      WHEN "policy_engine_hash_1" < DECODE('22129c7793d90080', 'hex') THEN -24
      WHEN "policy_engine_hash_1" < DECODE('2573027b6b23bbe0', 'hex') THEN -23
      WHEN "policy_engine_hash_1" < DECODE('28e01443bbe01190', 'hex') THEN -22
      WHEN "policy_engine_hash_1" < DECODE('2c5a015d2e8e9240', 'hex') THEN -21
      WHEN "policy_engine_hash_1" < DECODE('2fe0fa06db2a6520', 'hex') THEN -20
      WHEN "policy_engine_hash_1" IS NOT NULL THEN -19
    END
      WHEN "policy_engine_hash_1" < DECODE('520b3f7135615b40', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('3716d2932ae95800', 'hex') THEN -18
      WHEN "policy_engine_hash_1" < DECODE('3ac61687e70bebc0', 'hex') THEN -17
      WHEN "policy_engine_hash_1" < DECODE('3e832e367bf6c890', 'hex') THEN -16
      WHEN "policy_engine_hash_1" < DECODE('424e4d82318db550', 'hex') THEN -15
      WHEN "policy_engine_hash_1" < DECODE('4627a91106f070f0', 'hex') THEN -14
      WHEN "policy_engine_hash_1" < DECODE('4a0f764e8d2ce8c0', 'hex') THEN -13
      WHEN "policy_engine_hash_1" < DECODE('4e05eb6ecca776f0', 'hex') THEN -12
      WHEN "policy_engine_hash_1" IS NOT NULL THEN -11
    END
      WHEN "policy_engine_hash_1" < DECODE('74680ea4b66785c0', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('561faa239a463630', 'hex') THEN -10
      WHEN "policy_engine_hash_1" < DECODE('5a43642537a9e8b0', 'hex') THEN -9
      WHEN "policy_engine_hash_1" < DECODE('5e76a6e9c520d550', 'hex') THEN -8
      WHEN "policy_engine_hash_1" < DECODE('62b9acbc92dd1d40', 'hex') THEN -7
      WHEN "policy_engine_hash_1" < DECODE('670cb0c3b2bc13f0', 'hex') THEN -6
      WHEN "policy_engine_hash_1" < DECODE('6b6fef032d2fc590', 'hex') THEN -5
      WHEN "policy_engine_hash_1" < DECODE('6fe3a46042311250', 'hex') THEN -4
      WHEN "policy_engine_hash_1" IS NOT NULL THEN -3
    END
      WHEN "policy_engine_hash_1" < DECODE('98f34f3c4d43ec10', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('78fd6c822cb4bcf0', 'hex') THEN -2
      WHEN "policy_engine_hash_1" < DECODE('7da3fd958c51d890', 'hex') THEN -1
      WHEN "policy_engine_hash_1" < DECODE('825c026a73ae2770', 'hex') THEN 0
      WHEN "policy_engine_hash_1" < DECODE('8702937dd34b4310', 'hex') THEN 1
      WHEN "policy_engine_hash_1" < DECODE('8b97f15b49987a40', 'hex') THEN 2
      WHEN "policy_engine_hash_1" < DECODE('901c5b9fbdceedb0', 'hex') THEN 3
      WHEN "policy_engine_hash_1" < DECODE('949010fcd2d03a70', 'hex') THEN 4
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 5
    END
      WHEN "policy_engine_hash_1" < DECODE('b9d856eef90f8f10', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('9d4653436d22e2c0', 'hex') THEN 6
      WHEN "policy_engine_hash_1" < DECODE('a18959163adf2ab0', 'hex') THEN 7
      WHEN "policy_engine_hash_1" < DECODE('a5bc9bdac8561750', 'hex') THEN 8
      WHEN "policy_engine_hash_1" < DECODE('a9e055dc65b9c9d0', 'hex') THEN 9
      WHEN "policy_engine_hash_1" < DECODE('adf4c08eca9ea4c0', 'hex') THEN 10
      WHEN "policy_engine_hash_1" < DECODE('b1fa149133588910', 'hex') THEN 11
      WHEN "policy_engine_hash_1" < DECODE('b5f089b172d31740', 'hex') THEN 12
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 13
    END
      WHEN "policy_engine_hash_1" < DECODE('d71febbc441fee70', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('bdb1b27dce724ab0', 'hex') THEN 14
      WHEN "policy_engine_hash_1" < DECODE('c17cd1c984093770', 'hex') THEN 15
      WHEN "policy_engine_hash_1" < DECODE('c539e97818f41440', 'hex') THEN 16
      WHEN "policy_engine_hash_1" < DECODE('c8e92d6cd516a800', 'hex') THEN 17
      WHEN "policy_engine_hash_1" < DECODE('cc8ad0cb193c8cc0', 'hex') THEN 18
      WHEN "policy_engine_hash_1" < DECODE('d01f05f924d59ae0', 'hex') THEN 19
      WHEN "policy_engine_hash_1" < DECODE('d3a5fea2d1716dc0', 'hex') THEN 20
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 21
    END
      WHEN "policy_engine_hash_1" < DECODE('f12fc1f55babba00', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('da8cfd8494dc4420', 'hex') THEN 22
      WHEN "policy_engine_hash_1" < DECODE('dded63886c26ff80', 'hex') THEN 23
      WHEN "policy_engine_hash_1" < DECODE('e1414ca496f3ce60', 'hex') THEN 24
      WHEN "policy_engine_hash_1" < DECODE('e488e708910e7f00', 'hex') THEN 25
      WHEN "policy_engine_hash_1" < DECODE('e7c46039061a9500', 'hex') THEN 26
      WHEN "policy_engine_hash_1" < DECODE('eaf3e512495030f0', 'hex') THEN 27
      WHEN "policy_engine_hash_1" < DECODE('ee17a1cac41889e0', 'hex') THEN 28
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 29
    END
      ELSE CASE
      WHEN "policy_engine_hash_1" < DECODE('f43c7083cdd122d0', 'hex') THEN 30
      WHEN "policy_engine_hash_1" < DECODE('f73dd7c904e331c0', 'hex') THEN 31
      WHEN "policy_engine_hash_1" < DECODE('fa34217b6336d5a0', 'hex') THEN 32
      WHEN "policy_engine_hash_1" < DECODE('fd1f76b706067cf0', 'hex') THEN 33
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 34
    END
    END AS "policy_engine_total_1",
    "policy_engine_total_2" + CASE
      WHEN "policy_engine_hash_2" < DECODE('183b9fc6f9e56b00', 'hex') THEN CASE
      WHEN "policy_engine_hash_2" < DECODE('02e08948f9f98310', 'hex') THEN -34
      WHEN "policy_engine_hash_2" < DECODE('05cbde849cc92a60', 'hex') THEN -33
      WHEN "policy_engine_hash_2" < DECODE('08c22836fb1cce40', 'hex') THEN -32
      WHEN "policy_engine_hash_2" < DECODE('0bc38f7c322edd30', 'hex') THEN -31
      WHEN "policy_engine_hash_2" < DECODE('0ed03e0aa4544600', 'hex') THEN -30
      WHEN "policy_engine_hash_2" < DECODE('11e85e353be77620', 'hex') THEN -29
      WHEN "policy_engine_hash_2" < DECODE('150c1aedb6afcf10', 'hex') THEN -28
      WHEN "policy_engine_hash_2" IS NOT NULL THEN -27
    END
      WHEN "policy_engine_hash_2" < DECODE('33752f34e6c37340', 'hex') THEN CASE
      WHEN "policy_engine_hash_2" < DECODE('1b7718f76ef18100', 'hex') THEN -26
      WHEN "policy_engine_hash_2" < DECODE('1ebeb35b690c31a0', 'hex') THEN -25
      WHEN "policy_engine_hash_2" < DECODE('22129c7793d90080', 'hex') THEN -24
      WHEN "policy_engine_hash_2" < DECODE('2573027b6b23bbe0', 'hex') THEN -23
      WHEN "policy_engine_hash_2" < DECODE('28e01443bbe01190', 'hex') THEN -22
      WHEN "policy_engine_hash_2" < DECODE('2c5a015d2e8e9240', 'hex') THEN -21
      WHEN "policy_engine_hash_2" < DECODE('2fe0fa06db2a6520', 'hex') THEN -20
      WHEN "policy_engine_hash_2" IS NOT NULL THEN -19
    END
      WHEN "policy_engine_hash_2" < DECODE('520b3f7135615b40', 'hex') THEN CASE
      WHEN "policy_engine_hash_2" < DECODE('3716d2932ae95800', 'hex') THEN -18
      WHEN "policy_engine_hash_2" < DECODE('3ac61687e70bebc0', 'hex') THEN -17
      WHEN "policy_engine_hash_2" < DECODE('3e832e367bf6c890', 'hex') THEN -16
      WHEN "policy_engine_hash_2" < DECODE('424e4d82318db550', 'hex') THEN -15
      WHEN "policy_engine_hash_2" < DECODE('4627a91106f070f0', 'hex') THEN -14
      WHEN "policy_engine_hash_2" < DECODE('4a0f764e8d2ce8c0', 'hex') THEN -13
      WHEN "policy_engine_hash_2" < DECODE('4e05eb6ecca776f0', 'hex') THEN -12
      WHEN "policy_engine_hash_2" IS NOT NULL THEN -11
    END
      WHEN "policy_engine_hash_2" < DECODE('74680ea4b66785c0', 'hex') THEN CASE
      WHEN "policy_engine_hash_2" < DECODE('561faa239a463630', 'hex') THEN -10
      WHEN "policy_engine_hash_2" < DECODE('5a43642537a9e8b0', 'hex') THEN -9
      WHEN "policy_engine_hash_2" < DECODE('5e76a6e9c520d550', 'hex') THEN -8
      WHEN "policy_engine_hash_2" < DECODE('62b9acbc92dd1d40', 'hex') THEN -7
      WHEN "policy_engine_hash_2" < DECODE('670cb0c3b2bc13f0', 'hex') THEN -6
      WHEN "policy_engine_hash_2" < DECODE('6b6fef032d2fc590', 'hex') THEN -5
      WHEN "policy_engine_hash_2" < DECODE('6fe3a46042311250', 'hex') THEN -4
      WHEN "policy_engine_hash_2" IS NOT NULL THEN -3
    END
      WHEN "policy_engine_hash_2" < DECODE('98f34f3c4d43ec10', 'hex') THEN CASE
      WHEN "policy_engine_hash_2" < DECODE('78fd6c822cb4bcf0', 'hex') THEN -2
      WHEN "policy_engine_hash_2" < DECODE('7da3fd958c51d890', 'hex') THEN -1
      WHEN "policy_engine_hash_2" < DECODE('825c026a73ae2770', 'hex') THEN 0
      WHEN "policy_engine_hash_2" < DECODE('8702937dd34b4310', 'hex') THEN 1
      WHEN "policy_engine_hash_2" < DECODE('8b97f15b49987a40', 'hex') THEN 2
      WHEN "policy_engine_hash_2" < DECODE('901c5b9fbdceedb0', 'hex') THEN 3
      WHEN "policy_engine_hash_2" < DECODE('949010fcd2d03a70', 'hex') THEN 4
      WHEN "policy_engine_hash_2" IS NOT NULL THEN 5
    END
      WHEN "policy_engine_hash_2" < DECODE('b9d856eef90f8f10', 'hex') THEN CASE
      WHEN "policy_engine_hash_2" < DECODE('9d4653436d22e2c0', 'hex') THEN 6
      WHEN "policy_engine_hash_2" < DECODE('a18959163adf2ab0', 'hex') THEN 7
      WHEN "policy_engine_hash_2" < DECODE('a5bc9bdac8561750', 'hex') THEN 8
      WHEN "policy_engine_hash_2" < DECODE('a9e055dc65b9c9d0', 'hex') THEN 9
      WHEN "policy_engine_hash_2" < DECODE('adf4c08eca9ea4c0', 'hex') THEN 10
      WHEN "policy_engine_hash_2" < DECODE('b1fa149133588910', 'hex') THEN 11
      WHEN "policy_engine_hash_2" < DECODE('b5f089b172d31740', 'hex') THEN 12
      WHEN "policy_engine_hash_2" IS NOT NULL THEN 13
    END
      WHEN "policy_engine_hash_2" < DECODE('d71febbc441fee70', 'hex') THEN CASE
      WHEN "policy_engine_hash_2" < DECODE('bdb1b27dce724ab0', 'hex') THEN 14
      WHEN "policy_engine_hash_2" < DECODE('c17cd1c984093770', 'hex') THEN 15
      WHEN "policy_engine_hash_2" < DECODE('c539e97818f41440', 'hex') THEN 16
      WHEN "policy_engine_hash_2" < DECODE('c8e92d6cd516a800', 'hex') THEN 17
      WHEN "policy_engine_hash_2" < DECODE('cc8ad0cb193c8cc0', 'hex') THEN 18
      WHEN "policy_engine_hash_2" < DECODE('d01f05f924d59ae0', 'hex') THEN 19
      WHEN "policy_engine_hash_2" < DECODE('d3a5fea2d1716dc0', 'hex') THEN 20
      WHEN "policy_engine_hash_2" IS NOT NULL THEN 21
    END
      WHEN "policy_engine_hash_2" < DECODE('f12fc1f55babba00', 'hex') THEN CASE
      WHEN "policy_engine_hash_2" < DECODE('da8cfd8494dc4420', 'hex') THEN 22
      WHEN "policy_engine_hash_2" < DECODE('dded63886c26ff80', 'hex') THEN 23
      WHEN "policy_engine_hash_2" < DECODE('e1414ca496f3ce60', 'hex') THEN 24
      WHEN "policy_engine_hash_2" < DECODE('e488e708910e7f00', 'hex') THEN 25
      WHEN "policy_engine_hash_2" < DECODE('e7c46039061a9500', 'hex') THEN 26
      WHEN "policy_engine_hash_2" < DECODE('eaf3e512495030f0', 'hex') THEN 27
      WHEN "policy_engine_hash_2" < DECODE('ee17a1cac41889e0', 'hex') THEN 28
      WHEN "policy_engine_hash_2" IS NOT NULL THEN 29
    END
      ELSE CASE
      WHEN "policy_engine_hash_2" < DECODE('f43c7083cdd122d0', 'hex') THEN 30
      WHEN "policy_engine_hash_2" < DECODE('f73dd7c904e331c0', 'hex') THEN 31
      WHEN "policy_engine_hash_2" < DECODE('fa34217b6336d5a0', 'hex') THEN 32
      WHEN "policy_engine_hash_2" < DECODE('fd1f76b706067cf0', 'hex') THEN 33
      WHEN "policy_engine_hash_2" IS NOT NULL THEN 34
    END
    END AS "policy_engine_total_2",
    "policy_engine_total_3" + CASE
      WHEN "policy_engine_hash_3" < DECODE('1a0784f03ce9f260', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('032be1ff14b29570', 'hex') THEN -35
      WHEN "policy_engine_hash_3" < DECODE('065db1cc6d406980', 'hex') THEN -34
      WHEN "policy_engine_hash_3" < DECODE('09957a7d8ef352b0', 'hex') THEN -33
      WHEN "policy_engine_hash_3" < DECODE('0cd3473cb7cba340', 'hex') THEN -32
      WHEN "policy_engine_hash_3" < DECODE('10172349053d42e0', 'hex') THEN -31
      WHEN "policy_engine_hash_3" < DECODE('136119f69b353470', 'hex') THEN -30
      WHEN "policy_engine_hash_3" < DECODE('16b136aecb680f00', 'hex') THEN -29
      WHEN "policy_engine_hash_3" IS NOT NULL THEN -28
    END
      WHEN "policy_engine_hash_3" < DECODE('359e6da3c8972270', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('1d64104f14108110', 'hex') THEN -27
      WHEN "policy_engine_hash_3" < DECODE('20c6e4751a9f6930', 'hex') THEN -26
      WHEN "policy_engine_hash_3" < DECODE('24300d21e84008a0', 'hex') THEN -25
      WHEN "policy_engine_hash_3" < DECODE('279f962b0b44b830', 'hex') THEN -24
      WHEN "policy_engine_hash_3" < DECODE('2b158b7c31b84b60', 'hex') THEN -23
      WHEN "policy_engine_hash_3" < DECODE('2e91f91752ba5390', 'hex') THEN -22
      WHEN "policy_engine_hash_3" < DECODE('3214eb14d828b590', 'hex') THEN -21
      WHEN "policy_engine_hash_3" IS NOT NULL THEN -20
    END
      WHEN "policy_engine_hash_3" < DECODE('52dcaa435701b360', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('392e8d09f1950520', 'hex') THEN -19
      WHEN "policy_engine_hash_3" < DECODE('3cc555a4124277a0', 'hex') THEN -18
      WHEN "policy_engine_hash_3" < DECODE('4062d3e60634d330', 'hex') THEN -17
      WHEN "policy_engine_hash_3" < DECODE('4407145af0ab70e0', 'hex') THEN -16
      WHEN "policy_engine_hash_3" < DECODE('47b223a568152fa0', 'hex') THEN -15
      WHEN "policy_engine_hash_3" < DECODE('4b640e7fa1e757b0', 'hex') THEN -14
      WHEN "policy_engine_hash_3" < DECODE('4f1ce1bb9ec672f0', 'hex') THEN -13
      WHEN "policy_engine_hash_3" IS NOT NULL THEN -12
    END
      WHEN "policy_engine_hash_3" < DECODE('71db9a44e836c120', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('56a37518e7618280', 'hex') THEN -11
      WHEN "policy_engine_hash_3" < DECODE('5a714f56be49d480', 'hex') THEN -10
      WHEN "policy_engine_hash_3" < DECODE('5e46462fc930dc50', 'hex') THEN -9
      WHEN "policy_engine_hash_3" < DECODE('622266efa26abdf0', 'hex') THEN -8
      WHEN "policy_engine_hash_3" < DECODE('6605befabf4ade40', 'hex') THEN -7
      WHEN "policy_engine_hash_3" < DECODE('69f05bce9e9b7020', 'hex') THEN -6
      WHEN "policy_engine_hash_3" < DECODE('6de24b01f76be020', 'hex') THEN -5
      WHEN "policy_engine_hash_3" IS NOT NULL THEN -4
    END
      WHEN "policy_engine_hash_3" < DECODE('921db4fe08941fe0', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('75dc5761265fdda0', 'hex') THEN -3
      WHEN "policy_engine_hash_3" < DECODE('79e4903a2e0b1280', 'hex') THEN -2
      WHEN "policy_engine_hash_3" < DECODE('7df452cd724c9900', 'hex') THEN -1
      WHEN "policy_engine_hash_3" < DECODE('820bad328db36700', 'hex') THEN 0
      WHEN "policy_engine_hash_3" < DECODE('861b6fc5d1f4ed80', 'hex') THEN 1
      WHEN "policy_engine_hash_3" < DECODE('8a23a89ed9a02260', 'hex') THEN 2
      WHEN "policy_engine_hash_3" < DECODE('8e2465bb17c93ee0', 'hex') THEN 3
      WHEN "policy_engine_hash_3" IS NOT NULL THEN 4
    END
      WHEN "policy_engine_hash_3" < DECODE('b0e31e4461398d10', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('960fa43161648fe0', 'hex') THEN 5
      WHEN "policy_engine_hash_3" < DECODE('99fa410540b521c0', 'hex') THEN 6
      WHEN "policy_engine_hash_3" < DECODE('9ddd99105d954210', 'hex') THEN 7
      WHEN "policy_engine_hash_3" < DECODE('a1b9b9d036cf23b0', 'hex') THEN 8
      WHEN "policy_engine_hash_3" < DECODE('a58eb0a941b62b80', 'hex') THEN 9
      WHEN "policy_engine_hash_3" < DECODE('a95c8ae7189e7d80', 'hex') THEN 10
      WHEN "policy_engine_hash_3" < DECODE('ad2355bca8fe4ca0', 'hex') THEN 11
      WHEN "policy_engine_hash_3" IS NOT NULL THEN 12
    END
      WHEN "policy_engine_hash_3" < DECODE('cdeb14eb27d74a70', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('b49bf1805e18a850', 'hex') THEN 13
      WHEN "policy_engine_hash_3" < DECODE('b84ddc5a97ead060', 'hex') THEN 14
      WHEN "policy_engine_hash_3" < DECODE('bbf8eba50f548f20', 'hex') THEN 15
      WHEN "policy_engine_hash_3" < DECODE('bf9d2c19f9cb2cd0', 'hex') THEN 16
      WHEN "policy_engine_hash_3" < DECODE('c33aaa5bedbd8860', 'hex') THEN 17
      WHEN "policy_engine_hash_3" < DECODE('c6d172f60e6afae0', 'hex') THEN 18
      WHEN "policy_engine_hash_3" < DECODE('ca61925c3768dd90', 'hex') THEN 19
      WHEN "policy_engine_hash_3" IS NOT NULL THEN 20
    END
      WHEN "policy_engine_hash_3" < DECODE('e94ec9513497f100', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('d16e06e8ad45ac70', 'hex') THEN 21
      WHEN "policy_engine_hash_3" < DECODE('d4ea7483ce47b4a0', 'hex') THEN 22
      WHEN "policy_engine_hash_3" < DECODE('d86069d4f4bb47d0', 'hex') THEN 23
      WHEN "policy_engine_hash_3" < DECODE('dbcff2de17bff760', 'hex') THEN 24
      WHEN "policy_engine_hash_3" < DECODE('df391b8ae56096d0', 'hex') THEN 25
      WHEN "policy_engine_hash_3" < DECODE('e29befb0ebef7ef0', 'hex') THEN 26
      WHEN "policy_engine_hash_3" < DECODE('e5f87b0fc3160da0', 'hex') THEN 27
      WHEN "policy_engine_hash_3" IS NOT NULL THEN 28
    END
      ELSE CASE
      WHEN "policy_engine_hash_3" < DECODE('ec9ee60964cacb90', 'hex') THEN 29
      WHEN "policy_engine_hash_3" < DECODE('efe8dcb6fac2bd20', 'hex') THEN 30
      WHEN "policy_engine_hash_3" < DECODE('f32cb8c348345cc0', 'hex') THEN 31
      WHEN "policy_engine_hash_3" < DECODE('f66a8582710cad50', 'hex') THEN 32
      WHEN "policy_engine_hash_3" < DECODE('f9a24e3392bf9680', 'hex') THEN 33
      WHEN "policy_engine_hash_3" < DECODE('fcd41e00eb4d6a90', 'hex') THEN 34
      WHEN "policy_engine_hash_3" IS NOT NULL THEN 35
    END
    END AS "policy_engine_total_3",
    "policy_engine_total_4" + CASE
      WHEN "policy_engine_hash_4" < DECODE('10207605acb66a90', 'hex') THEN CASE
      WHEN "policy_engine_hash_4" < DECODE('01b8b99f13f40a80', 'hex') THEN -33
      WHEN "policy_engine_hash_4" < DECODE('03851df6a564cb50', 'hex') THEN -32
      WHEN "policy_engine_hash_4" < DECODE('05660db1f3a119c0', 'hex') THEN -31
      WHEN "policy_engine_hash_4" < DECODE('075c7382cc2450f0', 'hex') THEN -30
      WHEN "policy_engine_hash_4" < DECODE('0969449412338070', 'hex') THEN -29
      WHEN "policy_engine_hash_4" < DECODE('0b8d810162d5b8f0', 'hex') THEN -28
      WHEN "policy_engine_hash_4" < DECODE('0dca34540f89bfc0', 'hex') THEN -27
      WHEN "policy_engine_hash_4" IS NOT NULL THEN -26
    END
      WHEN "policy_engine_hash_4" < DECODE('26feaa639e411a80', 'hex') THEN CASE
      WHEN "policy_engine_hash_4" < DECODE('12916a08738b9ec0', 'hex') THEN -25
      WHEN "policy_engine_hash_4" < DECODE('151e4155b9e1bf50', 'hex') THEN -24
      WHEN "policy_engine_hash_4" < DECODE('17c83a82c59da070', 'hex') THEN -23
      WHEN "policy_engine_hash_4" < DECODE('1a90a25c44394f50', 'hex') THEN -22
      WHEN "policy_engine_hash_4" < DECODE('1d78d488b24fa730', 'hex') THEN -21
      WHEN "policy_engine_hash_4" < DECODE('20823c32026b5ac0', 'hex') THEN -20
      WHEN "policy_engine_hash_4" < DECODE('23ae54b6d5e37560', 'hex') THEN -19
      WHEN "policy_engine_hash_4" IS NOT NULL THEN -18
    END
      WHEN "policy_engine_hash_4" < DECODE('476bfe79d8075750', 'hex') THEN CASE
      WHEN "policy_engine_hash_4" < DECODE('2a74db3401863f90', 'hex') THEN -17
      WHEN "policy_engine_hash_4" < DECODE('2e12979cdfb52a00', 'hex') THEN -16
      WHEN "policy_engine_hash_4" < DECODE('31d9a35f5c2e9580', 'hex') THEN -15
      WHEN "policy_engine_hash_4" < DECODE('35cbd66551e29d30', 'hex') THEN -14
      WHEN "policy_engine_hash_4" < DECODE('39eb1da79de8fb00', 'hex') THEN -13
      WHEN "policy_engine_hash_4" < DECODE('3e397c1eb0e22780', 'hex') THEN -12
      WHEN "policy_engine_hash_4" < DECODE('42b90bbddc86b4c0', 'hex') THEN -11
      WHEN "policy_engine_hash_4" IS NOT NULL THEN -10
    END
      WHEN "policy_engine_hash_4" < DECODE('75675f391b30b0d0', 'hex') THEN CASE
      WHEN "policy_engine_hash_4" < DECODE('4c549f5afb5901c0', 'hex') THEN -9
      WHEN "policy_engine_hash_4" < DECODE('5175539bb73fed10', 'hex') THEN -8
      WHEN "policy_engine_hash_4" < DECODE('56d09bd3d5e52b90', 'hex') THEN -7
      WHEN "policy_engine_hash_4" < DECODE('5c69153115ff5f80', 'hex') THEN -6
      WHEN "policy_engine_hash_4" < DECODE('62417abdb91b6ea0', 'hex') THEN -5
      WHEN "policy_engine_hash_4" < DECODE('685ca6b5a460bb70', 'hex') THEN -4
      WHEN "policy_engine_hash_4" < DECODE('6ebd93eaba48e350', 'hex') THEN -3
      WHEN "policy_engine_hash_4" IS NOT NULL THEN -2
    END
      WHEN "policy_engine_hash_4" < DECODE('a92f642c2a1ad470', 'hex') THEN CASE
      WHEN "policy_engine_hash_4" < DECODE('7c5d490c026a7f40', 'hex') THEN -1
      WHEN "policy_engine_hash_4" < DECODE('83a2b6f3fd9580c0', 'hex') THEN 0
      WHEN "policy_engine_hash_4" < DECODE('8a98a0c6e4cf4f30', 'hex') THEN 1
      WHEN "policy_engine_hash_4" < DECODE('91426c1545b71cb0', 'hex') THEN 2
      WHEN "policy_engine_hash_4" < DECODE('97a3594a5b9f4490', 'hex') THEN 3
      WHEN "policy_engine_hash_4" < DECODE('9dbe854246e49160', 'hex') THEN 4
      WHEN "policy_engine_hash_4" < DECODE('a396eaceea00a080', 'hex') THEN 5
      WHEN "policy_engine_hash_4" IS NOT NULL THEN 6
    END
      WHEN "policy_engine_hash_4" < DECODE('ce265ca0a3d16a80', 'hex') THEN CASE
      WHEN "policy_engine_hash_4" < DECODE('ae8aac6448c012f0', 'hex') THEN 7
      WHEN "policy_engine_hash_4" < DECODE('b3ab60a504a6fe40', 'hex') THEN 8
      WHEN "policy_engine_hash_4" < DECODE('b894018627f8a8b0', 'hex') THEN 9
      WHEN "policy_engine_hash_4" < DECODE('bd46f44223794b40', 'hex') THEN 10
      WHEN "policy_engine_hash_4" < DECODE('c1c683e14f1dd880', 'hex') THEN 11
      WHEN "policy_engine_hash_4" < DECODE('c614e25862170500', 'hex') THEN 12
      WHEN "policy_engine_hash_4" < DECODE('ca34299aae1d62d0', 'hex') THEN 13
      WHEN "policy_engine_hash_4" IS NOT NULL THEN 14
    END
      WHEN "policy_engine_hash_4" < DECODE('e837c57d3a625f90', 'hex') THEN CASE
      WHEN "policy_engine_hash_4" < DECODE('d1ed6863204ad600', 'hex') THEN 15
      WHEN "policy_engine_hash_4" < DECODE('d58b24cbfe79c070', 'hex') THEN 16
      WHEN "policy_engine_hash_4" < DECODE('d901559c61bee580', 'hex') THEN 17
      WHEN "policy_engine_hash_4" < DECODE('dc51ab492a1c8aa0', 'hex') THEN 18
      WHEN "policy_engine_hash_4" < DECODE('df7dc3cdfd94a540', 'hex') THEN 19
      WHEN "policy_engine_hash_4" < DECODE('e2872b774db058d0', 'hex') THEN 20
      WHEN "policy_engine_hash_4" < DECODE('e56f5da3bbc6b0b0', 'hex') THEN 21
      WHEN "policy_engine_hash_4" IS NOT NULL THEN 22
    END
      WHEN "policy_engine_hash_4" < DECODE('fa99f24e0c5ee640', 'hex') THEN CASE
      WHEN "policy_engine_hash_4" < DECODE('eae1beaa461e40b0', 'hex') THEN 23
      WHEN "policy_engine_hash_4" < DECODE('ed6e95f78c746140', 'hex') THEN 24
      WHEN "policy_engine_hash_4" < DECODE('efdf89fa53499570', 'hex') THEN 25
      WHEN "policy_engine_hash_4" < DECODE('f235cbabf0764040', 'hex') THEN 26
      WHEN "policy_engine_hash_4" < DECODE('f4727efe9d2a4710', 'hex') THEN 27
      WHEN "policy_engine_hash_4" < DECODE('f696bb6bedcc7f90', 'hex') THEN 28
      WHEN "policy_engine_hash_4" < DECODE('f8a38c7d33dbaf10', 'hex') THEN 29
      WHEN "policy_engine_hash_4" IS NOT NULL THEN 30
    END
      ELSE CASE
      WHEN "policy_engine_hash_4" < DECODE('fc7ae2095a9b34b0', 'hex') THEN 31
      WHEN "policy_engine_hash_4" < DECODE('fe474660ec0bf580', 'hex') THEN 32
      WHEN "policy_engine_hash_4" IS NOT NULL THEN 33
    END
    END AS "policy_engine_total_4",
    "policy_engine_total_5" - "policy_engine_total_5" % 5 + CAST(5 AS BIGINT) * CASE
      WHEN "policy_engine_hash_5" < DECODE('1993767877133f70', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('0325fb638a9af120', 'hex') THEN -37
      WHEN "policy_engine_hash_5" < DECODE('064f7d86b90e2480', 'hex') THEN -36
      WHEN "policy_engine_hash_5" < DECODE('097c8a5cad690650', 'hex') THEN -35
      WHEN "policy_engine_hash_5" < DECODE('0cad25dcf642bd70', 'hex') THEN -34
      WHEN "policy_engine_hash_5" < DECODE('0fe1540393aeac50', 'hex') THEN -33
      WHEN "policy_engine_hash_5" < DECODE('131918d0fc367e30', 'hex') THEN -32
      WHEN "policy_engine_hash_5" < DECODE('1654784a21d9c770', 'hex') THEN -31
      WHEN "policy_engine_hash_5" IS NOT NULL THEN -30
    END
      WHEN "policy_engine_hash_5" < DECODE('340fa3b0c844a540', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('1cd61769f3e399a0', 'hex') THEN -29
      WHEN "policy_engine_hash_5" < DECODE('201c5f311ae204a0', 'hex') THEN -28
      WHEN "policy_engine_hash_5" < DECODE('236651e4fe525550', 'hex') THEN -27
      WHEN "policy_engine_hash_5" < DECODE('26b3f3a14540e4b0', 'hex') THEN -26
      WHEN "policy_engine_hash_5" < DECODE('2a05488630a42640', 'hex') THEN -25
      WHEN "policy_engine_hash_5" < DECODE('2d5a54b8a083fe20', 'hex') THEN -24
      WHEN "policy_engine_hash_5" < DECODE('30b31c621926dc70', 'hex') THEN -23
      WHEN "policy_engine_hash_5" IS NOT NULL THEN -22
    END
      WHEN "policy_engine_hash_5" < DECODE('4f7ccd1a019f9e30', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('376feed78a3f6b20', 'hex') THEN -21
      WHEN "policy_engine_hash_5" < DECODE('3ad4020def6202c0', 'hex') THEN -20
      WHEN "policy_engine_hash_5" < DECODE('3e3be19041247670', 'hex') THEN -19
      WHEN "policy_engine_hash_5" < DECODE('41a7919f87766020', 'hex') THEN -18
      WHEN "policy_engine_hash_5" < DECODE('451716818e0f3000', 'hex') THEN -17
      WHEN "policy_engine_hash_5" < DECODE('488a7480e9c46700', 'hex') THEN -16
      WHEN "policy_engine_hash_5" < DECODE('4c01afecfde5cb50', 'hex') THEN -15
      WHEN "policy_engine_hash_5" IS NOT NULL THEN -14
    END
      WHEN "policy_engine_hash_5" < DECODE('6be3836798418b40', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('52fbd0610562d910', 'hex') THEN -13
      WHEN "policy_engine_hash_5" < DECODE('567ebe1ff8537950', 'hex') THEN -12
      WHEN "policy_engine_hash_5" < DECODE('5a059ab9adbce140', 'hex') THEN -11
      WHEN "policy_engine_hash_5" < DECODE('5d906a95e28c5500', 'hex') THEN -10
      WHEN "policy_engine_hash_5" < DECODE('611f322142d19a50', 'hex') THEN -9
      WHEN "policy_engine_hash_5" < DECODE('64b1f5cd6f45c240', 'hex') THEN -8
      WHEN "policy_engine_hash_5" < DECODE('6848ba1102d82350', 'hex') THEN -7
      WHEN "policy_engine_hash_5" IS NOT NULL THEN -6
    END
      WHEN "policy_engine_hash_5" < DECODE('8933d5031eafe840', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('6f825651cf9daf70', 'hex') THEN -5
      WHEN "policy_engine_hash_5" < DECODE('73253755540ae2b0', 'hex') THEN -4
      WHEN "policy_engine_hash_5" < DECODE('76cc2afce15017c0', 'hex') THEN -3
      WHEN "policy_engine_hash_5" < DECODE('7a7735d849893780', 'hex') THEN -2
      WHEN "policy_engine_hash_5" < DECODE('7e265c7c7ad9d170', 'hex') THEN -1
      WHEN "policy_engine_hash_5" < DECODE('81d9a38385262e90', 'hex') THEN 0
      WHEN "policy_engine_hash_5" < DECODE('8588ca27b676c880', 'hex') THEN 1
      WHEN "policy_engine_hash_5" IS NOT NULL THEN 2
    END
      WHEN "policy_engine_hash_5" < DECODE('a5fa654652431ec0', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('8cdac8aaabf51d50', 'hex') THEN 3
      WHEN "policy_engine_hash_5" < DECODE('907da9ae30625090', 'hex') THEN 4
      WHEN "policy_engine_hash_5" < DECODE('941c7c9867be74c0', 'hex') THEN 5
      WHEN "policy_engine_hash_5" < DECODE('97b745eefd27dcb0', 'hex') THEN 6
      WHEN "policy_engine_hash_5" < DECODE('9b4e0a3290ba3dc0', 'hex') THEN 7
      WHEN "policy_engine_hash_5" < DECODE('9ee0cddebd2e65b0', 'hex') THEN 8
      WHEN "policy_engine_hash_5" < DECODE('a26f956a1d73ab00', 'hex') THEN 9
      WHEN "policy_engine_hash_5" IS NOT NULL THEN 10
    END
      WHEN "policy_engine_hash_5" < DECODE('c1c41e6fbedb8990', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('a98141e007ac86b0', 'hex') THEN 11
      WHEN "policy_engine_hash_5" < DECODE('ad042f9efa9d26f0', 'hex') THEN 12
      WHEN "policy_engine_hash_5" < DECODE('b08332e5fe6061d0', 'hex') THEN 13
      WHEN "policy_engine_hash_5" < DECODE('b3fe5013021a34b0', 'hex') THEN 14
      WHEN "policy_engine_hash_5" < DECODE('b7758b7f163b9900', 'hex') THEN 15
      WHEN "policy_engine_hash_5" < DECODE('bae8e97e71f0d000', 'hex') THEN 16
      WHEN "policy_engine_hash_5" < DECODE('be586e6078899fe0', 'hex') THEN 17
      WHEN "policy_engine_hash_5" IS NOT NULL THEN 18
    END
      WHEN "policy_engine_hash_5" < DECODE('dc99ae1b01adaab0', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('c52bfdf2109dfd40', 'hex') THEN 19
      WHEN "policy_engine_hash_5" < DECODE('c890112875c094e0', 'hex') THEN 20
      WHEN "policy_engine_hash_5" < DECODE('cbf05c4f37bb5ac0', 'hex') THEN 21
      WHEN "policy_engine_hash_5" < DECODE('cf4ce39de6d92390', 'hex') THEN 22
      WHEN "policy_engine_hash_5" < DECODE('d2a5ab475f7c01e0', 'hex') THEN 23
      WHEN "policy_engine_hash_5" < DECODE('d5fab779cf5bd9c0', 'hex') THEN 24
      WHEN "policy_engine_hash_5" < DECODE('d94c0c5ebabf1b50', 'hex') THEN 25
      WHEN "policy_engine_hash_5" IS NOT NULL THEN 26
    END
      WHEN "policy_engine_hash_5" < DECODE('f68375a35296f9b0', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('dfe3a0cee51dfb60', 'hex') THEN 27
      WHEN "policy_engine_hash_5" < DECODE('e329e8960c1c6660', 'hex') THEN 28
      WHEN "policy_engine_hash_5" < DECODE('e66c898788ecc090', 'hex') THEN 29
      WHEN "policy_engine_hash_5" < DECODE('e9ab87b5de263890', 'hex') THEN 30
      WHEN "policy_engine_hash_5" < DECODE('ece6e72f03c981d0', 'hex') THEN 31
      WHEN "policy_engine_hash_5" < DECODE('f01eabfc6c5153b0', 'hex') THEN 32
      WHEN "policy_engine_hash_5" < DECODE('f352da2309bd4290', 'hex') THEN 33
      WHEN "policy_engine_hash_5" IS NOT NULL THEN 34
    END
      ELSE CASE
      WHEN "policy_engine_hash_5" < DECODE('f9b0827946f1db80', 'hex') THEN 35
      WHEN "policy_engine_hash_5" < DECODE('fcda049c75650ee0', 'hex') THEN 36
      WHEN "policy_engine_hash_5" IS NOT NULL THEN 37
    END
    END AS "policy_engine_total_5"
  FROM drawn
), bounded AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_n, "policy_engine_total_1", "policy_engine_total_2", "policy_engine_total_3", "policy_engine_total_4", "policy_engine_total_5",
    CASE WHEN "policy_engine_total_2" < 1 THEN NULL WHEN "policy_engine_total_3" + 2 * "policy_engine_total_2" < 0 THEN 0 WHEN "policy_engine_total_3" + 2 * "policy_engine_total_2" > 4 * "policy_engine_total_2" THEN 4 * "policy_engine_total_2" ELSE "policy_engine_total_3" + 2 * "policy_engine_total_2" END AS "policy_engine_above_2",
    CASE WHEN "policy_engine_total_2" < 1 THEN 1 ELSE "policy_engine_total_2" END AS "policy_engine_divisor_2",
    CASE WHEN "policy_engine_total_4" < 1 THEN NULL WHEN "policy_engine_total_5" + 50 * "policy_engine_total_4" < 0 THEN 0 WHEN "policy_engine_total_5" + 50 * "policy_engine_total_4" > 100 * "policy_engine_total_4" THEN 100 * "policy_engine_total_4" ELSE "policy_engine_total_5" + 50 * "policy_engine_total_4" END AS "policy_engine_above_4",
    CASE WHEN "policy_engine_total_4" < 1 THEN 1 ELSE "policy_engine_total_4" END AS "policy_engine_divisor_4"
  FROM noised
)
SELECT "age", "born", policy_engine_n AS "people",
  "policy_engine_total_1" AS "visits",
  (2 * "policy_engine_above_2" + "policy_engine_divisor_2") / (2 * "policy_engine_divisor_2") * 10 AS "pay",
  ("policy_engine_total_3" + 2 * "policy_engine_total_2") * 10 AS "paid",
  (2 * "policy_engine_above_4" + "policy_engine_divisor_4") / (2 * "policy_engine_divisor_4") AS "years"
FROM bounded
WHERE policy_engine_n >= 6
ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
