-- policy: golden
-- digest: sha256:51a7f6b6dd9f93d03dde590b60b85df5ac89b7af52b68fb23c80932267d0d35f
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
      WHEN "income" IS NULL THEN NULL
      WHEN CAST("income" AS DOUBLE) <= 0 THEN 0
      WHEN CAST("income" AS DOUBLE) >= 40 THEN 4
      ELSE CAST(ROUND(CAST("income" AS DOUBLE) / 10) AS BIGINT)
    END AS "policy_engine_value_2",
    CASE
      WHEN "income" IS NULL THEN 2
      WHEN CAST("income" AS DOUBLE) < 0 OR CAST("income" AS DOUBLE) > 40 THEN 1
      ELSE 0
    END AS "policy_engine_bent_2",
    CASE WHEN "age" IS NULL THEN NULL ELSE CAST(GREATEST(-1000000000, LEAST(1000000000, "age")) AS BIGINT) END AS "policy_engine_value_3",
    CASE
      WHEN "age" IS NULL THEN 2
      ELSE 0
    END AS "policy_engine_bent_3",
    "person" AS policy_engine_unit
  FROM people
), gathered AS MATERIALIZED (
  SELECT "age", "zip", policy_engine_unit, COUNT(*) AS policy_engine_rows,
CAST(SUM("policy_engine_value_2") AS BIGINT) AS "policy_engine_value_2", COUNT("policy_engine_value_2") AS "policy_engine_many_2",
CASE WHEN SUM("policy_engine_value_3") <= 0 * COUNT("policy_engine_value_3") THEN 0 WHEN SUM("policy_engine_value_3") >= 100 * COUNT("policy_engine_value_3") THEN 100 ELSE 0 + (2 * (CAST(SUM("policy_engine_value_3") AS BIGINT) - 0 * COUNT("policy_engine_value_3")) + COUNT("policy_engine_value_3")) // (2 * CASE WHEN COUNT("policy_engine_value_3") = 0 THEN 1 ELSE COUNT("policy_engine_value_3") END) END AS "policy_engine_value_3",
    CASE WHEN COUNT(*) > 3 THEN 3 ELSE COUNT(*) END AS "policy_engine_many_1",
MAX(CASE WHEN "policy_engine_bent_2" = 1 THEN 1 ELSE 0 END) AS "policy_engine_cut_3",
MAX(CASE WHEN "policy_engine_bent_2" = 2 THEN 1 ELSE 0 END) AS "policy_engine_cut_4",
CASE WHEN SUM("policy_engine_value_3") < 0 * COUNT("policy_engine_value_3") OR SUM("policy_engine_value_3") > 100 * COUNT("policy_engine_value_3") THEN 1 ELSE 0 END AS "policy_engine_cut_5",
MAX(CASE WHEN "policy_engine_bent_3" = 2 THEN 1 ELSE 0 END) AS "policy_engine_cut_6"

  FROM recoded
  GROUP BY "age", "zip", policy_engine_unit
), crowded AS NOT MATERIALIZED (
  SELECT policy_engine_unit AS policy_engine_many
  FROM gathered
  WHERE policy_engine_rows > 3
  GROUP BY policy_engine_unit
), lined AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_unit, "policy_engine_value_2", "policy_engine_value_3",
    COUNT(*) OVER (PARTITION BY policy_engine_unit, "age", "zip") AS policy_engine_rows,
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, "age", "zip" ORDER BY "policy_engine_value_2" NULLS LAST, "policy_engine_value_3" NULLS LAST) AS policy_engine_place
  FROM recoded JOIN crowded ON policy_engine_many = policy_engine_unit
), ranked AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_unit, "policy_engine_value_2", "policy_engine_value_3",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, "age", "zip" ORDER BY SHA256($salt || ':r:' || CAST(policy_engine_unit AS VARCHAR) || ':' || CAST(policy_engine_place AS VARCHAR)), policy_engine_place) AS policy_engine_rank
  FROM lined
  WHERE policy_engine_rows > 3
), trimmed AS MATERIALIZED (
  SELECT "age", "zip", policy_engine_unit,
CAST(SUM(CASE WHEN policy_engine_rank <= 3 THEN "policy_engine_value_2" END) AS BIGINT) AS "policy_engine_value_2", COUNT(CASE WHEN policy_engine_rank <= 3 THEN "policy_engine_value_2" END) AS "policy_engine_many_2",
CASE WHEN SUM("policy_engine_value_3") <= 0 * COUNT("policy_engine_value_3") THEN 0 WHEN SUM("policy_engine_value_3") >= 100 * COUNT("policy_engine_value_3") THEN 100 ELSE 0 + (2 * (CAST(SUM("policy_engine_value_3") AS BIGINT) - 0 * COUNT("policy_engine_value_3")) + COUNT("policy_engine_value_3")) // (2 * CASE WHEN COUNT("policy_engine_value_3") = 0 THEN 1 ELSE COUNT("policy_engine_value_3") END) END AS "policy_engine_value_3",
    CASE WHEN COUNT(*) > 3 THEN 3 ELSE COUNT(*) END AS "policy_engine_many_1"

  FROM ranked
  GROUP BY "age", "zip", policy_engine_unit
), found AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"
  FROM (
    SELECT "age", "zip", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"
    FROM gathered
    WHERE policy_engine_rows <= 3
    UNION ALL
    SELECT "age", "zip", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"
    FROM trimmed
  ) AS policy_engine_given
), beyond AS MATERIALIZED (
  SELECT policy_engine_unit AS policy_engine_many
  FROM found
  GROUP BY policy_engine_unit
  HAVING COUNT(*) > 2
), placed AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_unit, "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS policy_engine_place
  FROM found JOIN beyond ON policy_engine_many = policy_engine_unit
), chosen AS NOT MATERIALIZED (
  SELECT "age", "zip", "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1",
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY SHA256($salt || ':o:' || CAST(policy_engine_unit AS VARCHAR) || ':' || CAST(policy_engine_place AS VARCHAR)), policy_engine_place) AS policy_engine_rank
  FROM placed
), within AS NOT MATERIALIZED (
  SELECT "age", "zip", "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"

  FROM found LEFT JOIN beyond ON policy_engine_many = policy_engine_unit
  WHERE policy_engine_many IS NULL
  UNION ALL
  SELECT "age", "zip", "policy_engine_value_2", "policy_engine_many_2", "policy_engine_value_3", "policy_engine_many_1"

  FROM chosen
  WHERE policy_engine_rank <= 2
), grouped AS NOT MATERIALIZED (
  SELECT "age", "zip", COUNT(*) AS policy_engine_people,
    CAST(SUM("policy_engine_many_1") AS BIGINT) AS "policy_engine_total_1",
    CAST(SUM("policy_engine_many_2") AS BIGINT) AS "policy_engine_total_2",
    COALESCE(CAST(SUM("policy_engine_value_2") AS BIGINT), 0) - 2 * CAST(SUM("policy_engine_many_2") AS BIGINT) AS "policy_engine_total_3",
    COUNT("policy_engine_value_3") AS "policy_engine_total_4",
    COALESCE(CAST(SUM("policy_engine_value_3") AS BIGINT), 0) - 50 * COUNT("policy_engine_value_3") AS "policy_engine_total_5"
  FROM within
  GROUP BY "age", "zip"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_people, "policy_engine_total_1", "policy_engine_total_2", "policy_engine_total_3", "policy_engine_total_4", "policy_engine_total_5",
    SHA256($salt || ':g:0:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash,
    SHA256($salt || ':g:1:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_1",
    SHA256($salt || ':g:2:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_2",
    SHA256($salt || ':g:3:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_3",
    SHA256($salt || ':g:4:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_4",
    SHA256($salt || ':g:5:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_5"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_people + CASE
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
      WHEN policy_engine_hash IS NOT NULL THEN 6
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
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 21
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
      WHEN "policy_engine_hash_2" IS NOT NULL THEN 21
    END AS "policy_engine_total_2",
    "policy_engine_total_3" + CASE
      WHEN "policy_engine_hash_3" < '05541558a9a026c' THEN -42 + LEN(LIST_FILTER(STRING_SPLIT('0056d3940980c09 00ba2545ced6708 012b632c8144dca 01ac1605cd04c94 023de0d3b65dbe3 02e280105efbe6e 039bc86cf3641bb 046ba511fc6b822', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < '13308b5ddd6be6f' THEN -33 + LEN(LIST_FILTER(STRING_SPLIT('065729f66222bcc 0777019601760a6 08b5c4dc9a328a5 0a15a1da631cd22 0b98c6eb8a35d36 0d415d0ffff2e85 0f1181c4d27a4fa 110b406d51f6a4c', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < '2f13af186b7ff10' THEN -24 + LEN(LIST_FILTER(STRING_SPLIT('1583349dca327bf 1804e6793cd86d8 1ab71bfee5226e0 1d9b1988448969e 20b1e56d5be5fea 23fc410638ba643 277aa21dc61af7f 2b2d2cf96d9cfd1', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < '5a79607bcbe5369' THEN -15 + LEN(LIST_FILTER(STRING_SPLIT('332d9acc35566f9 377a03c8f09d7f2 3bf79cc9ba398cd 40a4b66072b0c46 457f3f03f5e9a0d 4a84c46a2f723bd 4fb276357b355cb 550529f658bcec6', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < '8eb69f9c0ba23eb' THEN -6 + LEN(LIST_FILTER(STRING_SPLIT('600b4c6603ba005 65b6d9e833b95cc 6b77b7a02231511 71496063f45dc15 772725e16094511 7d0c3be4cebfac1 82f3c41b314053f 88d8da1e9f6baef', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < 'bf5b499f8d4f3ba' THEN 3 + LEN(LIST_FILTER(STRING_SPLIT('9488485fddceaef 9a492617cc46a34 9ff4b399fc45ffb a5869f84341ac97 aafad609a74313a b04d89ca84caa35 b57b3b95d08dc43 ba80c0fc0a165f3', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < 'e264e677bb76962' THEN 12 + LEN(LIST_FILTER(STRING_SPLIT('c408633645c6733 c885fc370f6280e ccd26533caa9907 d0ec50e794800f0 d4d2d306926302f d8855de239e5081 dc03bef9c7459bd df4e1a92a41a016', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < 'f5ea5e259ce32de' THEN 21 + LEN(LIST_FILTER(STRING_SPLIT('e548e4011add920 e7fb1986c327928 ea7ccb6235cd841 eccf74a22294191 eef4bf92ae095b4 f0ee7e3b2d85b06 f2bea2f0000d17b f467391475ca2ca', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < 'fe53e9fa32fb36c' THEN 30 + LEN(LIST_FILTER(STRING_SPLIT('f74a3b2365cd75b f888fe69fe89f5a f9a8d6099ddd434 faabeaa7565fd94 fb945aee03947de fc6437930c9be45 fd1d7fefa104192 fdc21f2c49a241d', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      ELSE CASE
      WHEN "policy_engine_hash_3" < 'fed49cd37ebb236' THEN 39
      WHEN "policy_engine_hash_3" < 'ff45daba31298f8' THEN 40
      WHEN "policy_engine_hash_3" < 'ffa92c6bf67f3f7' THEN 41
      WHEN "policy_engine_hash_3" IS NOT NULL THEN 42
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
      WHEN "policy_engine_hash_4" IS NOT NULL THEN 7
    END AS "policy_engine_total_4",
    "policy_engine_total_5" - "policy_engine_total_5" % 5 + CAST(5 AS BIGINT) * CASE
      WHEN "policy_engine_hash_5" < '0299d541cdb9798' THEN -70 + LEN(LIST_FILTER(STRING_SPLIT('00259736b43ee4b 004ecd24c11eaa5 007bebbe006246b 00ad41348c7939b 00e3200be63230b 011ddf27c75346b 015dd9d621553f7 01a36fd3c5e7307 01ef054b36654fe 024102cd182b35b', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '08b6cba28501263' THEN -59 + LEN(LIST_FILTER(STRING_SPLIT('02f9edd3b820036 0361c1d1a916fd4 03d1ca8914ba882 044a85179a082ef 04cc72338313a9c 055815eae97191e 05edf7593894177 068ea052d6c43e8 073a9d06cdf8b69 07f27b965ffb2f9', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '14fb6482af651b1' THEN -48 + LEN(LIST_FILTER(STRING_SPLIT('09881dcf68fa3a2 0a67033e123a94b 0b540cfc73abad9 0c4fcb6c45228b7 0d5acda115ac230 0e75a0b6255495a 0fa0cf1cade563f 10dcdfe35c0cfa9 122a55f7d40eee9 1389af633633ffe', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '2a00da9b7686324' THEN -37 + LEN(LIST_FILTER(STRING_SPLIT('167fe73d395cffb 1817a237c358119 19c2f8090fd0bbe 1b82426ea559aca 1d55d1843fb9a82 1f3deaff3ac6296 213ac96f79d6c83 234c9b8754cddc8 2573836c1664ae0 27af9610967c9ca', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '48c27eeeee19ace' THEN -26 + LEN(LIST_FILTER(STRING_SPLIT('2c6749da7d804ae 2ee2cdc48494aea 3173410b54e8609 34186ebec2dc682 36d212023acc397 399fd5d5d771f96 3c8154f3faac16f 3f7619c43ea4e25 427d9e646f99b30 45974cc81605071', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '6f2f134c8e1f221' THEN -15 + LEN(LIST_FILTER(STRING_SPLIT('4bfe7f327cb2114 4f4a88aac3846ea 52a5c7a9e70863e 560f5a4e687ff42 5986512b6685133 5d09b00626d879c 60986ea7fd7a7b4 643179c377d6571 67d3b3eb877cfbd 6b7df69b3f1256d', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '982c4c147883043' THEN -4 + LEN(LIST_FILTER(STRING_SPLIT('72e5d49c45e04af 76a0ff7992530eb 7a5f545ef7fddb6 7e1f9092d0a2218 81e06f6d2f5dde8 85a0aba1080224a 895f00866dacf15 8d1a2b63ba1fb51 90d0ecb371e0ddf 94820964c0eda93', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < 'bd82619b90664d0' THEN 7 + LEN(LIST_FILTER(STRING_SPLIT('9bce863c8829a8f 9f679158028584c a2f64ff9d927864 a679aed4997aecd a9f0a5b197800be ad5a385618f79c2 b0b577553c7b916 b40180cd834deec b73d811111e6532 ba68b337e9faf8f', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < 'da8c7c93e99b520' THEN 18 + LEN(LIST_FILTER(STRING_SPLIT('c089e63bc15b1db c37eab0c0553e91 c6602a2a288e06a c92dedfdc533c69 cbe791413d2397e ce8cbef4ab179f7 d11d323b7b6b516 d398b625827fb52 d5ff25648979cdc d85069ef6983636', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < 'edd5aa082bf1117' THEN 29 + LEN(LIST_FILTER(STRING_SPLIT('dcb36478ab32238 dec53690862937d e0c21500c539d6a e2aa2e7bc04657e e47dbd915aa6536 e63d07f6f02f442 e7e85dc83ca7ee7 e98018c2c6a3005 eb049b7d509ae4f ec76509cc9cc002', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < 'f8c562f93207497' THEN 40 + LEN(LIST_FILTER(STRING_SPLIT('ef23201ca3f3057 f05f30e3521a9c1 f18a5f49daab6a6 f2a5325eea53dd0 f3b03493badd749 f4abf3038c54527 f598fcc1edc56b5 f677e2309705c5e f749345d7afed9d f80d8469a004d07', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < 'fe10fab4c99ab02' THEN 51 + LEN(LIST_FILTER(STRING_SPLIT('f9715fad293bc18 fa1208a6c76be89 faa7ea15168e6e2 fb338dcc7cec564 fbb57ae865f7d11 fc2e3576eb4577e fc9e3e2e56e902c fd06122c47dffca fd662abe3246868 fdbefd32e7d4ca5', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      ELSE CASE
      WHEN "policy_engine_hash_5" < 'fe5c902c3a18cf9' THEN 62
      WHEN "policy_engine_hash_5" < 'fea22629deaac09' THEN 63
      WHEN "policy_engine_hash_5" < 'fee220d838acb95' THEN 64
      WHEN "policy_engine_hash_5" < 'ff1cdff419cdcf5' THEN 65
      WHEN "policy_engine_hash_5" < 'ff52becb7386c65' THEN 66
      WHEN "policy_engine_hash_5" < 'ff841441ff9db95' THEN 67
      WHEN "policy_engine_hash_5" < 'ffb132db3ee155b' THEN 68
      WHEN "policy_engine_hash_5" < 'ffda68c94bc11b5' THEN 69
      WHEN "policy_engine_hash_5" IS NOT NULL THEN 70
    END
    END AS "policy_engine_total_5"
  FROM drawn
), bounded AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_n, "policy_engine_total_1", "policy_engine_total_2", "policy_engine_total_3", "policy_engine_total_4", "policy_engine_total_5",
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
  SELECT COALESCE(CAST(SUM("policy_engine_cut_1") AS BIGINT), 0) AS "policy_engine_cut_1", SHA256($salt || ':g:6:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(1 AS VARCHAR)) AS "policy_engine_cut_hash_1",
COALESCE(CAST(SUM("policy_engine_cut_2") AS BIGINT), 0) AS "policy_engine_cut_2", SHA256($salt || ':g:7:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(1 AS VARCHAR)) AS "policy_engine_cut_hash_2",
COALESCE(CAST(SUM("policy_engine_cut_3") AS BIGINT), 0) AS "policy_engine_cut_3", SHA256($salt || ':g:8:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(1 AS VARCHAR)) AS "policy_engine_cut_hash_3",
COALESCE(CAST(SUM("policy_engine_cut_4") AS BIGINT), 0) AS "policy_engine_cut_4", SHA256($salt || ':g:9:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(1 AS VARCHAR)) AS "policy_engine_cut_hash_4",
COALESCE(CAST(SUM("policy_engine_cut_5") AS BIGINT), 0) AS "policy_engine_cut_5", SHA256($salt || ':g:10:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(1 AS VARCHAR)) AS "policy_engine_cut_hash_5",
COALESCE(CAST(SUM("policy_engine_cut_6") AS BIGINT), 0) AS "policy_engine_cut_6", SHA256($salt || ':g:11:7d7018b6268eeb8ecfd5e7522ac415f341798102c6188f5c1aad354e43763ea6:' || CAST(1 AS VARCHAR)) AS "policy_engine_cut_hash_6"
  FROM cut
)
SELECT "age", "zip", policy_engine_n AS "people",
  "policy_engine_total_1" AS "visits",
  (2 * "policy_engine_above_2" + "policy_engine_divisor_2") // (2 * "policy_engine_divisor_2") * 10 AS "pay",
  ("policy_engine_total_3" + 2 * "policy_engine_total_2") * 10 AS "paid",
  (2 * "policy_engine_above_4" + "policy_engine_divisor_4") // (2 * "policy_engine_divisor_4") AS "years",
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
      WHEN "policy_engine_cut_hash_1" IS NOT NULL THEN 7
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
      WHEN "policy_engine_cut_hash_2" IS NOT NULL THEN 7
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
      WHEN "policy_engine_cut_hash_3" IS NOT NULL THEN 7
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
      WHEN "policy_engine_cut_hash_4" IS NOT NULL THEN 7
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
      WHEN "policy_engine_cut_hash_5" IS NOT NULL THEN 7
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
      WHEN "policy_engine_cut_hash_6" IS NOT NULL THEN 7
    END AS "years_people_missing"
FROM bounded CROSS JOIN told
WHERE policy_engine_n >= 7
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
