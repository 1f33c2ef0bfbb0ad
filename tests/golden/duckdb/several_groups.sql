-- policy: golden
-- digest: sha256:9dc66c922017a8defadc34c3675c34e384809174183ea30a2db3f86f4bc53c0e
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
    CASE WHEN "age" IS NULL THEN NULL ELSE CAST(GREATEST(-1000000000, LEAST(1000000000, "age")) AS BIGINT) END AS "policy_engine_value_3",
    "person" AS policy_engine_unit
  FROM people
), gathered AS MATERIALIZED (
  SELECT "age", "zip", policy_engine_unit, COUNT(*) AS policy_engine_rows,
CAST(SUM("policy_engine_value_2") AS BIGINT) AS "policy_engine_value_2", COUNT("policy_engine_value_2") AS "policy_engine_many_2",
CASE WHEN SUM("policy_engine_value_3") <= 0 * COUNT("policy_engine_value_3") THEN 0 WHEN SUM("policy_engine_value_3") >= 100 * COUNT("policy_engine_value_3") THEN 100 ELSE 0 + (2 * (CAST(SUM("policy_engine_value_3") AS BIGINT) - 0 * COUNT("policy_engine_value_3")) + COUNT("policy_engine_value_3")) // (2 * CASE WHEN COUNT("policy_engine_value_3") = 0 THEN 1 ELSE COUNT("policy_engine_value_3") END) END AS "policy_engine_value_3",
    CASE WHEN COUNT(*) > 3 THEN 3 ELSE COUNT(*) END AS "policy_engine_many_1"

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
    SHA256($salt || ':g:0:499720429dda85bf96d44e3f9fcbd8c0f35eb9f62139cadbc1c3a68df2fd5722:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash,
    SHA256($salt || ':g:1:499720429dda85bf96d44e3f9fcbd8c0f35eb9f62139cadbc1c3a68df2fd5722:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_1",
    SHA256($salt || ':g:2:499720429dda85bf96d44e3f9fcbd8c0f35eb9f62139cadbc1c3a68df2fd5722:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_2",
    SHA256($salt || ':g:3:499720429dda85bf96d44e3f9fcbd8c0f35eb9f62139cadbc1c3a68df2fd5722:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_3",
    SHA256($salt || ':g:4:499720429dda85bf96d44e3f9fcbd8c0f35eb9f62139cadbc1c3a68df2fd5722:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_4",
    SHA256($salt || ':g:5:499720429dda85bf96d44e3f9fcbd8c0f35eb9f62139cadbc1c3a68df2fd5722:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_5"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "zip", policy_engine_people + CASE
      WHEN policy_engine_hash < '0c26f8e2485122f' THEN -5
      WHEN policy_engine_hash < '1bc4221d24ffbe4' THEN -4
      WHEN policy_engine_hash < '2fd3ec123bc2f6f' THEN -3
      WHEN policy_engine_hash < '499aaffb9f68388' THEN -2
      WHEN policy_engine_hash < '6ab92bd9533ee9e' THEN -1
      WHEN policy_engine_hash < '9546d426acc1162' THEN 0
      WHEN policy_engine_hash < 'b66550046097c78' THEN 1
      WHEN policy_engine_hash < 'd02c13edc43d091' THEN 2
      WHEN policy_engine_hash < 'e43bdde2db0041c' THEN 3
      WHEN policy_engine_hash < 'f3d9071db7aedd1' THEN 4
      WHEN policy_engine_hash IS NOT NULL THEN 5
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < '183b9fc6f9e56b0' THEN -34 + LEN(LIST_FILTER(STRING_SPLIT('02e08948f9f9831 05cbde849cc92a6 08c22836fb1cce4 0bc38f7c322edd3 0ed03e0aa454460 11e85e353be7762 150c1aedb6afcf1', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < '33752f34e6c3734' THEN -26 + LEN(LIST_FILTER(STRING_SPLIT('1b7718f76ef1810 1ebeb35b690c31a 22129c7793d9008 2573027b6b23bbe 28e01443bbe0119 2c5a015d2e8e924 2fe0fa06db2a652', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < '520b3f7135615b4' THEN -18 + LEN(LIST_FILTER(STRING_SPLIT('3716d2932ae9580 3ac61687e70bebc 3e832e367bf6c89 424e4d82318db55 4627a91106f070f 4a0f764e8d2ce8c 4e05eb6ecca776f', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < '74680ea4b66785c' THEN -10 + LEN(LIST_FILTER(STRING_SPLIT('561faa239a46363 5a43642537a9e8b 5e76a6e9c520d55 62b9acbc92dd1d4 670cb0c3b2bc13f 6b6fef032d2fc59 6fe3a4604231125', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < '98f34f3c4d43ec1' THEN -2 + LEN(LIST_FILTER(STRING_SPLIT('78fd6c822cb4bcf 7da3fd958c51d89 825c026a73ae277 8702937dd34b431 8b97f15b49987a4 901c5b9fbdceedb 949010fcd2d03a7', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < 'b9d856eef90f8f1' THEN 6 + LEN(LIST_FILTER(STRING_SPLIT('9d4653436d22e2c a18959163adf2ab a5bc9bdac856175 a9e055dc65b9c9d adf4c08eca9ea4c b1fa14913358891 b5f089b172d3174', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < 'd71febbc441fee7' THEN 14 + LEN(LIST_FILTER(STRING_SPLIT('bdb1b27dce724ab c17cd1c98409377 c539e97818f4144 c8e92d6cd516a80 cc8ad0cb193c8cc d01f05f924d59ae d3a5fea2d1716dc', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < 'f12fc1f55babba0' THEN 22 + LEN(LIST_FILTER(STRING_SPLIT('da8cfd8494dc442 dded63886c26ff8 e1414ca496f3ce6 e488e708910e7f0 e7c46039061a950 eaf3e512495030f ee17a1cac41889e', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      ELSE CASE
      WHEN "policy_engine_hash_1" < 'f43c7083cdd122d' THEN 30
      WHEN "policy_engine_hash_1" < 'f73dd7c904e331c' THEN 31
      WHEN "policy_engine_hash_1" < 'fa34217b6336d5a' THEN 32
      WHEN "policy_engine_hash_1" < 'fd1f76b706067cf' THEN 33
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 34
    END
    END AS "policy_engine_total_1",
    "policy_engine_total_2" + CASE
      WHEN "policy_engine_hash_2" < '183b9fc6f9e56b0' THEN -34 + LEN(LIST_FILTER(STRING_SPLIT('02e08948f9f9831 05cbde849cc92a6 08c22836fb1cce4 0bc38f7c322edd3 0ed03e0aa454460 11e85e353be7762 150c1aedb6afcf1', ' '), LAMBDA entry: entry <= "policy_engine_hash_2"))
      WHEN "policy_engine_hash_2" < '33752f34e6c3734' THEN -26 + LEN(LIST_FILTER(STRING_SPLIT('1b7718f76ef1810 1ebeb35b690c31a 22129c7793d9008 2573027b6b23bbe 28e01443bbe0119 2c5a015d2e8e924 2fe0fa06db2a652', ' '), LAMBDA entry: entry <= "policy_engine_hash_2"))
      WHEN "policy_engine_hash_2" < '520b3f7135615b4' THEN -18 + LEN(LIST_FILTER(STRING_SPLIT('3716d2932ae9580 3ac61687e70bebc 3e832e367bf6c89 424e4d82318db55 4627a91106f070f 4a0f764e8d2ce8c 4e05eb6ecca776f', ' '), LAMBDA entry: entry <= "policy_engine_hash_2"))
      WHEN "policy_engine_hash_2" < '74680ea4b66785c' THEN -10 + LEN(LIST_FILTER(STRING_SPLIT('561faa239a46363 5a43642537a9e8b 5e76a6e9c520d55 62b9acbc92dd1d4 670cb0c3b2bc13f 6b6fef032d2fc59 6fe3a4604231125', ' '), LAMBDA entry: entry <= "policy_engine_hash_2"))
      WHEN "policy_engine_hash_2" < '98f34f3c4d43ec1' THEN -2 + LEN(LIST_FILTER(STRING_SPLIT('78fd6c822cb4bcf 7da3fd958c51d89 825c026a73ae277 8702937dd34b431 8b97f15b49987a4 901c5b9fbdceedb 949010fcd2d03a7', ' '), LAMBDA entry: entry <= "policy_engine_hash_2"))
      WHEN "policy_engine_hash_2" < 'b9d856eef90f8f1' THEN 6 + LEN(LIST_FILTER(STRING_SPLIT('9d4653436d22e2c a18959163adf2ab a5bc9bdac856175 a9e055dc65b9c9d adf4c08eca9ea4c b1fa14913358891 b5f089b172d3174', ' '), LAMBDA entry: entry <= "policy_engine_hash_2"))
      WHEN "policy_engine_hash_2" < 'd71febbc441fee7' THEN 14 + LEN(LIST_FILTER(STRING_SPLIT('bdb1b27dce724ab c17cd1c98409377 c539e97818f4144 c8e92d6cd516a80 cc8ad0cb193c8cc d01f05f924d59ae d3a5fea2d1716dc', ' '), LAMBDA entry: entry <= "policy_engine_hash_2"))
      WHEN "policy_engine_hash_2" < 'f12fc1f55babba0' THEN 22 + LEN(LIST_FILTER(STRING_SPLIT('da8cfd8494dc442 dded63886c26ff8 e1414ca496f3ce6 e488e708910e7f0 e7c46039061a950 eaf3e512495030f ee17a1cac41889e', ' '), LAMBDA entry: entry <= "policy_engine_hash_2"))
      ELSE CASE
      WHEN "policy_engine_hash_2" < 'f43c7083cdd122d' THEN 30
      WHEN "policy_engine_hash_2" < 'f73dd7c904e331c' THEN 31
      WHEN "policy_engine_hash_2" < 'fa34217b6336d5a' THEN 32
      WHEN "policy_engine_hash_2" < 'fd1f76b706067cf' THEN 33
      WHEN "policy_engine_hash_2" IS NOT NULL THEN 34
    END
    END AS "policy_engine_total_2",
    "policy_engine_total_3" + CASE
      WHEN "policy_engine_hash_3" < '1a0784f03ce9f26' THEN -35 + LEN(LIST_FILTER(STRING_SPLIT('032be1ff14b2957 065db1cc6d40698 09957a7d8ef352b 0cd3473cb7cba34 10172349053d42e 136119f69b35347 16b136aecb680f0', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < '359e6da3c897227' THEN -27 + LEN(LIST_FILTER(STRING_SPLIT('1d64104f1410811 20c6e4751a9f693 24300d21e84008a 279f962b0b44b83 2b158b7c31b84b6 2e91f91752ba539 3214eb14d828b59', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < '52dcaa435701b36' THEN -19 + LEN(LIST_FILTER(STRING_SPLIT('392e8d09f195052 3cc555a4124277a 4062d3e60634d33 4407145af0ab70e 47b223a568152fa 4b640e7fa1e757b 4f1ce1bb9ec672f', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < '71db9a44e836c12' THEN -11 + LEN(LIST_FILTER(STRING_SPLIT('56a37518e761828 5a714f56be49d48 5e46462fc930dc5 622266efa26abdf 6605befabf4ade4 69f05bce9e9b702 6de24b01f76be02', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < '921db4fe08941fe' THEN -3 + LEN(LIST_FILTER(STRING_SPLIT('75dc5761265fdda 79e4903a2e0b128 7df452cd724c990 820bad328db3670 861b6fc5d1f4ed8 8a23a89ed9a0226 8e2465bb17c93ee', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < 'b0e31e4461398d1' THEN 5 + LEN(LIST_FILTER(STRING_SPLIT('960fa43161648fe 99fa410540b521c 9ddd99105d95421 a1b9b9d036cf23b a58eb0a941b62b8 a95c8ae7189e7d8 ad2355bca8fe4ca', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < 'cdeb14eb27d74a7' THEN 13 + LEN(LIST_FILTER(STRING_SPLIT('b49bf1805e18a85 b84ddc5a97ead06 bbf8eba50f548f2 bf9d2c19f9cb2cd c33aaa5bedbd886 c6d172f60e6afae ca61925c3768dd9', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      WHEN "policy_engine_hash_3" < 'e94ec9513497f10' THEN 21 + LEN(LIST_FILTER(STRING_SPLIT('d16e06e8ad45ac7 d4ea7483ce47b4a d86069d4f4bb47d dbcff2de17bff76 df391b8ae56096d e29befb0ebef7ef e5f87b0fc3160da', ' '), LAMBDA entry: entry <= "policy_engine_hash_3"))
      ELSE CASE
      WHEN "policy_engine_hash_3" < 'ec9ee60964cacb9' THEN 29
      WHEN "policy_engine_hash_3" < 'efe8dcb6fac2bd2' THEN 30
      WHEN "policy_engine_hash_3" < 'f32cb8c348345cc' THEN 31
      WHEN "policy_engine_hash_3" < 'f66a8582710cad5' THEN 32
      WHEN "policy_engine_hash_3" < 'f9a24e3392bf968' THEN 33
      WHEN "policy_engine_hash_3" < 'fcd41e00eb4d6a9' THEN 34
      WHEN "policy_engine_hash_3" IS NOT NULL THEN 35
    END
    END AS "policy_engine_total_3",
    "policy_engine_total_4" + CASE
      WHEN "policy_engine_hash_4" < '10207605acb66a9' THEN -33 + LEN(LIST_FILTER(STRING_SPLIT('01b8b99f13f40a8 03851df6a564cb5 05660db1f3a119c 075c7382cc2450f 096944941233807 0b8d810162d5b8f 0dca34540f89bfc', ' '), LAMBDA entry: entry <= "policy_engine_hash_4"))
      WHEN "policy_engine_hash_4" < '26feaa639e411a8' THEN -25 + LEN(LIST_FILTER(STRING_SPLIT('12916a08738b9ec 151e4155b9e1bf5 17c83a82c59da07 1a90a25c44394f5 1d78d488b24fa73 20823c32026b5ac 23ae54b6d5e3756', ' '), LAMBDA entry: entry <= "policy_engine_hash_4"))
      WHEN "policy_engine_hash_4" < '476bfe79d807575' THEN -17 + LEN(LIST_FILTER(STRING_SPLIT('2a74db3401863f9 2e12979cdfb52a0 31d9a35f5c2e958 35cbd66551e29d3 39eb1da79de8fb0 3e397c1eb0e2278 42b90bbddc86b4c', ' '), LAMBDA entry: entry <= "policy_engine_hash_4"))
      WHEN "policy_engine_hash_4" < '75675f391b30b0d' THEN -9 + LEN(LIST_FILTER(STRING_SPLIT('4c549f5afb5901c 5175539bb73fed1 56d09bd3d5e52b9 5c69153115ff5f8 62417abdb91b6ea 685ca6b5a460bb7 6ebd93eaba48e35', ' '), LAMBDA entry: entry <= "policy_engine_hash_4"))
      WHEN "policy_engine_hash_4" < 'a92f642c2a1ad47' THEN -1 + LEN(LIST_FILTER(STRING_SPLIT('7c5d490c026a7f4 83a2b6f3fd9580c 8a98a0c6e4cf4f3 91426c1545b71cb 97a3594a5b9f449 9dbe854246e4916 a396eaceea00a08', ' '), LAMBDA entry: entry <= "policy_engine_hash_4"))
      WHEN "policy_engine_hash_4" < 'ce265ca0a3d16a8' THEN 7 + LEN(LIST_FILTER(STRING_SPLIT('ae8aac6448c012f b3ab60a504a6fe4 b894018627f8a8b bd46f44223794b4 c1c683e14f1dd88 c614e2586217050 ca34299aae1d62d', ' '), LAMBDA entry: entry <= "policy_engine_hash_4"))
      WHEN "policy_engine_hash_4" < 'e837c57d3a625f9' THEN 15 + LEN(LIST_FILTER(STRING_SPLIT('d1ed6863204ad60 d58b24cbfe79c07 d901559c61bee58 dc51ab492a1c8aa df7dc3cdfd94a54 e2872b774db058d e56f5da3bbc6b0b', ' '), LAMBDA entry: entry <= "policy_engine_hash_4"))
      WHEN "policy_engine_hash_4" < 'fa99f24e0c5ee64' THEN 23 + LEN(LIST_FILTER(STRING_SPLIT('eae1beaa461e40b ed6e95f78c74614 efdf89fa5349957 f235cbabf076404 f4727efe9d2a471 f696bb6bedcc7f9 f8a38c7d33dbaf1', ' '), LAMBDA entry: entry <= "policy_engine_hash_4"))
      ELSE CASE
      WHEN "policy_engine_hash_4" < 'fc7ae2095a9b34b' THEN 31
      WHEN "policy_engine_hash_4" < 'fe474660ec0bf58' THEN 32
      WHEN "policy_engine_hash_4" IS NOT NULL THEN 33
    END
    END AS "policy_engine_total_4",
    "policy_engine_total_5" - "policy_engine_total_5" % 5 + CAST(5 AS BIGINT) * CASE
      WHEN "policy_engine_hash_5" < '1993767877133f7' THEN -37 + LEN(LIST_FILTER(STRING_SPLIT('0325fb638a9af12 064f7d86b90e248 097c8a5cad69065 0cad25dcf642bd7 0fe1540393aeac5 131918d0fc367e3 1654784a21d9c77', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '340fa3b0c844a54' THEN -29 + LEN(LIST_FILTER(STRING_SPLIT('1cd61769f3e399a 201c5f311ae204a 236651e4fe52555 26b3f3a14540e4b 2a05488630a4264 2d5a54b8a083fe2 30b31c621926dc7', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '4f7ccd1a019f9e3' THEN -21 + LEN(LIST_FILTER(STRING_SPLIT('376feed78a3f6b2 3ad4020def6202c 3e3be1904124767 41a7919f8776602 451716818e0f300 488a7480e9c4670 4c01afecfde5cb5', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '6be3836798418b4' THEN -13 + LEN(LIST_FILTER(STRING_SPLIT('52fbd0610562d91 567ebe1ff853795 5a059ab9adbce14 5d906a95e28c550 611f322142d19a5 64b1f5cd6f45c24 6848ba1102d8235', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < '8933d5031eafe84' THEN -5 + LEN(LIST_FILTER(STRING_SPLIT('6f825651cf9daf7 73253755540ae2b 76cc2afce15017c 7a7735d84989378 7e265c7c7ad9d17 81d9a38385262e9 8588ca27b676c88', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < 'a5fa654652431ec' THEN 3 + LEN(LIST_FILTER(STRING_SPLIT('8cdac8aaabf51d5 907da9ae3062509 941c7c9867be74c 97b745eefd27dcb 9b4e0a3290ba3dc 9ee0cddebd2e65b a26f956a1d73ab0', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < 'c1c41e6fbedb899' THEN 11 + LEN(LIST_FILTER(STRING_SPLIT('a98141e007ac86b ad042f9efa9d26f b08332e5fe6061d b3fe5013021a34b b7758b7f163b990 bae8e97e71f0d00 be586e6078899fe', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < 'dc99ae1b01adaab' THEN 19 + LEN(LIST_FILTER(STRING_SPLIT('c52bfdf2109dfd4 c890112875c094e cbf05c4f37bb5ac cf4ce39de6d9239 d2a5ab475f7c01e d5fab779cf5bd9c d94c0c5ebabf1b5', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      WHEN "policy_engine_hash_5" < 'f68375a35296f9b' THEN 27 + LEN(LIST_FILTER(STRING_SPLIT('dfe3a0cee51dfb6 e329e8960c1c666 e66c898788ecc09 e9ab87b5de26389 ece6e72f03c981d f01eabfc6c5153b f352da2309bd429', ' '), LAMBDA entry: entry <= "policy_engine_hash_5"))
      ELSE CASE
      WHEN "policy_engine_hash_5" < 'f9b0827946f1db8' THEN 35
      WHEN "policy_engine_hash_5" < 'fcda049c75650ee' THEN 36
      WHEN "policy_engine_hash_5" IS NOT NULL THEN 37
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
)
SELECT "age", "zip", policy_engine_n AS "people",
  "policy_engine_total_1" AS "visits",
  (2 * "policy_engine_above_2" + "policy_engine_divisor_2") // (2 * "policy_engine_divisor_2") * 10 AS "pay",
  ("policy_engine_total_3" + 2 * "policy_engine_total_2") * 10 AS "paid",
  (2 * "policy_engine_above_4" + "policy_engine_divisor_4") // (2 * "policy_engine_divisor_4") AS "years"
FROM bounded
WHERE policy_engine_n >= 6
ORDER BY "age" NULLS LAST, "zip" NULLS LAST
