-- policy: golden
-- digest: sha256:040d23dbabbf648221e33b5d4f4709577fe83da1db25c2f5ed95f1186158aa18
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
      WHEN "income" IS NULL OR "income" = CAST('NaN' AS DECIMAL) THEN 2
      WHEN CAST("income" AS DOUBLE PRECISION) < 0 OR CAST("income" AS DOUBLE PRECISION) > 40 THEN 1
      ELSE 0
    END AS "policy_engine_bent_2",
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" <= -1000000000 THEN -1000000000
      WHEN "age" >= 1000000000 THEN 1000000000
      ELSE CAST("age" AS BIGINT)
    END AS "policy_engine_value_3",
    CASE
      WHEN "age" IS NULL THEN 2
      ELSE 0
    END AS "policy_engine_bent_3",
    "person" AS policy_engine_unit
  FROM people
), gathered AS MATERIALIZED (
  SELECT "age", "born", policy_engine_unit, COUNT(*) AS policy_engine_rows,
CAST(SUM("policy_engine_value_2") AS BIGINT) AS "policy_engine_value_2", COUNT("policy_engine_value_2") AS "policy_engine_many_2",
CASE WHEN SUM("policy_engine_value_3") <= 0 * COUNT("policy_engine_value_3") THEN 0 WHEN SUM("policy_engine_value_3") >= 100 * COUNT("policy_engine_value_3") THEN 100 ELSE 0 + (2 * (CAST(SUM("policy_engine_value_3") AS BIGINT) - 0 * COUNT("policy_engine_value_3")) + COUNT("policy_engine_value_3")) / (2 * CASE WHEN COUNT("policy_engine_value_3") = 0 THEN 1 ELSE COUNT("policy_engine_value_3") END) END AS "policy_engine_value_3",
    CASE WHEN COUNT(*) > 3 THEN 3 ELSE COUNT(*) END AS "policy_engine_many_1",
MAX(CASE WHEN "policy_engine_bent_2" = 1 THEN 1 ELSE 0 END) AS "policy_engine_cut_3",
MAX(CASE WHEN "policy_engine_bent_2" = 2 THEN 1 ELSE 0 END) AS "policy_engine_cut_4",
CASE WHEN SUM("policy_engine_value_3") < 0 * COUNT("policy_engine_value_3") OR SUM("policy_engine_value_3") > 100 * COUNT("policy_engine_value_3") THEN 1 ELSE 0 END AS "policy_engine_cut_5",
MAX(CASE WHEN "policy_engine_bent_3" = 2 THEN 1 ELSE 0 END) AS "policy_engine_cut_6"

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
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:1:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_1",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:2:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_2",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:3:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_3",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:4:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_4",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:5:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_5"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < DECODE('07ce4b49c1171120', 'hex') THEN -6
      WHEN policy_engine_hash < DECODE('139cf2e84a335900', 'hex') THEN -5
      WHEN policy_engine_hash < DECODE('242dab63027da2f0', 'hex') THEN -4
      WHEN policy_engine_hash < DECODE('39bc1067b6b3b830', 'hex') THEN -3
      WHEN policy_engine_hash < DECODE('53c09444b4b4f290', 'hex') THEN -2
      WHEN policy_engine_hash < DECODE('70e0e794f26d7020', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('8f1f186b0d928fe0', 'hex') THEN 0
      WHEN policy_engine_hash < DECODE('ac3f6bbb4b4b0d70', 'hex') THEN 1
      WHEN policy_engine_hash < DECODE('c643ef98494c47d0', 'hex') THEN 2
      WHEN policy_engine_hash < DECODE('dbd2549cfd825d10', 'hex') THEN 3
      WHEN policy_engine_hash < DECODE('ec630d17b5cca700', 'hex') THEN 4
      WHEN policy_engine_hash < DECODE('f831b4b63ee8eee0', 'hex') THEN 5
      ELSE 6
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < DECODE('00ad70549ba08c90', 'hex') THEN -21
      WHEN "policy_engine_hash_1" < DECODE('018fa4a0823f4040', 'hex') THEN -20
      WHEN "policy_engine_hash_1" < DECODE('02b2de2d14246b60', 'hex') THEN -19
      WHEN "policy_engine_hash_1" < DECODE('0424f9e75e272a50', 'hex') THEN -18
      WHEN "policy_engine_hash_1" < DECODE('05f547af1d7d15c0', 'hex') THEN -17
      WHEN "policy_engine_hash_1" < DECODE('0834412cc477d0b0', 'hex') THEN -16
      WHEN "policy_engine_hash_1" < DECODE('0af31cf9c7b20d00', 'hex') THEN -15
      WHEN "policy_engine_hash_1" < DECODE('0e433d287557ad90', 'hex') THEN -14
      WHEN "policy_engine_hash_1" < DECODE('12357b2002caf5c0', 'hex') THEN -13
      WHEN "policy_engine_hash_1" < DECODE('16d956211ec31e10', 'hex') THEN -12
      WHEN "policy_engine_hash_1" < DECODE('1c3c0d58683e4cc0', 'hex') THEN -11
      WHEN "policy_engine_hash_1" < DECODE('2267b1caa620b290', 'hex') THEN -10
      WHEN "policy_engine_hash_1" < DECODE('29623f39b17297d0', 'hex') THEN -9
      WHEN "policy_engine_hash_1" < DECODE('312cccf7336919c0', 'hex') THEN -8
      WHEN "policy_engine_hash_1" < DECODE('39c2e817cc63a530', 'hex') THEN -7
      WHEN "policy_engine_hash_1" < DECODE('431a275e7f56ef90', 'hex') THEN -6
      WHEN "policy_engine_hash_1" < DECODE('4d22066ef674a9a0', 'hex') THEN -5
      WHEN "policy_engine_hash_1" < DECODE('57c411786b512310', 'hex') THEN -4
      WHEN "policy_engine_hash_1" < DECODE('62e464e9315dddf0', 'hex') THEN -3
      WHEN "policy_engine_hash_1" < DECODE('6e627e50d36b9fb0', 'hex') THEN -2
      WHEN "policy_engine_hash_1" < DECODE('7a1a5502e6c99ee0', 'hex') THEN -1
      WHEN "policy_engine_hash_1" < DECODE('85e5aafd19366120', 'hex') THEN 0
      WHEN "policy_engine_hash_1" < DECODE('919d81af2c946050', 'hex') THEN 1
      WHEN "policy_engine_hash_1" < DECODE('9d1b9b16cea22210', 'hex') THEN 2
      WHEN "policy_engine_hash_1" < DECODE('a83bee8794aedcf0', 'hex') THEN 3
      WHEN "policy_engine_hash_1" < DECODE('b2ddf991098b5660', 'hex') THEN 4
      WHEN "policy_engine_hash_1" < DECODE('bce5d8a180a91070', 'hex') THEN 5
      WHEN "policy_engine_hash_1" < DECODE('c63d17e8339c5ad0', 'hex') THEN 6
      WHEN "policy_engine_hash_1" < DECODE('ced33308cc96e640', 'hex') THEN 7
      WHEN "policy_engine_hash_1" < DECODE('d69dc0c64e8d6830', 'hex') THEN 8
      WHEN "policy_engine_hash_1" < DECODE('dd984e3559df4d70', 'hex') THEN 9
      WHEN "policy_engine_hash_1" < DECODE('e3c3f2a797c1b340', 'hex') THEN 10
      WHEN "policy_engine_hash_1" < DECODE('e926a9dee13ce1f0', 'hex') THEN 11
      WHEN "policy_engine_hash_1" < DECODE('edca84dffd350a40', 'hex') THEN 12
      WHEN "policy_engine_hash_1" < DECODE('f1bcc2d78aa85270', 'hex') THEN 13
      WHEN "policy_engine_hash_1" < DECODE('f50ce306384df300', 'hex') THEN 14
      WHEN "policy_engine_hash_1" < DECODE('f7cbbed33b882f50', 'hex') THEN 15
      WHEN "policy_engine_hash_1" < DECODE('fa0ab850e282ea40', 'hex') THEN 16
      WHEN "policy_engine_hash_1" < DECODE('fbdb0618a1d8d5b0', 'hex') THEN 17
      WHEN "policy_engine_hash_1" < DECODE('fd4d21d2ebdb94a0', 'hex') THEN 18
      WHEN "policy_engine_hash_1" < DECODE('fe705b5f7dc0bfc0', 'hex') THEN 19
      WHEN "policy_engine_hash_1" < DECODE('ff528fab645f7370', 'hex') THEN 20
      ELSE 21
    END AS "policy_engine_total_1",
    "policy_engine_total_2" + CASE
      WHEN "policy_engine_hash_2" < DECODE('00ad70549ba08c90', 'hex') THEN -21
      WHEN "policy_engine_hash_2" < DECODE('018fa4a0823f4040', 'hex') THEN -20
      WHEN "policy_engine_hash_2" < DECODE('02b2de2d14246b60', 'hex') THEN -19
      WHEN "policy_engine_hash_2" < DECODE('0424f9e75e272a50', 'hex') THEN -18
      WHEN "policy_engine_hash_2" < DECODE('05f547af1d7d15c0', 'hex') THEN -17
      WHEN "policy_engine_hash_2" < DECODE('0834412cc477d0b0', 'hex') THEN -16
      WHEN "policy_engine_hash_2" < DECODE('0af31cf9c7b20d00', 'hex') THEN -15
      WHEN "policy_engine_hash_2" < DECODE('0e433d287557ad90', 'hex') THEN -14
      WHEN "policy_engine_hash_2" < DECODE('12357b2002caf5c0', 'hex') THEN -13
      WHEN "policy_engine_hash_2" < DECODE('16d956211ec31e10', 'hex') THEN -12
      WHEN "policy_engine_hash_2" < DECODE('1c3c0d58683e4cc0', 'hex') THEN -11
      WHEN "policy_engine_hash_2" < DECODE('2267b1caa620b290', 'hex') THEN -10
      WHEN "policy_engine_hash_2" < DECODE('29623f39b17297d0', 'hex') THEN -9
      WHEN "policy_engine_hash_2" < DECODE('312cccf7336919c0', 'hex') THEN -8
      WHEN "policy_engine_hash_2" < DECODE('39c2e817cc63a530', 'hex') THEN -7
      WHEN "policy_engine_hash_2" < DECODE('431a275e7f56ef90', 'hex') THEN -6
      WHEN "policy_engine_hash_2" < DECODE('4d22066ef674a9a0', 'hex') THEN -5
      WHEN "policy_engine_hash_2" < DECODE('57c411786b512310', 'hex') THEN -4
      WHEN "policy_engine_hash_2" < DECODE('62e464e9315dddf0', 'hex') THEN -3
      WHEN "policy_engine_hash_2" < DECODE('6e627e50d36b9fb0', 'hex') THEN -2
      WHEN "policy_engine_hash_2" < DECODE('7a1a5502e6c99ee0', 'hex') THEN -1
      WHEN "policy_engine_hash_2" < DECODE('85e5aafd19366120', 'hex') THEN 0
      WHEN "policy_engine_hash_2" < DECODE('919d81af2c946050', 'hex') THEN 1
      WHEN "policy_engine_hash_2" < DECODE('9d1b9b16cea22210', 'hex') THEN 2
      WHEN "policy_engine_hash_2" < DECODE('a83bee8794aedcf0', 'hex') THEN 3
      WHEN "policy_engine_hash_2" < DECODE('b2ddf991098b5660', 'hex') THEN 4
      WHEN "policy_engine_hash_2" < DECODE('bce5d8a180a91070', 'hex') THEN 5
      WHEN "policy_engine_hash_2" < DECODE('c63d17e8339c5ad0', 'hex') THEN 6
      WHEN "policy_engine_hash_2" < DECODE('ced33308cc96e640', 'hex') THEN 7
      WHEN "policy_engine_hash_2" < DECODE('d69dc0c64e8d6830', 'hex') THEN 8
      WHEN "policy_engine_hash_2" < DECODE('dd984e3559df4d70', 'hex') THEN 9
      WHEN "policy_engine_hash_2" < DECODE('e3c3f2a797c1b340', 'hex') THEN 10
      WHEN "policy_engine_hash_2" < DECODE('e926a9dee13ce1f0', 'hex') THEN 11
      WHEN "policy_engine_hash_2" < DECODE('edca84dffd350a40', 'hex') THEN 12
      WHEN "policy_engine_hash_2" < DECODE('f1bcc2d78aa85270', 'hex') THEN 13
      WHEN "policy_engine_hash_2" < DECODE('f50ce306384df300', 'hex') THEN 14
      WHEN "policy_engine_hash_2" < DECODE('f7cbbed33b882f50', 'hex') THEN 15
      WHEN "policy_engine_hash_2" < DECODE('fa0ab850e282ea40', 'hex') THEN 16
      WHEN "policy_engine_hash_2" < DECODE('fbdb0618a1d8d5b0', 'hex') THEN 17
      WHEN "policy_engine_hash_2" < DECODE('fd4d21d2ebdb94a0', 'hex') THEN 18
      WHEN "policy_engine_hash_2" < DECODE('fe705b5f7dc0bfc0', 'hex') THEN 19
      WHEN "policy_engine_hash_2" < DECODE('ff528fab645f7370', 'hex') THEN 20
      ELSE 21
    END AS "policy_engine_total_2",
    "policy_engine_total_3" + CASE
      WHEN "policy_engine_hash_3" < DECODE('05541558a9a026c0', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('0056d3940980c090', 'hex') THEN -42
      WHEN "policy_engine_hash_3" < DECODE('00ba2545ced67080', 'hex') THEN -41
      WHEN "policy_engine_hash_3" < DECODE('012b632c8144dca0', 'hex') THEN -40
      WHEN "policy_engine_hash_3" < DECODE('01ac1605cd04c940', 'hex') THEN -39
      WHEN "policy_engine_hash_3" < DECODE('023de0d3b65dbe30', 'hex') THEN -38
      WHEN "policy_engine_hash_3" < DECODE('02e280105efbe6e0', 'hex') THEN -37
      WHEN "policy_engine_hash_3" < DECODE('039bc86cf3641bb0', 'hex') THEN -36
      WHEN "policy_engine_hash_3" < DECODE('046ba511fc6b8220', 'hex') THEN -35
      ELSE -34
    END
      WHEN "policy_engine_hash_3" < DECODE('13308b5ddd6be6f0', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('065729f66222bcc0', 'hex') THEN -33
      WHEN "policy_engine_hash_3" < DECODE('0777019601760a60', 'hex') THEN -32
      WHEN "policy_engine_hash_3" < DECODE('08b5c4dc9a328a50', 'hex') THEN -31
      WHEN "policy_engine_hash_3" < DECODE('0a15a1da631cd220', 'hex') THEN -30
      WHEN "policy_engine_hash_3" < DECODE('0b98c6eb8a35d360', 'hex') THEN -29
      WHEN "policy_engine_hash_3" < DECODE('0d415d0ffff2e850', 'hex') THEN -28
      WHEN "policy_engine_hash_3" < DECODE('0f1181c4d27a4fa0', 'hex') THEN -27
      WHEN "policy_engine_hash_3" < DECODE('110b406d51f6a4c0', 'hex') THEN -26
      ELSE -25
    END
      WHEN "policy_engine_hash_3" < DECODE('2f13af186b7ff100', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('1583349dca327bf0', 'hex') THEN -24
      WHEN "policy_engine_hash_3" < DECODE('1804e6793cd86d80', 'hex') THEN -23
      WHEN "policy_engine_hash_3" < DECODE('1ab71bfee5226e00', 'hex') THEN -22
      WHEN "policy_engine_hash_3" < DECODE('1d9b1988448969e0', 'hex') THEN -21
      WHEN "policy_engine_hash_3" < DECODE('20b1e56d5be5fea0', 'hex') THEN -20
      WHEN "policy_engine_hash_3" < DECODE('23fc410638ba6430', 'hex') THEN -19
      WHEN "policy_engine_hash_3" < DECODE('277aa21dc61af7f0', 'hex') THEN -18
      WHEN "policy_engine_hash_3" < DECODE('2b2d2cf96d9cfd10', 'hex') THEN -17
      ELSE -16
    END
      WHEN "policy_engine_hash_3" < DECODE('5a79607bcbe53690', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('332d9acc35566f90', 'hex') THEN -15
      WHEN "policy_engine_hash_3" < DECODE('377a03c8f09d7f20', 'hex') THEN -14
      WHEN "policy_engine_hash_3" < DECODE('3bf79cc9ba398cd0', 'hex') THEN -13
      WHEN "policy_engine_hash_3" < DECODE('40a4b66072b0c460', 'hex') THEN -12
      WHEN "policy_engine_hash_3" < DECODE('457f3f03f5e9a0d0', 'hex') THEN -11
      WHEN "policy_engine_hash_3" < DECODE('4a84c46a2f723bd0', 'hex') THEN -10
      WHEN "policy_engine_hash_3" < DECODE('4fb276357b355cb0', 'hex') THEN -9
      WHEN "policy_engine_hash_3" < DECODE('550529f658bcec60', 'hex') THEN -8
      ELSE -7
    END
      WHEN "policy_engine_hash_3" < DECODE('8eb69f9c0ba23eb0', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('600b4c6603ba0050', 'hex') THEN -6
      WHEN "policy_engine_hash_3" < DECODE('65b6d9e833b95cc0', 'hex') THEN -5
      WHEN "policy_engine_hash_3" < DECODE('6b77b7a022315110', 'hex') THEN -4
      WHEN "policy_engine_hash_3" < DECODE('71496063f45dc150', 'hex') THEN -3
      WHEN "policy_engine_hash_3" < DECODE('772725e160945110', 'hex') THEN -2
      WHEN "policy_engine_hash_3" < DECODE('7d0c3be4cebfac10', 'hex') THEN -1
      WHEN "policy_engine_hash_3" < DECODE('82f3c41b314053f0', 'hex') THEN 0
      WHEN "policy_engine_hash_3" < DECODE('88d8da1e9f6baef0', 'hex') THEN 1
      ELSE 2
    END
      WHEN "policy_engine_hash_3" < DECODE('bf5b499f8d4f3ba0', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('9488485fddceaef0', 'hex') THEN 3
      WHEN "policy_engine_hash_3" < DECODE('9a492617cc46a340', 'hex') THEN 4
      WHEN "policy_engine_hash_3" < DECODE('9ff4b399fc45ffb0', 'hex') THEN 5
      WHEN "policy_engine_hash_3" < DECODE('a5869f84341ac970', 'hex') THEN 6
      WHEN "policy_engine_hash_3" < DECODE('aafad609a74313a0', 'hex') THEN 7
      WHEN "policy_engine_hash_3" < DECODE('b04d89ca84caa350', 'hex') THEN 8
      WHEN "policy_engine_hash_3" < DECODE('b57b3b95d08dc430', 'hex') THEN 9
      WHEN "policy_engine_hash_3" < DECODE('ba80c0fc0a165f30', 'hex') THEN 10
      ELSE 11
    END
      WHEN "policy_engine_hash_3" < DECODE('e264e677bb769620', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('c408633645c67330', 'hex') THEN 12
      WHEN "policy_engine_hash_3" < DECODE('c885fc370f6280e0', 'hex') THEN 13
      WHEN "policy_engine_hash_3" < DECODE('ccd26533caa99070', 'hex') THEN 14
      WHEN "policy_engine_hash_3" < DECODE('d0ec50e794800f00', 'hex') THEN 15
      WHEN "policy_engine_hash_3" < DECODE('d4d2d306926302f0', 'hex') THEN 16
      WHEN "policy_engine_hash_3" < DECODE('d8855de239e50810', 'hex') THEN 17
      WHEN "policy_engine_hash_3" < DECODE('dc03bef9c7459bd0', 'hex') THEN 18
      WHEN "policy_engine_hash_3" < DECODE('df4e1a92a41a0160', 'hex') THEN 19
      ELSE 20
    END
      WHEN "policy_engine_hash_3" < DECODE('f5ea5e259ce32de0', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('e548e4011add9200', 'hex') THEN 21
      WHEN "policy_engine_hash_3" < DECODE('e7fb1986c3279280', 'hex') THEN 22
      WHEN "policy_engine_hash_3" < DECODE('ea7ccb6235cd8410', 'hex') THEN 23
      WHEN "policy_engine_hash_3" < DECODE('eccf74a222941910', 'hex') THEN 24
      WHEN "policy_engine_hash_3" < DECODE('eef4bf92ae095b40', 'hex') THEN 25
      WHEN "policy_engine_hash_3" < DECODE('f0ee7e3b2d85b060', 'hex') THEN 26
      WHEN "policy_engine_hash_3" < DECODE('f2bea2f0000d17b0', 'hex') THEN 27
      WHEN "policy_engine_hash_3" < DECODE('f467391475ca2ca0', 'hex') THEN 28
      ELSE 29
    END
      WHEN "policy_engine_hash_3" < DECODE('fe53e9fa32fb36c0', 'hex') THEN CASE
      WHEN "policy_engine_hash_3" < DECODE('f74a3b2365cd75b0', 'hex') THEN 30
      WHEN "policy_engine_hash_3" < DECODE('f888fe69fe89f5a0', 'hex') THEN 31
      WHEN "policy_engine_hash_3" < DECODE('f9a8d6099ddd4340', 'hex') THEN 32
      WHEN "policy_engine_hash_3" < DECODE('faabeaa7565fd940', 'hex') THEN 33
      WHEN "policy_engine_hash_3" < DECODE('fb945aee03947de0', 'hex') THEN 34
      WHEN "policy_engine_hash_3" < DECODE('fc6437930c9be450', 'hex') THEN 35
      WHEN "policy_engine_hash_3" < DECODE('fd1d7fefa1041920', 'hex') THEN 36
      WHEN "policy_engine_hash_3" < DECODE('fdc21f2c49a241d0', 'hex') THEN 37
      ELSE 38
    END
      ELSE CASE
      WHEN "policy_engine_hash_3" < DECODE('fed49cd37ebb2360', 'hex') THEN 39
      WHEN "policy_engine_hash_3" < DECODE('ff45daba31298f80', 'hex') THEN 40
      WHEN "policy_engine_hash_3" < DECODE('ffa92c6bf67f3f70', 'hex') THEN 41
      ELSE 42
    END
    END AS "policy_engine_total_3",
    "policy_engine_total_4" + CASE
      WHEN "policy_engine_hash_4" < DECODE('049d28cb2595dab0', 'hex') THEN -7
      WHEN "policy_engine_hash_4" < DECODE('0c236c3565302470', 'hex') THEN -6
      WHEN "policy_engine_hash_4" < DECODE('17851f5a0ff86df0', 'hex') THEN -5
      WHEN "policy_engine_hash_4" < DECODE('277cfb4727f23420', 'hex') THEN -4
      WHEN "policy_engine_hash_4" < DECODE('3c44759d19077ad0', 'hex') THEN -3
      WHEN "policy_engine_hash_4" < DECODE('5558e386be072a30', 'hex') THEN -2
      WHEN "policy_engine_hash_4" < DECODE('716c714df58b8990', 'hex') THEN -1
      WHEN "policy_engine_hash_4" < DECODE('8e938eb20a747670', 'hex') THEN 0
      WHEN "policy_engine_hash_4" < DECODE('aaa71c7941f8d5d0', 'hex') THEN 1
      WHEN "policy_engine_hash_4" < DECODE('c3bb8a62e6f88530', 'hex') THEN 2
      WHEN "policy_engine_hash_4" < DECODE('d88304b8d80dcbe0', 'hex') THEN 3
      WHEN "policy_engine_hash_4" < DECODE('e87ae0a5f0079210', 'hex') THEN 4
      WHEN "policy_engine_hash_4" < DECODE('f3dc93ca9acfdb90', 'hex') THEN 5
      WHEN "policy_engine_hash_4" < DECODE('fb62d734da6a2550', 'hex') THEN 6
      ELSE 7
    END AS "policy_engine_total_4",
    "policy_engine_total_5" - "policy_engine_total_5" % 5 + CAST(5 AS BIGINT) * CASE
      WHEN "policy_engine_hash_5" < DECODE('0299d541cdb97980', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('00259736b43ee4b0', 'hex') THEN -70
      WHEN "policy_engine_hash_5" < DECODE('004ecd24c11eaa50', 'hex') THEN -69
      WHEN "policy_engine_hash_5" < DECODE('007bebbe006246b0', 'hex') THEN -68
      WHEN "policy_engine_hash_5" < DECODE('00ad41348c7939b0', 'hex') THEN -67
      WHEN "policy_engine_hash_5" < DECODE('00e3200be63230b0', 'hex') THEN -66
      WHEN "policy_engine_hash_5" < DECODE('011ddf27c75346b0', 'hex') THEN -65
      WHEN "policy_engine_hash_5" < DECODE('015dd9d621553f70', 'hex') THEN -64
      WHEN "policy_engine_hash_5" < DECODE('01a36fd3c5e73070', 'hex') THEN -63
      WHEN "policy_engine_hash_5" < DECODE('01ef054b36654fe0', 'hex') THEN -62
      WHEN "policy_engine_hash_5" < DECODE('024102cd182b35b0', 'hex') THEN -61
      ELSE -60
    END
      WHEN "policy_engine_hash_5" < DECODE('08b6cba285012630', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('02f9edd3b8200360', 'hex') THEN -59
      WHEN "policy_engine_hash_5" < DECODE('0361c1d1a916fd40', 'hex') THEN -58
      WHEN "policy_engine_hash_5" < DECODE('03d1ca8914ba8820', 'hex') THEN -57
      WHEN "policy_engine_hash_5" < DECODE('044a85179a082ef0', 'hex') THEN -56
      WHEN "policy_engine_hash_5" < DECODE('04cc72338313a9c0', 'hex') THEN -55
      WHEN "policy_engine_hash_5" < DECODE('055815eae97191e0', 'hex') THEN -54
      WHEN "policy_engine_hash_5" < DECODE('05edf75938941770', 'hex') THEN -53
      WHEN "policy_engine_hash_5" < DECODE('068ea052d6c43e80', 'hex') THEN -52
      WHEN "policy_engine_hash_5" < DECODE('073a9d06cdf8b690', 'hex') THEN -51
      WHEN "policy_engine_hash_5" < DECODE('07f27b965ffb2f90', 'hex') THEN -50
      ELSE -49
    END
      WHEN "policy_engine_hash_5" < DECODE('14fb6482af651b10', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('09881dcf68fa3a20', 'hex') THEN -48
      WHEN "policy_engine_hash_5" < DECODE('0a67033e123a94b0', 'hex') THEN -47
      WHEN "policy_engine_hash_5" < DECODE('0b540cfc73abad90', 'hex') THEN -46
      WHEN "policy_engine_hash_5" < DECODE('0c4fcb6c45228b70', 'hex') THEN -45
      WHEN "policy_engine_hash_5" < DECODE('0d5acda115ac2300', 'hex') THEN -44
      WHEN "policy_engine_hash_5" < DECODE('0e75a0b6255495a0', 'hex') THEN -43
      WHEN "policy_engine_hash_5" < DECODE('0fa0cf1cade563f0', 'hex') THEN -42
      WHEN "policy_engine_hash_5" < DECODE('10dcdfe35c0cfa90', 'hex') THEN -41
      WHEN "policy_engine_hash_5" < DECODE('122a55f7d40eee90', 'hex') THEN -40
      WHEN "policy_engine_hash_5" < DECODE('1389af633633ffe0', 'hex') THEN -39
      ELSE -38
    END
      WHEN "policy_engine_hash_5" < DECODE('2a00da9b76863240', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('167fe73d395cffb0', 'hex') THEN -37
      WHEN "policy_engine_hash_5" < DECODE('1817a237c3581190', 'hex') THEN -36
      WHEN "policy_engine_hash_5" < DECODE('19c2f8090fd0bbe0', 'hex') THEN -35
      WHEN "policy_engine_hash_5" < DECODE('1b82426ea559aca0', 'hex') THEN -34
      WHEN "policy_engine_hash_5" < DECODE('1d55d1843fb9a820', 'hex') THEN -33
      WHEN "policy_engine_hash_5" < DECODE('1f3deaff3ac62960', 'hex') THEN -32
      WHEN "policy_engine_hash_5" < DECODE('213ac96f79d6c830', 'hex') THEN -31
      WHEN "policy_engine_hash_5" < DECODE('234c9b8754cddc80', 'hex') THEN -30
      WHEN "policy_engine_hash_5" < DECODE('2573836c1664ae00', 'hex') THEN -29
      WHEN "policy_engine_hash_5" < DECODE('27af9610967c9ca0', 'hex') THEN -28
      ELSE -27
    END
      WHEN "policy_engine_hash_5" < DECODE('48c27eeeee19ace0', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('2c6749da7d804ae0', 'hex') THEN -26
      WHEN "policy_engine_hash_5" < DECODE('2ee2cdc48494aea0', 'hex') THEN -25
      WHEN "policy_engine_hash_5" < DECODE('3173410b54e86090', 'hex') THEN -24
      WHEN "policy_engine_hash_5" < DECODE('34186ebec2dc6820', 'hex') THEN -23
      WHEN "policy_engine_hash_5" < DECODE('36d212023acc3970', 'hex') THEN -22
      WHEN "policy_engine_hash_5" < DECODE('399fd5d5d771f960', 'hex') THEN -21
      WHEN "policy_engine_hash_5" < DECODE('3c8154f3faac16f0', 'hex') THEN -20
      WHEN "policy_engine_hash_5" < DECODE('3f7619c43ea4e250', 'hex') THEN -19
      WHEN "policy_engine_hash_5" < DECODE('427d9e646f99b300', 'hex') THEN -18
      WHEN "policy_engine_hash_5" < DECODE('45974cc816050710', 'hex') THEN -17
      ELSE -16
    END
      WHEN "policy_engine_hash_5" < DECODE('6f2f134c8e1f2210', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('4bfe7f327cb21140', 'hex') THEN -15
      WHEN "policy_engine_hash_5" < DECODE('4f4a88aac3846ea0', 'hex') THEN -14
      WHEN "policy_engine_hash_5" < DECODE('52a5c7a9e70863e0', 'hex') THEN -13
      WHEN "policy_engine_hash_5" < DECODE('560f5a4e687ff420', 'hex') THEN -12
      WHEN "policy_engine_hash_5" < DECODE('5986512b66851330', 'hex') THEN -11
      WHEN "policy_engine_hash_5" < DECODE('5d09b00626d879c0', 'hex') THEN -10
      WHEN "policy_engine_hash_5" < DECODE('60986ea7fd7a7b40', 'hex') THEN -9
      WHEN "policy_engine_hash_5" < DECODE('643179c377d65710', 'hex') THEN -8
      WHEN "policy_engine_hash_5" < DECODE('67d3b3eb877cfbd0', 'hex') THEN -7
      WHEN "policy_engine_hash_5" < DECODE('6b7df69b3f1256d0', 'hex') THEN -6
      ELSE -5
    END
      WHEN "policy_engine_hash_5" < DECODE('982c4c1478830430', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('72e5d49c45e04af0', 'hex') THEN -4
      WHEN "policy_engine_hash_5" < DECODE('76a0ff7992530eb0', 'hex') THEN -3
      WHEN "policy_engine_hash_5" < DECODE('7a5f545ef7fddb60', 'hex') THEN -2
      WHEN "policy_engine_hash_5" < DECODE('7e1f9092d0a22180', 'hex') THEN -1
      WHEN "policy_engine_hash_5" < DECODE('81e06f6d2f5dde80', 'hex') THEN 0
      WHEN "policy_engine_hash_5" < DECODE('85a0aba1080224a0', 'hex') THEN 1
      WHEN "policy_engine_hash_5" < DECODE('895f00866dacf150', 'hex') THEN 2
      WHEN "policy_engine_hash_5" < DECODE('8d1a2b63ba1fb510', 'hex') THEN 3
      WHEN "policy_engine_hash_5" < DECODE('90d0ecb371e0ddf0', 'hex') THEN 4
      WHEN "policy_engine_hash_5" < DECODE('94820964c0eda930', 'hex') THEN 5
      ELSE 6
    END
      WHEN "policy_engine_hash_5" < DECODE('bd82619b90664d00', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('9bce863c8829a8f0', 'hex') THEN 7
      WHEN "policy_engine_hash_5" < DECODE('9f679158028584c0', 'hex') THEN 8
      WHEN "policy_engine_hash_5" < DECODE('a2f64ff9d9278640', 'hex') THEN 9
      WHEN "policy_engine_hash_5" < DECODE('a679aed4997aecd0', 'hex') THEN 10
      WHEN "policy_engine_hash_5" < DECODE('a9f0a5b197800be0', 'hex') THEN 11
      WHEN "policy_engine_hash_5" < DECODE('ad5a385618f79c20', 'hex') THEN 12
      WHEN "policy_engine_hash_5" < DECODE('b0b577553c7b9160', 'hex') THEN 13
      WHEN "policy_engine_hash_5" < DECODE('b40180cd834deec0', 'hex') THEN 14
      WHEN "policy_engine_hash_5" < DECODE('b73d811111e65320', 'hex') THEN 15
      WHEN "policy_engine_hash_5" < DECODE('ba68b337e9faf8f0', 'hex') THEN 16
      ELSE 17
    END
      WHEN "policy_engine_hash_5" < DECODE('da8c7c93e99b5200', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('c089e63bc15b1db0', 'hex') THEN 18
      WHEN "policy_engine_hash_5" < DECODE('c37eab0c0553e910', 'hex') THEN 19
      WHEN "policy_engine_hash_5" < DECODE('c6602a2a288e06a0', 'hex') THEN 20
      WHEN "policy_engine_hash_5" < DECODE('c92dedfdc533c690', 'hex') THEN 21
      WHEN "policy_engine_hash_5" < DECODE('cbe791413d2397e0', 'hex') THEN 22
      WHEN "policy_engine_hash_5" < DECODE('ce8cbef4ab179f70', 'hex') THEN 23
      WHEN "policy_engine_hash_5" < DECODE('d11d323b7b6b5160', 'hex') THEN 24
      WHEN "policy_engine_hash_5" < DECODE('d398b625827fb520', 'hex') THEN 25
      WHEN "policy_engine_hash_5" < DECODE('d5ff25648979cdc0', 'hex') THEN 26
      WHEN "policy_engine_hash_5" < DECODE('d85069ef69836360', 'hex') THEN 27
      ELSE 28
    END
      WHEN "policy_engine_hash_5" < DECODE('edd5aa082bf11170', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('dcb36478ab322380', 'hex') THEN 29
      WHEN "policy_engine_hash_5" < DECODE('dec53690862937d0', 'hex') THEN 30
      WHEN "policy_engine_hash_5" < DECODE('e0c21500c539d6a0', 'hex') THEN 31
      WHEN "policy_engine_hash_5" < DECODE('e2aa2e7bc04657e0', 'hex') THEN 32
      WHEN "policy_engine_hash_5" < DECODE('e47dbd915aa65360', 'hex') THEN 33
      WHEN "policy_engine_hash_5" < DECODE('e63d07f6f02f4420', 'hex') THEN 34
      WHEN "policy_engine_hash_5" < DECODE('e7e85dc83ca7ee70', 'hex') THEN 35
      WHEN "policy_engine_hash_5" < DECODE('e98018c2c6a30050', 'hex') THEN 36
      WHEN "policy_engine_hash_5" < DECODE('eb049b7d509ae4f0', 'hex') THEN 37
      WHEN "policy_engine_hash_5" < DECODE('ec76509cc9cc0020', 'hex') THEN 38
      ELSE 39
    END
      WHEN "policy_engine_hash_5" < DECODE('f8c562f932074970', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('ef23201ca3f30570', 'hex') THEN 40
      WHEN "policy_engine_hash_5" < DECODE('f05f30e3521a9c10', 'hex') THEN 41
      WHEN "policy_engine_hash_5" < DECODE('f18a5f49daab6a60', 'hex') THEN 42
      WHEN "policy_engine_hash_5" < DECODE('f2a5325eea53dd00', 'hex') THEN 43
      WHEN "policy_engine_hash_5" < DECODE('f3b03493badd7490', 'hex') THEN 44
      WHEN "policy_engine_hash_5" < DECODE('f4abf3038c545270', 'hex') THEN 45
      WHEN "policy_engine_hash_5" < DECODE('f598fcc1edc56b50', 'hex') THEN 46
      WHEN "policy_engine_hash_5" < DECODE('f677e2309705c5e0', 'hex') THEN 47
      WHEN "policy_engine_hash_5" < DECODE('f749345d7afed9d0', 'hex') THEN 48
      WHEN "policy_engine_hash_5" < DECODE('f80d8469a004d070', 'hex') THEN 49
      ELSE 50
    END
      WHEN "policy_engine_hash_5" < DECODE('fe10fab4c99ab020', 'hex') THEN CASE
      WHEN "policy_engine_hash_5" < DECODE('f9715fad293bc180', 'hex') THEN 51
      WHEN "policy_engine_hash_5" < DECODE('fa1208a6c76be890', 'hex') THEN 52
      WHEN "policy_engine_hash_5" < DECODE('faa7ea15168e6e20', 'hex') THEN 53
      WHEN "policy_engine_hash_5" < DECODE('fb338dcc7cec5640', 'hex') THEN 54
      WHEN "policy_engine_hash_5" < DECODE('fbb57ae865f7d110', 'hex') THEN 55
      WHEN "policy_engine_hash_5" < DECODE('fc2e3576eb4577e0', 'hex') THEN 56
      WHEN "policy_engine_hash_5" < DECODE('fc9e3e2e56e902c0', 'hex') THEN 57
      WHEN "policy_engine_hash_5" < DECODE('fd06122c47dffca0', 'hex') THEN 58
      WHEN "policy_engine_hash_5" < DECODE('fd662abe32468680', 'hex') THEN 59
      WHEN "policy_engine_hash_5" < DECODE('fdbefd32e7d4ca50', 'hex') THEN 60
      ELSE 61
    END
      ELSE CASE
      WHEN "policy_engine_hash_5" < DECODE('fe5c902c3a18cf90', 'hex') THEN 62
      WHEN "policy_engine_hash_5" < DECODE('fea22629deaac090', 'hex') THEN 63
      WHEN "policy_engine_hash_5" < DECODE('fee220d838acb950', 'hex') THEN 64
      WHEN "policy_engine_hash_5" < DECODE('ff1cdff419cdcf50', 'hex') THEN 65
      WHEN "policy_engine_hash_5" < DECODE('ff52becb7386c650', 'hex') THEN 66
      WHEN "policy_engine_hash_5" < DECODE('ff841441ff9db950', 'hex') THEN 67
      WHEN "policy_engine_hash_5" < DECODE('ffb132db3ee155b0', 'hex') THEN 68
      WHEN "policy_engine_hash_5" < DECODE('ffda68c94bc11b50', 'hex') THEN 69
      ELSE 70
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
), cut AS NOT MATERIALIZED (
  SELECT CASE WHEN COUNT(*) > 2 THEN 1 ELSE 0 END AS "policy_engine_cut_1",
CASE WHEN MAX(policy_engine_rows) > 3 THEN 1 ELSE 0 END AS "policy_engine_cut_2",
MAX("policy_engine_cut_3") AS "policy_engine_cut_3",
MAX("policy_engine_cut_4") AS "policy_engine_cut_4",
MAX("policy_engine_cut_5") AS "policy_engine_cut_5",
MAX("policy_engine_cut_6") AS "policy_engine_cut_6"
  FROM gathered
  GROUP BY policy_engine_unit
), told AS NOT MATERIALIZED (
  SELECT COALESCE(CAST(SUM("policy_engine_cut_1") AS BIGINT), 0) AS "policy_engine_cut_1", pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:6:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(1 AS TEXT), 'UTF8')) AS "policy_engine_cut_hash_1",
COALESCE(CAST(SUM("policy_engine_cut_2") AS BIGINT), 0) AS "policy_engine_cut_2", pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:7:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(1 AS TEXT), 'UTF8')) AS "policy_engine_cut_hash_2",
COALESCE(CAST(SUM("policy_engine_cut_3") AS BIGINT), 0) AS "policy_engine_cut_3", pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:8:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(1 AS TEXT), 'UTF8')) AS "policy_engine_cut_hash_3",
COALESCE(CAST(SUM("policy_engine_cut_4") AS BIGINT), 0) AS "policy_engine_cut_4", pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:9:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(1 AS TEXT), 'UTF8')) AS "policy_engine_cut_hash_4",
COALESCE(CAST(SUM("policy_engine_cut_5") AS BIGINT), 0) AS "policy_engine_cut_5", pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:10:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(1 AS TEXT), 'UTF8')) AS "policy_engine_cut_hash_5",
COALESCE(CAST(SUM("policy_engine_cut_6") AS BIGINT), 0) AS "policy_engine_cut_6", pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:11:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || CAST(1 AS TEXT), 'UTF8')) AS "policy_engine_cut_hash_6"
  FROM cut
)
SELECT "age", "born", policy_engine_n AS "people",
  "policy_engine_total_1" AS "visits",
  (2 * "policy_engine_above_2" + "policy_engine_divisor_2") / (2 * "policy_engine_divisor_2") * 10 AS "pay",
  ("policy_engine_total_3" + 2 * "policy_engine_total_2") * 10 AS "paid",
  (2 * "policy_engine_above_4" + "policy_engine_divisor_4") / (2 * "policy_engine_divisor_4") AS "years",
  "policy_engine_cut_1" + CASE
      WHEN "policy_engine_cut_hash_1" < DECODE('049d28cb2595dab0', 'hex') THEN -7
      WHEN "policy_engine_cut_hash_1" < DECODE('0c236c3565302470', 'hex') THEN -6
      WHEN "policy_engine_cut_hash_1" < DECODE('17851f5a0ff86df0', 'hex') THEN -5
      WHEN "policy_engine_cut_hash_1" < DECODE('277cfb4727f23420', 'hex') THEN -4
      WHEN "policy_engine_cut_hash_1" < DECODE('3c44759d19077ad0', 'hex') THEN -3
      WHEN "policy_engine_cut_hash_1" < DECODE('5558e386be072a30', 'hex') THEN -2
      WHEN "policy_engine_cut_hash_1" < DECODE('716c714df58b8990', 'hex') THEN -1
      WHEN "policy_engine_cut_hash_1" < DECODE('8e938eb20a747670', 'hex') THEN 0
      WHEN "policy_engine_cut_hash_1" < DECODE('aaa71c7941f8d5d0', 'hex') THEN 1
      WHEN "policy_engine_cut_hash_1" < DECODE('c3bb8a62e6f88530', 'hex') THEN 2
      WHEN "policy_engine_cut_hash_1" < DECODE('d88304b8d80dcbe0', 'hex') THEN 3
      WHEN "policy_engine_cut_hash_1" < DECODE('e87ae0a5f0079210', 'hex') THEN 4
      WHEN "policy_engine_cut_hash_1" < DECODE('f3dc93ca9acfdb90', 'hex') THEN 5
      WHEN "policy_engine_cut_hash_1" < DECODE('fb62d734da6a2550', 'hex') THEN 6
      ELSE 7
    END AS "people_with_groups_cut",
  "policy_engine_cut_2" + CASE
      WHEN "policy_engine_cut_hash_2" < DECODE('049d28cb2595dab0', 'hex') THEN -7
      WHEN "policy_engine_cut_hash_2" < DECODE('0c236c3565302470', 'hex') THEN -6
      WHEN "policy_engine_cut_hash_2" < DECODE('17851f5a0ff86df0', 'hex') THEN -5
      WHEN "policy_engine_cut_hash_2" < DECODE('277cfb4727f23420', 'hex') THEN -4
      WHEN "policy_engine_cut_hash_2" < DECODE('3c44759d19077ad0', 'hex') THEN -3
      WHEN "policy_engine_cut_hash_2" < DECODE('5558e386be072a30', 'hex') THEN -2
      WHEN "policy_engine_cut_hash_2" < DECODE('716c714df58b8990', 'hex') THEN -1
      WHEN "policy_engine_cut_hash_2" < DECODE('8e938eb20a747670', 'hex') THEN 0
      WHEN "policy_engine_cut_hash_2" < DECODE('aaa71c7941f8d5d0', 'hex') THEN 1
      WHEN "policy_engine_cut_hash_2" < DECODE('c3bb8a62e6f88530', 'hex') THEN 2
      WHEN "policy_engine_cut_hash_2" < DECODE('d88304b8d80dcbe0', 'hex') THEN 3
      WHEN "policy_engine_cut_hash_2" < DECODE('e87ae0a5f0079210', 'hex') THEN 4
      WHEN "policy_engine_cut_hash_2" < DECODE('f3dc93ca9acfdb90', 'hex') THEN 5
      WHEN "policy_engine_cut_hash_2" < DECODE('fb62d734da6a2550', 'hex') THEN 6
      ELSE 7
    END AS "people_with_rows_cut",
  "policy_engine_cut_3" + CASE
      WHEN "policy_engine_cut_hash_3" < DECODE('049d28cb2595dab0', 'hex') THEN -7
      WHEN "policy_engine_cut_hash_3" < DECODE('0c236c3565302470', 'hex') THEN -6
      WHEN "policy_engine_cut_hash_3" < DECODE('17851f5a0ff86df0', 'hex') THEN -5
      WHEN "policy_engine_cut_hash_3" < DECODE('277cfb4727f23420', 'hex') THEN -4
      WHEN "policy_engine_cut_hash_3" < DECODE('3c44759d19077ad0', 'hex') THEN -3
      WHEN "policy_engine_cut_hash_3" < DECODE('5558e386be072a30', 'hex') THEN -2
      WHEN "policy_engine_cut_hash_3" < DECODE('716c714df58b8990', 'hex') THEN -1
      WHEN "policy_engine_cut_hash_3" < DECODE('8e938eb20a747670', 'hex') THEN 0
      WHEN "policy_engine_cut_hash_3" < DECODE('aaa71c7941f8d5d0', 'hex') THEN 1
      WHEN "policy_engine_cut_hash_3" < DECODE('c3bb8a62e6f88530', 'hex') THEN 2
      WHEN "policy_engine_cut_hash_3" < DECODE('d88304b8d80dcbe0', 'hex') THEN 3
      WHEN "policy_engine_cut_hash_3" < DECODE('e87ae0a5f0079210', 'hex') THEN 4
      WHEN "policy_engine_cut_hash_3" < DECODE('f3dc93ca9acfdb90', 'hex') THEN 5
      WHEN "policy_engine_cut_hash_3" < DECODE('fb62d734da6a2550', 'hex') THEN 6
      ELSE 7
    END AS "pay_people_cut",
  "policy_engine_cut_4" + CASE
      WHEN "policy_engine_cut_hash_4" < DECODE('049d28cb2595dab0', 'hex') THEN -7
      WHEN "policy_engine_cut_hash_4" < DECODE('0c236c3565302470', 'hex') THEN -6
      WHEN "policy_engine_cut_hash_4" < DECODE('17851f5a0ff86df0', 'hex') THEN -5
      WHEN "policy_engine_cut_hash_4" < DECODE('277cfb4727f23420', 'hex') THEN -4
      WHEN "policy_engine_cut_hash_4" < DECODE('3c44759d19077ad0', 'hex') THEN -3
      WHEN "policy_engine_cut_hash_4" < DECODE('5558e386be072a30', 'hex') THEN -2
      WHEN "policy_engine_cut_hash_4" < DECODE('716c714df58b8990', 'hex') THEN -1
      WHEN "policy_engine_cut_hash_4" < DECODE('8e938eb20a747670', 'hex') THEN 0
      WHEN "policy_engine_cut_hash_4" < DECODE('aaa71c7941f8d5d0', 'hex') THEN 1
      WHEN "policy_engine_cut_hash_4" < DECODE('c3bb8a62e6f88530', 'hex') THEN 2
      WHEN "policy_engine_cut_hash_4" < DECODE('d88304b8d80dcbe0', 'hex') THEN 3
      WHEN "policy_engine_cut_hash_4" < DECODE('e87ae0a5f0079210', 'hex') THEN 4
      WHEN "policy_engine_cut_hash_4" < DECODE('f3dc93ca9acfdb90', 'hex') THEN 5
      WHEN "policy_engine_cut_hash_4" < DECODE('fb62d734da6a2550', 'hex') THEN 6
      ELSE 7
    END AS "pay_people_missing",
  "policy_engine_cut_5" + CASE
      WHEN "policy_engine_cut_hash_5" < DECODE('049d28cb2595dab0', 'hex') THEN -7
      WHEN "policy_engine_cut_hash_5" < DECODE('0c236c3565302470', 'hex') THEN -6
      WHEN "policy_engine_cut_hash_5" < DECODE('17851f5a0ff86df0', 'hex') THEN -5
      WHEN "policy_engine_cut_hash_5" < DECODE('277cfb4727f23420', 'hex') THEN -4
      WHEN "policy_engine_cut_hash_5" < DECODE('3c44759d19077ad0', 'hex') THEN -3
      WHEN "policy_engine_cut_hash_5" < DECODE('5558e386be072a30', 'hex') THEN -2
      WHEN "policy_engine_cut_hash_5" < DECODE('716c714df58b8990', 'hex') THEN -1
      WHEN "policy_engine_cut_hash_5" < DECODE('8e938eb20a747670', 'hex') THEN 0
      WHEN "policy_engine_cut_hash_5" < DECODE('aaa71c7941f8d5d0', 'hex') THEN 1
      WHEN "policy_engine_cut_hash_5" < DECODE('c3bb8a62e6f88530', 'hex') THEN 2
      WHEN "policy_engine_cut_hash_5" < DECODE('d88304b8d80dcbe0', 'hex') THEN 3
      WHEN "policy_engine_cut_hash_5" < DECODE('e87ae0a5f0079210', 'hex') THEN 4
      WHEN "policy_engine_cut_hash_5" < DECODE('f3dc93ca9acfdb90', 'hex') THEN 5
      WHEN "policy_engine_cut_hash_5" < DECODE('fb62d734da6a2550', 'hex') THEN 6
      ELSE 7
    END AS "years_people_cut",
  "policy_engine_cut_6" + CASE
      WHEN "policy_engine_cut_hash_6" < DECODE('049d28cb2595dab0', 'hex') THEN -7
      WHEN "policy_engine_cut_hash_6" < DECODE('0c236c3565302470', 'hex') THEN -6
      WHEN "policy_engine_cut_hash_6" < DECODE('17851f5a0ff86df0', 'hex') THEN -5
      WHEN "policy_engine_cut_hash_6" < DECODE('277cfb4727f23420', 'hex') THEN -4
      WHEN "policy_engine_cut_hash_6" < DECODE('3c44759d19077ad0', 'hex') THEN -3
      WHEN "policy_engine_cut_hash_6" < DECODE('5558e386be072a30', 'hex') THEN -2
      WHEN "policy_engine_cut_hash_6" < DECODE('716c714df58b8990', 'hex') THEN -1
      WHEN "policy_engine_cut_hash_6" < DECODE('8e938eb20a747670', 'hex') THEN 0
      WHEN "policy_engine_cut_hash_6" < DECODE('aaa71c7941f8d5d0', 'hex') THEN 1
      WHEN "policy_engine_cut_hash_6" < DECODE('c3bb8a62e6f88530', 'hex') THEN 2
      WHEN "policy_engine_cut_hash_6" < DECODE('d88304b8d80dcbe0', 'hex') THEN 3
      WHEN "policy_engine_cut_hash_6" < DECODE('e87ae0a5f0079210', 'hex') THEN 4
      WHEN "policy_engine_cut_hash_6" < DECODE('f3dc93ca9acfdb90', 'hex') THEN 5
      WHEN "policy_engine_cut_hash_6" < DECODE('fb62d734da6a2550', 'hex') THEN 6
      ELSE 7
    END AS "years_people_missing"
FROM bounded CROSS JOIN told
WHERE policy_engine_n >= 7
ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
