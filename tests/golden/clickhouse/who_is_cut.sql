-- policy: golden
-- digest: sha256:040d23dbabbf648221e33b5d4f4709577fe83da1db25c2f5ed95f1186158aa18
WITH people AS (
  SELECT "age", "born", "income", "person"
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
      WHEN "born" < toDate32('1970-01-01') THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS "born",
    CASE
      WHEN "income" IS NULL THEN NULL
      WHEN toFloat64("income") <= 0 THEN 0
      WHEN toFloat64("income") >= 40 THEN 4
      WHEN ABS(toFloat64("income")) < 1 THEN 0
      ELSE toInt64(CASE WHEN ABS(toFloat64("income")) < 10000000001 THEN FLOOR(ABS(toFloat64("income")) / 10) + CASE WHEN ABS(toFloat64("income")) / 10 - FLOOR(ABS(toFloat64("income")) / 10) >= 0.5 THEN 1 ELSE 0 END ELSE 0 END) * CASE WHEN toFloat64("income") < 0 THEN -1 ELSE 1 END
    END AS "policy_engine_value_2",
    CASE
      WHEN "income" IS NULL THEN 2
      WHEN toFloat64("income") < 0 OR toFloat64("income") > 40 THEN 1
      ELSE 0
    END AS "policy_engine_bent_2",
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" <= -1000000000 THEN -1000000000
      WHEN "age" >= 1000000000 THEN 1000000000
      ELSE toInt64("age")
    END AS "policy_engine_value_3",
    CASE
      WHEN "age" IS NULL THEN 2
      ELSE 0
    END AS "policy_engine_bent_3",
    "person" AS policy_engine_unit
  FROM people
), gathered AS (
  SELECT "age", "born", policy_engine_unit, toInt64(COUNT(*)) AS policy_engine_rows,
toInt64(SUM("policy_engine_value_2")) AS "policy_engine_value_2", COUNT("policy_engine_value_2") AS "policy_engine_many_2",
CASE WHEN SUM("policy_engine_value_3") <= 0 * COUNT("policy_engine_value_3") THEN 0 WHEN SUM("policy_engine_value_3") >= 100 * COUNT("policy_engine_value_3") THEN 100 ELSE 0 + intDiv((2 * (toInt64(SUM("policy_engine_value_3")) - 0 * COUNT("policy_engine_value_3")) + COUNT("policy_engine_value_3")), (2 * CASE WHEN COUNT("policy_engine_value_3") = 0 THEN 1 ELSE COUNT("policy_engine_value_3") END)) END AS "policy_engine_value_3",
    CASE WHEN toInt64(COUNT(*)) > 3 THEN 3 ELSE toInt64(COUNT(*)) END AS "policy_engine_many_1",
MAX(CASE WHEN "policy_engine_bent_2" = 1 THEN 1 ELSE 0 END) AS "policy_engine_cut_3",
MAX(CASE WHEN "policy_engine_bent_2" = 2 THEN 1 ELSE 0 END) AS "policy_engine_cut_4",
CASE WHEN SUM("policy_engine_value_3") < 0 * COUNT("policy_engine_value_3") OR SUM("policy_engine_value_3") > 100 * COUNT("policy_engine_value_3") THEN 1 ELSE 0 END AS "policy_engine_cut_5",
MAX(CASE WHEN "policy_engine_bent_3" = 2 THEN 1 ELSE 0 END) AS "policy_engine_cut_6"

  FROM recoded
  GROUP BY "age", "born", policy_engine_unit
), crowded AS (
  SELECT policy_engine_unit AS policy_engine_many
  FROM gathered
  WHERE policy_engine_rows > 3
  GROUP BY policy_engine_unit
), lined AS (
  SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_value_3",
    COUNT(*) OVER (PARTITION BY policy_engine_unit, "age", "born") AS policy_engine_rows,
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, "age", "born" ORDER BY "policy_engine_value_2" NULLS LAST, "policy_engine_value_3" NULLS LAST) AS policy_engine_place
  FROM recoded JOIN crowded ON policy_engine_many = policy_engine_unit
), ranked AS (
  SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_value_3",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, "age", "born" ORDER BY lower(hex(SHA256({salt:String} || ':r:' || toString(policy_engine_unit) || ':' || toString(policy_engine_place)))), policy_engine_place) AS policy_engine_rank
  FROM lined
  WHERE policy_engine_rows > 3
), trimmed AS (
  SELECT "age", "born", policy_engine_unit,
toInt64(SUM(CASE WHEN policy_engine_rank <= 3 THEN "policy_engine_value_2" END)) AS "policy_engine_value_2", COUNT(CASE WHEN policy_engine_rank <= 3 THEN "policy_engine_value_2" END) AS "policy_engine_many_2",
CASE WHEN SUM("policy_engine_value_3") <= 0 * COUNT("policy_engine_value_3") THEN 0 WHEN SUM("policy_engine_value_3") >= 100 * COUNT("policy_engine_value_3") THEN 100 ELSE 0 + intDiv((2 * (toInt64(SUM("policy_engine_value_3")) - 0 * COUNT("policy_engine_value_3")) + COUNT("policy_engine_value_3")), (2 * CASE WHEN COUNT("policy_engine_value_3") = 0 THEN 1 ELSE COUNT("policy_engine_value_3") END)) END AS "policy_engine_value_3",
    CASE WHEN toInt64(COUNT(*)) > 3 THEN 3 ELSE toInt64(COUNT(*)) END AS "policy_engine_many_1"

  FROM ranked
  GROUP BY "age", "born", policy_engine_unit
), placed AS (
  SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_place
  FROM (
    SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"
    FROM gathered
    WHERE policy_engine_rows <= 3
    UNION ALL
    SELECT "age", "born", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"
    FROM trimmed
  ) AS policy_engine_given
), chosen AS (
  SELECT "age", "born", "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY lower(hex(SHA256({salt:String} || ':o:' || toString(policy_engine_unit) || ':' || toString(policy_engine_place)))), policy_engine_place) AS policy_engine_rank
  FROM placed
), grouped AS (
  SELECT "age", "born", toInt64(COUNT(*)) AS policy_engine_people,
    toInt64(SUM("policy_engine_many_1")) AS "policy_engine_total_1",
    toInt64(SUM("policy_engine_many_2")) AS "policy_engine_total_2",
    COALESCE(toInt64(SUM("policy_engine_value_2")), 0) - 2 * toInt64(SUM("policy_engine_many_2")) AS "policy_engine_total_3",
    COUNT("policy_engine_value_3") AS "policy_engine_total_4",
    COALESCE(toInt64(SUM("policy_engine_value_3")), 0) - 50 * COUNT("policy_engine_value_3") AS "policy_engine_total_5"
  FROM chosen
  WHERE policy_engine_rank <= 2
  GROUP BY "age", "born"
), drawn AS (
  SELECT "age", "born", policy_engine_people, "policy_engine_total_1", "policy_engine_total_2", "policy_engine_total_3", "policy_engine_total_4", "policy_engine_total_5",
    lower(hex(SHA256({salt:String} || ':g:0:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST))))) AS policy_engine_hash,
    lower(hex(SHA256({salt:String} || ':g:1:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST))))) AS "policy_engine_hash_1",
    lower(hex(SHA256({salt:String} || ':g:2:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST))))) AS "policy_engine_hash_2",
    lower(hex(SHA256({salt:String} || ':g:3:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST))))) AS "policy_engine_hash_3",
    lower(hex(SHA256({salt:String} || ':g:4:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST))))) AS "policy_engine_hash_4",
    lower(hex(SHA256({salt:String} || ':g:5:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST))))) AS "policy_engine_hash_5"
  FROM grouped
), noised AS (
  SELECT "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < '07ce4b49c117112' THEN -6
      WHEN policy_engine_hash < '139cf2e84a33590' THEN -5
      WHEN policy_engine_hash < '242dab63027da2f' THEN -4
      WHEN policy_engine_hash < '39bc1067b6b3b83' THEN -3
      WHEN policy_engine_hash < '53c09444b4b4f29' THEN -2
      WHEN policy_engine_hash < '70e0e794f26d702' THEN -1
      WHEN policy_engine_hash < '8f1f186b0d928fe' THEN 0
      WHEN policy_engine_hash < 'ac3f6bbb4b4b0d7' THEN 1
      WHEN policy_engine_hash < 'c643ef98494c47d' THEN 2
      WHEN policy_engine_hash < 'dbd2549cfd825d1' THEN 3
      WHEN policy_engine_hash < 'ec630d17b5cca70' THEN 4
      WHEN policy_engine_hash < 'f831b4b63ee8eee' THEN 5
      ELSE 6
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < '00ad70549ba08c9' THEN -21
      WHEN "policy_engine_hash_1" < '018fa4a0823f404' THEN -20
      WHEN "policy_engine_hash_1" < '02b2de2d14246b6' THEN -19
      WHEN "policy_engine_hash_1" < '0424f9e75e272a5' THEN -18
      WHEN "policy_engine_hash_1" < '05f547af1d7d15c' THEN -17
      WHEN "policy_engine_hash_1" < '0834412cc477d0b' THEN -16
      WHEN "policy_engine_hash_1" < '0af31cf9c7b20d0' THEN -15
      WHEN "policy_engine_hash_1" < '0e433d287557ad9' THEN -14
      WHEN "policy_engine_hash_1" < '12357b2002caf5c' THEN -13
      WHEN "policy_engine_hash_1" < '16d956211ec31e1' THEN -12
      WHEN "policy_engine_hash_1" < '1c3c0d58683e4cc' THEN -11
      WHEN "policy_engine_hash_1" < '2267b1caa620b29' THEN -10
      WHEN "policy_engine_hash_1" < '29623f39b17297d' THEN -9
      WHEN "policy_engine_hash_1" < '312cccf7336919c' THEN -8
      WHEN "policy_engine_hash_1" < '39c2e817cc63a53' THEN -7
      WHEN "policy_engine_hash_1" < '431a275e7f56ef9' THEN -6
      WHEN "policy_engine_hash_1" < '4d22066ef674a9a' THEN -5
      WHEN "policy_engine_hash_1" < '57c411786b51231' THEN -4
      WHEN "policy_engine_hash_1" < '62e464e9315dddf' THEN -3
      WHEN "policy_engine_hash_1" < '6e627e50d36b9fb' THEN -2
      WHEN "policy_engine_hash_1" < '7a1a5502e6c99ee' THEN -1
      WHEN "policy_engine_hash_1" < '85e5aafd1936612' THEN 0
      WHEN "policy_engine_hash_1" < '919d81af2c94605' THEN 1
      WHEN "policy_engine_hash_1" < '9d1b9b16cea2221' THEN 2
      WHEN "policy_engine_hash_1" < 'a83bee8794aedcf' THEN 3
      WHEN "policy_engine_hash_1" < 'b2ddf991098b566' THEN 4
      WHEN "policy_engine_hash_1" < 'bce5d8a180a9107' THEN 5
      WHEN "policy_engine_hash_1" < 'c63d17e8339c5ad' THEN 6
      WHEN "policy_engine_hash_1" < 'ced33308cc96e64' THEN 7
      WHEN "policy_engine_hash_1" < 'd69dc0c64e8d683' THEN 8
      WHEN "policy_engine_hash_1" < 'dd984e3559df4d7' THEN 9
      WHEN "policy_engine_hash_1" < 'e3c3f2a797c1b34' THEN 10
      WHEN "policy_engine_hash_1" < 'e926a9dee13ce1f' THEN 11
      WHEN "policy_engine_hash_1" < 'edca84dffd350a4' THEN 12
      WHEN "policy_engine_hash_1" < 'f1bcc2d78aa8527' THEN 13
      WHEN "policy_engine_hash_1" < 'f50ce306384df30' THEN 14
      WHEN "policy_engine_hash_1" < 'f7cbbed33b882f5' THEN 15
      WHEN "policy_engine_hash_1" < 'fa0ab850e282ea4' THEN 16
      WHEN "policy_engine_hash_1" < 'fbdb0618a1d8d5b' THEN 17
      WHEN "policy_engine_hash_1" < 'fd4d21d2ebdb94a' THEN 18
      WHEN "policy_engine_hash_1" < 'fe705b5f7dc0bfc' THEN 19
      WHEN "policy_engine_hash_1" < 'ff528fab645f737' THEN 20
      ELSE 21
    END AS "policy_engine_total_1",
    "policy_engine_total_2" + CASE
      WHEN "policy_engine_hash_2" < '00ad70549ba08c9' THEN -21
      WHEN "policy_engine_hash_2" < '018fa4a0823f404' THEN -20
      WHEN "policy_engine_hash_2" < '02b2de2d14246b6' THEN -19
      WHEN "policy_engine_hash_2" < '0424f9e75e272a5' THEN -18
      WHEN "policy_engine_hash_2" < '05f547af1d7d15c' THEN -17
      WHEN "policy_engine_hash_2" < '0834412cc477d0b' THEN -16
      WHEN "policy_engine_hash_2" < '0af31cf9c7b20d0' THEN -15
      WHEN "policy_engine_hash_2" < '0e433d287557ad9' THEN -14
      WHEN "policy_engine_hash_2" < '12357b2002caf5c' THEN -13
      WHEN "policy_engine_hash_2" < '16d956211ec31e1' THEN -12
      WHEN "policy_engine_hash_2" < '1c3c0d58683e4cc' THEN -11
      WHEN "policy_engine_hash_2" < '2267b1caa620b29' THEN -10
      WHEN "policy_engine_hash_2" < '29623f39b17297d' THEN -9
      WHEN "policy_engine_hash_2" < '312cccf7336919c' THEN -8
      WHEN "policy_engine_hash_2" < '39c2e817cc63a53' THEN -7
      WHEN "policy_engine_hash_2" < '431a275e7f56ef9' THEN -6
      WHEN "policy_engine_hash_2" < '4d22066ef674a9a' THEN -5
      WHEN "policy_engine_hash_2" < '57c411786b51231' THEN -4
      WHEN "policy_engine_hash_2" < '62e464e9315dddf' THEN -3
      WHEN "policy_engine_hash_2" < '6e627e50d36b9fb' THEN -2
      WHEN "policy_engine_hash_2" < '7a1a5502e6c99ee' THEN -1
      WHEN "policy_engine_hash_2" < '85e5aafd1936612' THEN 0
      WHEN "policy_engine_hash_2" < '919d81af2c94605' THEN 1
      WHEN "policy_engine_hash_2" < '9d1b9b16cea2221' THEN 2
      WHEN "policy_engine_hash_2" < 'a83bee8794aedcf' THEN 3
      WHEN "policy_engine_hash_2" < 'b2ddf991098b566' THEN 4
      WHEN "policy_engine_hash_2" < 'bce5d8a180a9107' THEN 5
      WHEN "policy_engine_hash_2" < 'c63d17e8339c5ad' THEN 6
      WHEN "policy_engine_hash_2" < 'ced33308cc96e64' THEN 7
      WHEN "policy_engine_hash_2" < 'd69dc0c64e8d683' THEN 8
      WHEN "policy_engine_hash_2" < 'dd984e3559df4d7' THEN 9
      WHEN "policy_engine_hash_2" < 'e3c3f2a797c1b34' THEN 10
      WHEN "policy_engine_hash_2" < 'e926a9dee13ce1f' THEN 11
      WHEN "policy_engine_hash_2" < 'edca84dffd350a4' THEN 12
      WHEN "policy_engine_hash_2" < 'f1bcc2d78aa8527' THEN 13
      WHEN "policy_engine_hash_2" < 'f50ce306384df30' THEN 14
      WHEN "policy_engine_hash_2" < 'f7cbbed33b882f5' THEN 15
      WHEN "policy_engine_hash_2" < 'fa0ab850e282ea4' THEN 16
      WHEN "policy_engine_hash_2" < 'fbdb0618a1d8d5b' THEN 17
      WHEN "policy_engine_hash_2" < 'fd4d21d2ebdb94a' THEN 18
      WHEN "policy_engine_hash_2" < 'fe705b5f7dc0bfc' THEN 19
      WHEN "policy_engine_hash_2" < 'ff528fab645f737' THEN 20
      ELSE 21
    END AS "policy_engine_total_2",
    "policy_engine_total_3" + CASE
      WHEN "policy_engine_hash_3" < '05541558a9a026c' THEN CASE
      WHEN "policy_engine_hash_3" < '0056d3940980c09' THEN -42
      WHEN "policy_engine_hash_3" < '00ba2545ced6708' THEN -41
      WHEN "policy_engine_hash_3" < '012b632c8144dca' THEN -40
      WHEN "policy_engine_hash_3" < '01ac1605cd04c94' THEN -39
      WHEN "policy_engine_hash_3" < '023de0d3b65dbe3' THEN -38
      WHEN "policy_engine_hash_3" < '02e280105efbe6e' THEN -37
      WHEN "policy_engine_hash_3" < '039bc86cf3641bb' THEN -36
      WHEN "policy_engine_hash_3" < '046ba511fc6b822' THEN -35
      ELSE -34
    END
      WHEN "policy_engine_hash_3" < '13308b5ddd6be6f' THEN CASE
      WHEN "policy_engine_hash_3" < '065729f66222bcc' THEN -33
      WHEN "policy_engine_hash_3" < '0777019601760a6' THEN -32
      WHEN "policy_engine_hash_3" < '08b5c4dc9a328a5' THEN -31
      WHEN "policy_engine_hash_3" < '0a15a1da631cd22' THEN -30
      WHEN "policy_engine_hash_3" < '0b98c6eb8a35d36' THEN -29
      WHEN "policy_engine_hash_3" < '0d415d0ffff2e85' THEN -28
      WHEN "policy_engine_hash_3" < '0f1181c4d27a4fa' THEN -27
      WHEN "policy_engine_hash_3" < '110b406d51f6a4c' THEN -26
      ELSE -25
    END
      WHEN "policy_engine_hash_3" < '2f13af186b7ff10' THEN CASE
      WHEN "policy_engine_hash_3" < '1583349dca327bf' THEN -24
      WHEN "policy_engine_hash_3" < '1804e6793cd86d8' THEN -23
      WHEN "policy_engine_hash_3" < '1ab71bfee5226e0' THEN -22
      WHEN "policy_engine_hash_3" < '1d9b1988448969e' THEN -21
      WHEN "policy_engine_hash_3" < '20b1e56d5be5fea' THEN -20
      WHEN "policy_engine_hash_3" < '23fc410638ba643' THEN -19
      WHEN "policy_engine_hash_3" < '277aa21dc61af7f' THEN -18
      WHEN "policy_engine_hash_3" < '2b2d2cf96d9cfd1' THEN -17
      ELSE -16
    END
      WHEN "policy_engine_hash_3" < '5a79607bcbe5369' THEN CASE
      WHEN "policy_engine_hash_3" < '332d9acc35566f9' THEN -15
      WHEN "policy_engine_hash_3" < '377a03c8f09d7f2' THEN -14
      WHEN "policy_engine_hash_3" < '3bf79cc9ba398cd' THEN -13
      WHEN "policy_engine_hash_3" < '40a4b66072b0c46' THEN -12
      WHEN "policy_engine_hash_3" < '457f3f03f5e9a0d' THEN -11
      WHEN "policy_engine_hash_3" < '4a84c46a2f723bd' THEN -10
      WHEN "policy_engine_hash_3" < '4fb276357b355cb' THEN -9
      WHEN "policy_engine_hash_3" < '550529f658bcec6' THEN -8
      ELSE -7
    END
      WHEN "policy_engine_hash_3" < '8eb69f9c0ba23eb' THEN CASE
      WHEN "policy_engine_hash_3" < '600b4c6603ba005' THEN -6
      WHEN "policy_engine_hash_3" < '65b6d9e833b95cc' THEN -5
      WHEN "policy_engine_hash_3" < '6b77b7a02231511' THEN -4
      WHEN "policy_engine_hash_3" < '71496063f45dc15' THEN -3
      WHEN "policy_engine_hash_3" < '772725e16094511' THEN -2
      WHEN "policy_engine_hash_3" < '7d0c3be4cebfac1' THEN -1
      WHEN "policy_engine_hash_3" < '82f3c41b314053f' THEN 0
      WHEN "policy_engine_hash_3" < '88d8da1e9f6baef' THEN 1
      ELSE 2
    END
      WHEN "policy_engine_hash_3" < 'bf5b499f8d4f3ba' THEN CASE
      WHEN "policy_engine_hash_3" < '9488485fddceaef' THEN 3
      WHEN "policy_engine_hash_3" < '9a492617cc46a34' THEN 4
      WHEN "policy_engine_hash_3" < '9ff4b399fc45ffb' THEN 5
      WHEN "policy_engine_hash_3" < 'a5869f84341ac97' THEN 6
      WHEN "policy_engine_hash_3" < 'aafad609a74313a' THEN 7
      WHEN "policy_engine_hash_3" < 'b04d89ca84caa35' THEN 8
      WHEN "policy_engine_hash_3" < 'b57b3b95d08dc43' THEN 9
      WHEN "policy_engine_hash_3" < 'ba80c0fc0a165f3' THEN 10
      ELSE 11
    END
      WHEN "policy_engine_hash_3" < 'e264e677bb76962' THEN CASE
      WHEN "policy_engine_hash_3" < 'c408633645c6733' THEN 12
      WHEN "policy_engine_hash_3" < 'c885fc370f6280e' THEN 13
      WHEN "policy_engine_hash_3" < 'ccd26533caa9907' THEN 14
      WHEN "policy_engine_hash_3" < 'd0ec50e794800f0' THEN 15
      WHEN "policy_engine_hash_3" < 'd4d2d306926302f' THEN 16
      WHEN "policy_engine_hash_3" < 'd8855de239e5081' THEN 17
      WHEN "policy_engine_hash_3" < 'dc03bef9c7459bd' THEN 18
      WHEN "policy_engine_hash_3" < 'df4e1a92a41a016' THEN 19
      ELSE 20
    END
      WHEN "policy_engine_hash_3" < 'f5ea5e259ce32de' THEN CASE
      WHEN "policy_engine_hash_3" < 'e548e4011add920' THEN 21
      WHEN "policy_engine_hash_3" < 'e7fb1986c327928' THEN 22
      WHEN "policy_engine_hash_3" < 'ea7ccb6235cd841' THEN 23
      WHEN "policy_engine_hash_3" < 'eccf74a22294191' THEN 24
      WHEN "policy_engine_hash_3" < 'eef4bf92ae095b4' THEN 25
      WHEN "policy_engine_hash_3" < 'f0ee7e3b2d85b06' THEN 26
      WHEN "policy_engine_hash_3" < 'f2bea2f0000d17b' THEN 27
      WHEN "policy_engine_hash_3" < 'f467391475ca2ca' THEN 28
      ELSE 29
    END
      WHEN "policy_engine_hash_3" < 'fe53e9fa32fb36c' THEN CASE
      WHEN "policy_engine_hash_3" < 'f74a3b2365cd75b' THEN 30
      WHEN "policy_engine_hash_3" < 'f888fe69fe89f5a' THEN 31
      WHEN "policy_engine_hash_3" < 'f9a8d6099ddd434' THEN 32
      WHEN "policy_engine_hash_3" < 'faabeaa7565fd94' THEN 33
      WHEN "policy_engine_hash_3" < 'fb945aee03947de' THEN 34
      WHEN "policy_engine_hash_3" < 'fc6437930c9be45' THEN 35
      WHEN "policy_engine_hash_3" < 'fd1d7fefa104192' THEN 36
      WHEN "policy_engine_hash_3" < 'fdc21f2c49a241d' THEN 37
      ELSE 38
    END
      ELSE CASE
      WHEN "policy_engine_hash_3" < 'fed49cd37ebb236' THEN 39
      WHEN "policy_engine_hash_3" < 'ff45daba31298f8' THEN 40
      WHEN "policy_engine_hash_3" < 'ffa92c6bf67f3f7' THEN 41
      ELSE 42
    END
    END AS "policy_engine_total_3",
    "policy_engine_total_4" + CASE
      WHEN "policy_engine_hash_4" < '049d28cb2595dab' THEN -7
      WHEN "policy_engine_hash_4" < '0c236c356530247' THEN -6
      WHEN "policy_engine_hash_4" < '17851f5a0ff86df' THEN -5
      WHEN "policy_engine_hash_4" < '277cfb4727f2342' THEN -4
      WHEN "policy_engine_hash_4" < '3c44759d19077ad' THEN -3
      WHEN "policy_engine_hash_4" < '5558e386be072a3' THEN -2
      WHEN "policy_engine_hash_4" < '716c714df58b899' THEN -1
      WHEN "policy_engine_hash_4" < '8e938eb20a74767' THEN 0
      WHEN "policy_engine_hash_4" < 'aaa71c7941f8d5d' THEN 1
      WHEN "policy_engine_hash_4" < 'c3bb8a62e6f8853' THEN 2
      WHEN "policy_engine_hash_4" < 'd88304b8d80dcbe' THEN 3
      WHEN "policy_engine_hash_4" < 'e87ae0a5f007921' THEN 4
      WHEN "policy_engine_hash_4" < 'f3dc93ca9acfdb9' THEN 5
      WHEN "policy_engine_hash_4" < 'fb62d734da6a255' THEN 6
      ELSE 7
    END AS "policy_engine_total_4",
    "policy_engine_total_5" - "policy_engine_total_5" % 5 + toInt64(5) * CASE
      WHEN "policy_engine_hash_5" < '0299d541cdb9798' THEN CASE
      WHEN "policy_engine_hash_5" < '00259736b43ee4b' THEN -70
      WHEN "policy_engine_hash_5" < '004ecd24c11eaa5' THEN -69
      WHEN "policy_engine_hash_5" < '007bebbe006246b' THEN -68
      WHEN "policy_engine_hash_5" < '00ad41348c7939b' THEN -67
      WHEN "policy_engine_hash_5" < '00e3200be63230b' THEN -66
      WHEN "policy_engine_hash_5" < '011ddf27c75346b' THEN -65
      WHEN "policy_engine_hash_5" < '015dd9d621553f7' THEN -64
      WHEN "policy_engine_hash_5" < '01a36fd3c5e7307' THEN -63
      WHEN "policy_engine_hash_5" < '01ef054b36654fe' THEN -62
      WHEN "policy_engine_hash_5" < '024102cd182b35b' THEN -61
      ELSE -60
    END
      WHEN "policy_engine_hash_5" < '08b6cba28501263' THEN CASE
      WHEN "policy_engine_hash_5" < '02f9edd3b820036' THEN -59
      WHEN "policy_engine_hash_5" < '0361c1d1a916fd4' THEN -58
      WHEN "policy_engine_hash_5" < '03d1ca8914ba882' THEN -57
      WHEN "policy_engine_hash_5" < '044a85179a082ef' THEN -56
      WHEN "policy_engine_hash_5" < '04cc72338313a9c' THEN -55
      WHEN "policy_engine_hash_5" < '055815eae97191e' THEN -54
      WHEN "policy_engine_hash_5" < '05edf7593894177' THEN -53
      WHEN "policy_engine_hash_5" < '068ea052d6c43e8' THEN -52
      WHEN "policy_engine_hash_5" < '073a9d06cdf8b69' THEN -51
      WHEN "policy_engine_hash_5" < '07f27b965ffb2f9' THEN -50
      ELSE -49
    END
      WHEN "policy_engine_hash_5" < '14fb6482af651b1' THEN CASE
      WHEN "policy_engine_hash_5" < '09881dcf68fa3a2' THEN -48
      WHEN "policy_engine_hash_5" < '0a67033e123a94b' THEN -47
      WHEN "policy_engine_hash_5" < '0b540cfc73abad9' THEN -46
      WHEN "policy_engine_hash_5" < '0c4fcb6c45228b7' THEN -45
      WHEN "policy_engine_hash_5" < '0d5acda115ac230' THEN -44
      WHEN "policy_engine_hash_5" < '0e75a0b6255495a' THEN -43
      WHEN "policy_engine_hash_5" < '0fa0cf1cade563f' THEN -42
      WHEN "policy_engine_hash_5" < '10dcdfe35c0cfa9' THEN -41
      WHEN "policy_engine_hash_5" < '122a55f7d40eee9' THEN -40
      WHEN "policy_engine_hash_5" < '1389af633633ffe' THEN -39
      ELSE -38
    END
      WHEN "policy_engine_hash_5" < '2a00da9b7686324' THEN CASE
      WHEN "policy_engine_hash_5" < '167fe73d395cffb' THEN -37
      WHEN "policy_engine_hash_5" < '1817a237c358119' THEN -36
      WHEN "policy_engine_hash_5" < '19c2f8090fd0bbe' THEN -35
      WHEN "policy_engine_hash_5" < '1b82426ea559aca' THEN -34
      WHEN "policy_engine_hash_5" < '1d55d1843fb9a82' THEN -33
      WHEN "policy_engine_hash_5" < '1f3deaff3ac6296' THEN -32
      WHEN "policy_engine_hash_5" < '213ac96f79d6c83' THEN -31
      WHEN "policy_engine_hash_5" < '234c9b8754cddc8' THEN -30
      WHEN "policy_engine_hash_5" < '2573836c1664ae0' THEN -29
      WHEN "policy_engine_hash_5" < '27af9610967c9ca' THEN -28
      ELSE -27
    END
      WHEN "policy_engine_hash_5" < '48c27eeeee19ace' THEN CASE
      WHEN "policy_engine_hash_5" < '2c6749da7d804ae' THEN -26
      WHEN "policy_engine_hash_5" < '2ee2cdc48494aea' THEN -25
      WHEN "policy_engine_hash_5" < '3173410b54e8609' THEN -24
      WHEN "policy_engine_hash_5" < '34186ebec2dc682' THEN -23
      WHEN "policy_engine_hash_5" < '36d212023acc397' THEN -22
      WHEN "policy_engine_hash_5" < '399fd5d5d771f96' THEN -21
      WHEN "policy_engine_hash_5" < '3c8154f3faac16f' THEN -20
      WHEN "policy_engine_hash_5" < '3f7619c43ea4e25' THEN -19
      WHEN "policy_engine_hash_5" < '427d9e646f99b30' THEN -18
      WHEN "policy_engine_hash_5" < '45974cc81605071' THEN -17
      ELSE -16
    END
      WHEN "policy_engine_hash_5" < '6f2f134c8e1f221' THEN CASE
      WHEN "policy_engine_hash_5" < '4bfe7f327cb2114' THEN -15
      WHEN "policy_engine_hash_5" < '4f4a88aac3846ea' THEN -14
      WHEN "policy_engine_hash_5" < '52a5c7a9e70863e' THEN -13
      WHEN "policy_engine_hash_5" < '560f5a4e687ff42' THEN -12
      WHEN "policy_engine_hash_5" < '5986512b6685133' THEN -11
      WHEN "policy_engine_hash_5" < '5d09b00626d879c' THEN -10
      WHEN "policy_engine_hash_5" < '60986ea7fd7a7b4' THEN -9
      WHEN "policy_engine_hash_5" < '643179c377d6571' THEN -8
      WHEN "policy_engine_hash_5" < '67d3b3eb877cfbd' THEN -7
      WHEN "policy_engine_hash_5" < '6b7df69b3f1256d' THEN -6
      ELSE -5
    END
      WHEN "policy_engine_hash_5" < '982c4c147883043' THEN CASE
      WHEN "policy_engine_hash_5" < '72e5d49c45e04af' THEN -4
      WHEN "policy_engine_hash_5" < '76a0ff7992530eb' THEN -3
      WHEN "policy_engine_hash_5" < '7a5f545ef7fddb6' THEN -2
      WHEN "policy_engine_hash_5" < '7e1f9092d0a2218' THEN -1
      WHEN "policy_engine_hash_5" < '81e06f6d2f5dde8' THEN 0
      WHEN "policy_engine_hash_5" < '85a0aba1080224a' THEN 1
      WHEN "policy_engine_hash_5" < '895f00866dacf15' THEN 2
      WHEN "policy_engine_hash_5" < '8d1a2b63ba1fb51' THEN 3
      WHEN "policy_engine_hash_5" < '90d0ecb371e0ddf' THEN 4
      WHEN "policy_engine_hash_5" < '94820964c0eda93' THEN 5
      ELSE 6
    END
      WHEN "policy_engine_hash_5" < 'bd82619b90664d0' THEN CASE
      WHEN "policy_engine_hash_5" < '9bce863c8829a8f' THEN 7
      WHEN "policy_engine_hash_5" < '9f679158028584c' THEN 8
      WHEN "policy_engine_hash_5" < 'a2f64ff9d927864' THEN 9
      WHEN "policy_engine_hash_5" < 'a679aed4997aecd' THEN 10
      WHEN "policy_engine_hash_5" < 'a9f0a5b197800be' THEN 11
      WHEN "policy_engine_hash_5" < 'ad5a385618f79c2' THEN 12
      WHEN "policy_engine_hash_5" < 'b0b577553c7b916' THEN 13
      WHEN "policy_engine_hash_5" < 'b40180cd834deec' THEN 14
      WHEN "policy_engine_hash_5" < 'b73d811111e6532' THEN 15
      WHEN "policy_engine_hash_5" < 'ba68b337e9faf8f' THEN 16
      ELSE 17
    END
      WHEN "policy_engine_hash_5" < 'da8c7c93e99b520' THEN CASE
      WHEN "policy_engine_hash_5" < 'c089e63bc15b1db' THEN 18
      WHEN "policy_engine_hash_5" < 'c37eab0c0553e91' THEN 19
      WHEN "policy_engine_hash_5" < 'c6602a2a288e06a' THEN 20
      WHEN "policy_engine_hash_5" < 'c92dedfdc533c69' THEN 21
      WHEN "policy_engine_hash_5" < 'cbe791413d2397e' THEN 22
      WHEN "policy_engine_hash_5" < 'ce8cbef4ab179f7' THEN 23
      WHEN "policy_engine_hash_5" < 'd11d323b7b6b516' THEN 24
      WHEN "policy_engine_hash_5" < 'd398b625827fb52' THEN 25
      WHEN "policy_engine_hash_5" < 'd5ff25648979cdc' THEN 26
      WHEN "policy_engine_hash_5" < 'd85069ef6983636' THEN 27
      ELSE 28
    END
      WHEN "policy_engine_hash_5" < 'edd5aa082bf1117' THEN CASE
      WHEN "policy_engine_hash_5" < 'dcb36478ab32238' THEN 29
      WHEN "policy_engine_hash_5" < 'dec53690862937d' THEN 30
      WHEN "policy_engine_hash_5" < 'e0c21500c539d6a' THEN 31
      WHEN "policy_engine_hash_5" < 'e2aa2e7bc04657e' THEN 32
      WHEN "policy_engine_hash_5" < 'e47dbd915aa6536' THEN 33
      WHEN "policy_engine_hash_5" < 'e63d07f6f02f442' THEN 34
      WHEN "policy_engine_hash_5" < 'e7e85dc83ca7ee7' THEN 35
      WHEN "policy_engine_hash_5" < 'e98018c2c6a3005' THEN 36
      WHEN "policy_engine_hash_5" < 'eb049b7d509ae4f' THEN 37
      WHEN "policy_engine_hash_5" < 'ec76509cc9cc002' THEN 38
      ELSE 39
    END
      WHEN "policy_engine_hash_5" < 'f8c562f93207497' THEN CASE
      WHEN "policy_engine_hash_5" < 'ef23201ca3f3057' THEN 40
      WHEN "policy_engine_hash_5" < 'f05f30e3521a9c1' THEN 41
      WHEN "policy_engine_hash_5" < 'f18a5f49daab6a6' THEN 42
      WHEN "policy_engine_hash_5" < 'f2a5325eea53dd0' THEN 43
      WHEN "policy_engine_hash_5" < 'f3b03493badd749' THEN 44
      WHEN "policy_engine_hash_5" < 'f4abf3038c54527' THEN 45
      WHEN "policy_engine_hash_5" < 'f598fcc1edc56b5' THEN 46
      WHEN "policy_engine_hash_5" < 'f677e2309705c5e' THEN 47
      WHEN "policy_engine_hash_5" < 'f749345d7afed9d' THEN 48
      WHEN "policy_engine_hash_5" < 'f80d8469a004d07' THEN 49
      ELSE 50
    END
      WHEN "policy_engine_hash_5" < 'fe10fab4c99ab02' THEN CASE
      WHEN "policy_engine_hash_5" < 'f9715fad293bc18' THEN 51
      WHEN "policy_engine_hash_5" < 'fa1208a6c76be89' THEN 52
      WHEN "policy_engine_hash_5" < 'faa7ea15168e6e2' THEN 53
      WHEN "policy_engine_hash_5" < 'fb338dcc7cec564' THEN 54
      WHEN "policy_engine_hash_5" < 'fbb57ae865f7d11' THEN 55
      WHEN "policy_engine_hash_5" < 'fc2e3576eb4577e' THEN 56
      WHEN "policy_engine_hash_5" < 'fc9e3e2e56e902c' THEN 57
      WHEN "policy_engine_hash_5" < 'fd06122c47dffca' THEN 58
      WHEN "policy_engine_hash_5" < 'fd662abe3246868' THEN 59
      WHEN "policy_engine_hash_5" < 'fdbefd32e7d4ca5' THEN 60
      ELSE 61
    END
      ELSE CASE
      WHEN "policy_engine_hash_5" < 'fe5c902c3a18cf9' THEN 62
      WHEN "policy_engine_hash_5" < 'fea22629deaac09' THEN 63
      WHEN "policy_engine_hash_5" < 'fee220d838acb95' THEN 64
      WHEN "policy_engine_hash_5" < 'ff1cdff419cdcf5' THEN 65
      WHEN "policy_engine_hash_5" < 'ff52becb7386c65' THEN 66
      WHEN "policy_engine_hash_5" < 'ff841441ff9db95' THEN 67
      WHEN "policy_engine_hash_5" < 'ffb132db3ee155b' THEN 68
      WHEN "policy_engine_hash_5" < 'ffda68c94bc11b5' THEN 69
      ELSE 70
    END
    END AS "policy_engine_total_5"
  FROM drawn
), bounded AS (
  SELECT "age", "born", policy_engine_n, "policy_engine_total_1", "policy_engine_total_2", "policy_engine_total_3", "policy_engine_total_4", "policy_engine_total_5",
    CASE WHEN "policy_engine_total_2" < 1 THEN NULL WHEN "policy_engine_total_3" + 2 * "policy_engine_total_2" < 0 THEN 0 WHEN "policy_engine_total_3" + 2 * "policy_engine_total_2" > 4 * "policy_engine_total_2" THEN 4 * "policy_engine_total_2" ELSE "policy_engine_total_3" + 2 * "policy_engine_total_2" END AS "policy_engine_above_2",
    CASE WHEN "policy_engine_total_2" < 1 THEN 1 ELSE "policy_engine_total_2" END AS "policy_engine_divisor_2",
    CASE WHEN "policy_engine_total_4" < 1 THEN NULL WHEN "policy_engine_total_5" + 50 * "policy_engine_total_4" < 0 THEN 0 WHEN "policy_engine_total_5" + 50 * "policy_engine_total_4" > 100 * "policy_engine_total_4" THEN 100 * "policy_engine_total_4" ELSE "policy_engine_total_5" + 50 * "policy_engine_total_4" END AS "policy_engine_above_4",
    CASE WHEN "policy_engine_total_4" < 1 THEN 1 ELSE "policy_engine_total_4" END AS "policy_engine_divisor_4"
  FROM noised
), cut AS (
  SELECT CASE WHEN COUNT(*) > 2 THEN 1 ELSE 0 END AS "policy_engine_cut_1",
CASE WHEN MAX(policy_engine_rows) > 3 THEN 1 ELSE 0 END AS "policy_engine_cut_2",
MAX("policy_engine_cut_3") AS "policy_engine_cut_3",
MAX("policy_engine_cut_4") AS "policy_engine_cut_4",
MAX("policy_engine_cut_5") AS "policy_engine_cut_5",
MAX("policy_engine_cut_6") AS "policy_engine_cut_6"
  FROM gathered
  GROUP BY policy_engine_unit
), told AS (
  SELECT COALESCE(toInt64(SUM("policy_engine_cut_1")), 0) AS "policy_engine_cut_1", lower(hex(SHA256({salt:String} || ':g:6:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(1)))) AS "policy_engine_cut_hash_1",
COALESCE(toInt64(SUM("policy_engine_cut_2")), 0) AS "policy_engine_cut_2", lower(hex(SHA256({salt:String} || ':g:7:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(1)))) AS "policy_engine_cut_hash_2",
COALESCE(toInt64(SUM("policy_engine_cut_3")), 0) AS "policy_engine_cut_3", lower(hex(SHA256({salt:String} || ':g:8:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(1)))) AS "policy_engine_cut_hash_3",
COALESCE(toInt64(SUM("policy_engine_cut_4")), 0) AS "policy_engine_cut_4", lower(hex(SHA256({salt:String} || ':g:9:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(1)))) AS "policy_engine_cut_hash_4",
COALESCE(toInt64(SUM("policy_engine_cut_5")), 0) AS "policy_engine_cut_5", lower(hex(SHA256({salt:String} || ':g:10:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(1)))) AS "policy_engine_cut_hash_5",
COALESCE(toInt64(SUM("policy_engine_cut_6")), 0) AS "policy_engine_cut_6", lower(hex(SHA256({salt:String} || ':g:11:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' || toString(1)))) AS "policy_engine_cut_hash_6"
  FROM cut
)
SELECT "age", "born", policy_engine_n AS "people",
  "policy_engine_total_1" AS "visits",
  intDiv((2 * "policy_engine_above_2" + "policy_engine_divisor_2"), (2 * "policy_engine_divisor_2")) * 10 AS "pay",
  ("policy_engine_total_3" + 2 * "policy_engine_total_2") * 10 AS "paid",
  intDiv((2 * "policy_engine_above_4" + "policy_engine_divisor_4"), (2 * "policy_engine_divisor_4")) AS "years",
  "policy_engine_cut_1" + CASE
      WHEN "policy_engine_cut_hash_1" < '049d28cb2595dab' THEN -7
      WHEN "policy_engine_cut_hash_1" < '0c236c356530247' THEN -6
      WHEN "policy_engine_cut_hash_1" < '17851f5a0ff86df' THEN -5
      WHEN "policy_engine_cut_hash_1" < '277cfb4727f2342' THEN -4
      WHEN "policy_engine_cut_hash_1" < '3c44759d19077ad' THEN -3
      WHEN "policy_engine_cut_hash_1" < '5558e386be072a3' THEN -2
      WHEN "policy_engine_cut_hash_1" < '716c714df58b899' THEN -1
      WHEN "policy_engine_cut_hash_1" < '8e938eb20a74767' THEN 0
      WHEN "policy_engine_cut_hash_1" < 'aaa71c7941f8d5d' THEN 1
      WHEN "policy_engine_cut_hash_1" < 'c3bb8a62e6f8853' THEN 2
      WHEN "policy_engine_cut_hash_1" < 'd88304b8d80dcbe' THEN 3
      WHEN "policy_engine_cut_hash_1" < 'e87ae0a5f007921' THEN 4
      WHEN "policy_engine_cut_hash_1" < 'f3dc93ca9acfdb9' THEN 5
      WHEN "policy_engine_cut_hash_1" < 'fb62d734da6a255' THEN 6
      ELSE 7
    END AS "people_with_groups_cut",
  "policy_engine_cut_2" + CASE
      WHEN "policy_engine_cut_hash_2" < '049d28cb2595dab' THEN -7
      WHEN "policy_engine_cut_hash_2" < '0c236c356530247' THEN -6
      WHEN "policy_engine_cut_hash_2" < '17851f5a0ff86df' THEN -5
      WHEN "policy_engine_cut_hash_2" < '277cfb4727f2342' THEN -4
      WHEN "policy_engine_cut_hash_2" < '3c44759d19077ad' THEN -3
      WHEN "policy_engine_cut_hash_2" < '5558e386be072a3' THEN -2
      WHEN "policy_engine_cut_hash_2" < '716c714df58b899' THEN -1
      WHEN "policy_engine_cut_hash_2" < '8e938eb20a74767' THEN 0
      WHEN "policy_engine_cut_hash_2" < 'aaa71c7941f8d5d' THEN 1
      WHEN "policy_engine_cut_hash_2" < 'c3bb8a62e6f8853' THEN 2
      WHEN "policy_engine_cut_hash_2" < 'd88304b8d80dcbe' THEN 3
      WHEN "policy_engine_cut_hash_2" < 'e87ae0a5f007921' THEN 4
      WHEN "policy_engine_cut_hash_2" < 'f3dc93ca9acfdb9' THEN 5
      WHEN "policy_engine_cut_hash_2" < 'fb62d734da6a255' THEN 6
      ELSE 7
    END AS "people_with_rows_cut",
  "policy_engine_cut_3" + CASE
      WHEN "policy_engine_cut_hash_3" < '049d28cb2595dab' THEN -7
      WHEN "policy_engine_cut_hash_3" < '0c236c356530247' THEN -6
      WHEN "policy_engine_cut_hash_3" < '17851f5a0ff86df' THEN -5
      WHEN "policy_engine_cut_hash_3" < '277cfb4727f2342' THEN -4
      WHEN "policy_engine_cut_hash_3" < '3c44759d19077ad' THEN -3
      WHEN "policy_engine_cut_hash_3" < '5558e386be072a3' THEN -2
      WHEN "policy_engine_cut_hash_3" < '716c714df58b899' THEN -1
      WHEN "policy_engine_cut_hash_3" < '8e938eb20a74767' THEN 0
      WHEN "policy_engine_cut_hash_3" < 'aaa71c7941f8d5d' THEN 1
      WHEN "policy_engine_cut_hash_3" < 'c3bb8a62e6f8853' THEN 2
      WHEN "policy_engine_cut_hash_3" < 'd88304b8d80dcbe' THEN 3
      WHEN "policy_engine_cut_hash_3" < 'e87ae0a5f007921' THEN 4
      WHEN "policy_engine_cut_hash_3" < 'f3dc93ca9acfdb9' THEN 5
      WHEN "policy_engine_cut_hash_3" < 'fb62d734da6a255' THEN 6
      ELSE 7
    END AS "pay_people_cut",
  "policy_engine_cut_4" + CASE
      WHEN "policy_engine_cut_hash_4" < '049d28cb2595dab' THEN -7
      WHEN "policy_engine_cut_hash_4" < '0c236c356530247' THEN -6
      WHEN "policy_engine_cut_hash_4" < '17851f5a0ff86df' THEN -5
      WHEN "policy_engine_cut_hash_4" < '277cfb4727f2342' THEN -4
      WHEN "policy_engine_cut_hash_4" < '3c44759d19077ad' THEN -3
      WHEN "policy_engine_cut_hash_4" < '5558e386be072a3' THEN -2
      WHEN "policy_engine_cut_hash_4" < '716c714df58b899' THEN -1
      WHEN "policy_engine_cut_hash_4" < '8e938eb20a74767' THEN 0
      WHEN "policy_engine_cut_hash_4" < 'aaa71c7941f8d5d' THEN 1
      WHEN "policy_engine_cut_hash_4" < 'c3bb8a62e6f8853' THEN 2
      WHEN "policy_engine_cut_hash_4" < 'd88304b8d80dcbe' THEN 3
      WHEN "policy_engine_cut_hash_4" < 'e87ae0a5f007921' THEN 4
      WHEN "policy_engine_cut_hash_4" < 'f3dc93ca9acfdb9' THEN 5
      WHEN "policy_engine_cut_hash_4" < 'fb62d734da6a255' THEN 6
      ELSE 7
    END AS "pay_people_missing",
  "policy_engine_cut_5" + CASE
      WHEN "policy_engine_cut_hash_5" < '049d28cb2595dab' THEN -7
      WHEN "policy_engine_cut_hash_5" < '0c236c356530247' THEN -6
      WHEN "policy_engine_cut_hash_5" < '17851f5a0ff86df' THEN -5
      WHEN "policy_engine_cut_hash_5" < '277cfb4727f2342' THEN -4
      WHEN "policy_engine_cut_hash_5" < '3c44759d19077ad' THEN -3
      WHEN "policy_engine_cut_hash_5" < '5558e386be072a3' THEN -2
      WHEN "policy_engine_cut_hash_5" < '716c714df58b899' THEN -1
      WHEN "policy_engine_cut_hash_5" < '8e938eb20a74767' THEN 0
      WHEN "policy_engine_cut_hash_5" < 'aaa71c7941f8d5d' THEN 1
      WHEN "policy_engine_cut_hash_5" < 'c3bb8a62e6f8853' THEN 2
      WHEN "policy_engine_cut_hash_5" < 'd88304b8d80dcbe' THEN 3
      WHEN "policy_engine_cut_hash_5" < 'e87ae0a5f007921' THEN 4
      WHEN "policy_engine_cut_hash_5" < 'f3dc93ca9acfdb9' THEN 5
      WHEN "policy_engine_cut_hash_5" < 'fb62d734da6a255' THEN 6
      ELSE 7
    END AS "years_people_cut",
  "policy_engine_cut_6" + CASE
      WHEN "policy_engine_cut_hash_6" < '049d28cb2595dab' THEN -7
      WHEN "policy_engine_cut_hash_6" < '0c236c356530247' THEN -6
      WHEN "policy_engine_cut_hash_6" < '17851f5a0ff86df' THEN -5
      WHEN "policy_engine_cut_hash_6" < '277cfb4727f2342' THEN -4
      WHEN "policy_engine_cut_hash_6" < '3c44759d19077ad' THEN -3
      WHEN "policy_engine_cut_hash_6" < '5558e386be072a3' THEN -2
      WHEN "policy_engine_cut_hash_6" < '716c714df58b899' THEN -1
      WHEN "policy_engine_cut_hash_6" < '8e938eb20a74767' THEN 0
      WHEN "policy_engine_cut_hash_6" < 'aaa71c7941f8d5d' THEN 1
      WHEN "policy_engine_cut_hash_6" < 'c3bb8a62e6f8853' THEN 2
      WHEN "policy_engine_cut_hash_6" < 'd88304b8d80dcbe' THEN 3
      WHEN "policy_engine_cut_hash_6" < 'e87ae0a5f007921' THEN 4
      WHEN "policy_engine_cut_hash_6" < 'f3dc93ca9acfdb9' THEN 5
      WHEN "policy_engine_cut_hash_6" < 'fb62d734da6a255' THEN 6
      ELSE 7
    END AS "years_people_missing"
FROM bounded CROSS JOIN told
WHERE policy_engine_n >= 7
ORDER BY "age" NULLS LAST, "born" NULLS LAST
