-- policy: golden
-- digest: sha256:1211b660e79f8d8c302077099876a00893e49bb778e6abdbe2aba5b8315b324f
WITH people AS (
  SELECT `age`, `born`, `income`, `person`
  FROM `main`.`people`
  WHERE `person` IS NOT NULL
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18'
      ELSE '>=18'
    END AS `age`,
    CASE
      WHEN `born` IS NULL THEN NULL
      WHEN `born` < CAST('1970-01-01' AS DATE) THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS `born`,
    CASE
      WHEN `income` IS NULL THEN NULL
      WHEN CAST(`income` AS DOUBLE) <= 0 THEN 0
      WHEN CAST(`income` AS DOUBLE) >= 40 THEN 4
      WHEN ABS(CAST(`income` AS DOUBLE)) < 1 THEN 0
      ELSE CAST(FLOOR(LEAST(ABS(CAST(`income` AS DOUBLE)), 10000000001) / 10) + CASE WHEN LEAST(ABS(CAST(`income` AS DOUBLE)), 10000000001) / 10 - FLOOR(LEAST(ABS(CAST(`income` AS DOUBLE)), 10000000001) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST(`income` AS DOUBLE) < 0 THEN -1 ELSE 1 END
    END AS `policy_engine_value_2`,
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` <= -1000000000 THEN -1000000000
      WHEN `age` >= 1000000000 THEN 1000000000
      ELSE CAST(`age` AS BIGINT)
    END AS `policy_engine_value_3`,
    `person` AS policy_engine_unit
  FROM people
), gathered AS (
  SELECT `age`, `born`, policy_engine_unit, COUNT(*) AS policy_engine_rows,
CAST(SUM(`policy_engine_value_2`) AS BIGINT) AS `policy_engine_value_2`, COUNT(`policy_engine_value_2`) AS `policy_engine_many_2`,
CASE WHEN SUM(`policy_engine_value_3`) <= 0 * COUNT(`policy_engine_value_3`) THEN 0 WHEN SUM(`policy_engine_value_3`) >= 100 * COUNT(`policy_engine_value_3`) THEN 100 ELSE 0 + (2 * (CAST(SUM(`policy_engine_value_3`) AS BIGINT) - 0 * COUNT(`policy_engine_value_3`)) + COUNT(`policy_engine_value_3`)) DIV (2 * CASE WHEN COUNT(`policy_engine_value_3`) = 0 THEN 1 ELSE COUNT(`policy_engine_value_3`) END) END AS `policy_engine_value_3`,
    CASE WHEN COUNT(*) > 3 THEN 3 ELSE COUNT(*) END AS `policy_engine_many_1`

  FROM recoded
  GROUP BY `age`, `born`, policy_engine_unit
), crowded AS (
  SELECT policy_engine_unit AS policy_engine_many
  FROM gathered
  WHERE policy_engine_rows > 3
  GROUP BY policy_engine_unit
), lined AS (
  SELECT `age`, `born`, policy_engine_unit, `policy_engine_value_2`, `policy_engine_value_3`,
    COUNT(*) OVER (PARTITION BY policy_engine_unit, `age`, `born`) AS policy_engine_rows,
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, `age`, `born` ORDER BY `policy_engine_value_2` NULLS LAST, `policy_engine_value_3` NULLS LAST) AS policy_engine_place
  FROM recoded JOIN crowded ON policy_engine_many = policy_engine_unit
), ranked AS (
  SELECT `age`, `born`, policy_engine_unit, `policy_engine_value_2`, `policy_engine_value_3`,
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, `age`, `born` ORDER BY SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':r:' || CAST(policy_engine_unit AS STRING) || ':' || CAST(policy_engine_place AS STRING), 256), policy_engine_place) AS policy_engine_rank
  FROM lined
  WHERE policy_engine_rows > 3
), trimmed AS (
  SELECT `age`, `born`, policy_engine_unit,
CAST(SUM(CASE WHEN policy_engine_rank <= 3 THEN `policy_engine_value_2` END) AS BIGINT) AS `policy_engine_value_2`, COUNT(CASE WHEN policy_engine_rank <= 3 THEN `policy_engine_value_2` END) AS `policy_engine_many_2`,
CASE WHEN SUM(`policy_engine_value_3`) <= 0 * COUNT(`policy_engine_value_3`) THEN 0 WHEN SUM(`policy_engine_value_3`) >= 100 * COUNT(`policy_engine_value_3`) THEN 100 ELSE 0 + (2 * (CAST(SUM(`policy_engine_value_3`) AS BIGINT) - 0 * COUNT(`policy_engine_value_3`)) + COUNT(`policy_engine_value_3`)) DIV (2 * CASE WHEN COUNT(`policy_engine_value_3`) = 0 THEN 1 ELSE COUNT(`policy_engine_value_3`) END) END AS `policy_engine_value_3`,
    CASE WHEN COUNT(*) > 3 THEN 3 ELSE COUNT(*) END AS `policy_engine_many_1`

  FROM ranked
  GROUP BY `age`, `born`, policy_engine_unit
), placed AS (
  SELECT `age`, `born`, policy_engine_unit, `policy_engine_value_2`, `policy_engine_many_2`, `policy_engine_value_3`, `policy_engine_many_1`,
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST) AS policy_engine_place, COUNT(*) OVER (PARTITION BY policy_engine_unit) AS policy_engine_groups
  FROM (
    SELECT `age`, `born`, policy_engine_unit, `policy_engine_value_2`, `policy_engine_many_2`, `policy_engine_value_3`, `policy_engine_many_1`
    FROM gathered
    WHERE policy_engine_rows <= 3
    UNION ALL
    SELECT `age`, `born`, policy_engine_unit, `policy_engine_value_2`, `policy_engine_many_2`, `policy_engine_value_3`, `policy_engine_many_1`
    FROM trimmed
  ) AS policy_engine_given
), chosen AS (
  SELECT `age`, `born`, `policy_engine_value_2`, `policy_engine_many_2`, `policy_engine_value_3`, `policy_engine_many_1`,
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY CASE WHEN policy_engine_groups > 2 THEN SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':o:' || CAST(policy_engine_unit AS STRING) || ':' || CAST(policy_engine_place AS STRING), 256) END, policy_engine_place) AS policy_engine_rank
  FROM placed
), grouped AS (
  SELECT `age`, `born`, COUNT(*) AS policy_engine_people,
    CAST(SUM(`policy_engine_many_1`) AS BIGINT) AS `policy_engine_total_1`,
    CAST(SUM(`policy_engine_many_2`) AS BIGINT) AS `policy_engine_total_2`,
    COALESCE(CAST(SUM(`policy_engine_value_2`) AS BIGINT), 0) - 2 * CAST(SUM(`policy_engine_many_2`) AS BIGINT) AS `policy_engine_total_3`,
    COUNT(`policy_engine_value_3`) AS `policy_engine_total_4`,
    COALESCE(CAST(SUM(`policy_engine_value_3`) AS BIGINT), 0) - 50 * COUNT(`policy_engine_value_3`) AS `policy_engine_total_5`
  FROM chosen
  WHERE policy_engine_rank <= 2
  GROUP BY `age`, `born`
), drawn AS (
  SELECT `age`, `born`, policy_engine_people, `policy_engine_total_1`, `policy_engine_total_2`, `policy_engine_total_3`, `policy_engine_total_4`, `policy_engine_total_5`,
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:0:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST) AS STRING), 256) AS policy_engine_hash,
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:1:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST) AS STRING), 256) AS `policy_engine_hash_1`,
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:2:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST) AS STRING), 256) AS `policy_engine_hash_2`,
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:3:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST) AS STRING), 256) AS `policy_engine_hash_3`,
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:4:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST) AS STRING), 256) AS `policy_engine_hash_4`,
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:5:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' || CAST(ROW_NUMBER() OVER (ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST) AS STRING), 256) AS `policy_engine_hash_5`
  FROM grouped
), noised AS (
  SELECT `age`, `born`, policy_engine_people + CASE
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
    `policy_engine_total_1` + CASE
      WHEN `policy_engine_hash_1` < '183b9fc6f9e56b0' THEN CASE
      WHEN `policy_engine_hash_1` < '02e08948f9f9831' THEN -34
      WHEN `policy_engine_hash_1` < '05cbde849cc92a6' THEN -33
      WHEN `policy_engine_hash_1` < '08c22836fb1cce4' THEN -32
      WHEN `policy_engine_hash_1` < '0bc38f7c322edd3' THEN -31
      WHEN `policy_engine_hash_1` < '0ed03e0aa454460' THEN -30
      WHEN `policy_engine_hash_1` < '11e85e353be7762' THEN -29
      WHEN `policy_engine_hash_1` < '150c1aedb6afcf1' THEN -28
      WHEN `policy_engine_hash_1` IS NOT NULL THEN -27
    END
      WHEN `policy_engine_hash_1` < '33752f34e6c3734' THEN CASE
      WHEN `policy_engine_hash_1` < '1b7718f76ef1810' THEN -26
      WHEN `policy_engine_hash_1` < '1ebeb35b690c31a' THEN -25
      WHEN `policy_engine_hash_1` < '22129c7793d9008' THEN -24
      WHEN `policy_engine_hash_1` < '2573027b6b23bbe' THEN -23
      WHEN `policy_engine_hash_1` < '28e01443bbe0119' THEN -22
      WHEN `policy_engine_hash_1` < '2c5a015d2e8e924' THEN -21
      WHEN `policy_engine_hash_1` < '2fe0fa06db2a652' THEN -20
      WHEN `policy_engine_hash_1` IS NOT NULL THEN -19
    END
      WHEN `policy_engine_hash_1` < '520b3f7135615b4' THEN CASE
      WHEN `policy_engine_hash_1` < '3716d2932ae9580' THEN -18
      WHEN `policy_engine_hash_1` < '3ac61687e70bebc' THEN -17
      WHEN `policy_engine_hash_1` < '3e832e367bf6c89' THEN -16
      WHEN `policy_engine_hash_1` < '424e4d82318db55' THEN -15
      WHEN `policy_engine_hash_1` < '4627a91106f070f' THEN -14
      WHEN `policy_engine_hash_1` < '4a0f764e8d2ce8c' THEN -13
      WHEN `policy_engine_hash_1` < '4e05eb6ecca776f' THEN -12
      WHEN `policy_engine_hash_1` IS NOT NULL THEN -11
    END
      WHEN `policy_engine_hash_1` < '74680ea4b66785c' THEN CASE
      WHEN `policy_engine_hash_1` < '561faa239a46363' THEN -10
      WHEN `policy_engine_hash_1` < '5a43642537a9e8b' THEN -9
      WHEN `policy_engine_hash_1` < '5e76a6e9c520d55' THEN -8
      WHEN `policy_engine_hash_1` < '62b9acbc92dd1d4' THEN -7
      WHEN `policy_engine_hash_1` < '670cb0c3b2bc13f' THEN -6
      WHEN `policy_engine_hash_1` < '6b6fef032d2fc59' THEN -5
      WHEN `policy_engine_hash_1` < '6fe3a4604231125' THEN -4
      WHEN `policy_engine_hash_1` IS NOT NULL THEN -3
    END
      WHEN `policy_engine_hash_1` < '98f34f3c4d43ec1' THEN CASE
      WHEN `policy_engine_hash_1` < '78fd6c822cb4bcf' THEN -2
      WHEN `policy_engine_hash_1` < '7da3fd958c51d89' THEN -1
      WHEN `policy_engine_hash_1` < '825c026a73ae277' THEN 0
      WHEN `policy_engine_hash_1` < '8702937dd34b431' THEN 1
      WHEN `policy_engine_hash_1` < '8b97f15b49987a4' THEN 2
      WHEN `policy_engine_hash_1` < '901c5b9fbdceedb' THEN 3
      WHEN `policy_engine_hash_1` < '949010fcd2d03a7' THEN 4
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 5
    END
      WHEN `policy_engine_hash_1` < 'b9d856eef90f8f1' THEN CASE
      WHEN `policy_engine_hash_1` < '9d4653436d22e2c' THEN 6
      WHEN `policy_engine_hash_1` < 'a18959163adf2ab' THEN 7
      WHEN `policy_engine_hash_1` < 'a5bc9bdac856175' THEN 8
      WHEN `policy_engine_hash_1` < 'a9e055dc65b9c9d' THEN 9
      WHEN `policy_engine_hash_1` < 'adf4c08eca9ea4c' THEN 10
      WHEN `policy_engine_hash_1` < 'b1fa14913358891' THEN 11
      WHEN `policy_engine_hash_1` < 'b5f089b172d3174' THEN 12
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 13
    END
      WHEN `policy_engine_hash_1` < 'd71febbc441fee7' THEN CASE
      WHEN `policy_engine_hash_1` < 'bdb1b27dce724ab' THEN 14
      WHEN `policy_engine_hash_1` < 'c17cd1c98409377' THEN 15
      WHEN `policy_engine_hash_1` < 'c539e97818f4144' THEN 16
      WHEN `policy_engine_hash_1` < 'c8e92d6cd516a80' THEN 17
      WHEN `policy_engine_hash_1` < 'cc8ad0cb193c8cc' THEN 18
      WHEN `policy_engine_hash_1` < 'd01f05f924d59ae' THEN 19
      WHEN `policy_engine_hash_1` < 'd3a5fea2d1716dc' THEN 20
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 21
    END
      WHEN `policy_engine_hash_1` < 'f12fc1f55babba0' THEN CASE
      WHEN `policy_engine_hash_1` < 'da8cfd8494dc442' THEN 22
      WHEN `policy_engine_hash_1` < 'dded63886c26ff8' THEN 23
      WHEN `policy_engine_hash_1` < 'e1414ca496f3ce6' THEN 24
      WHEN `policy_engine_hash_1` < 'e488e708910e7f0' THEN 25
      WHEN `policy_engine_hash_1` < 'e7c46039061a950' THEN 26
      WHEN `policy_engine_hash_1` < 'eaf3e512495030f' THEN 27
      WHEN `policy_engine_hash_1` < 'ee17a1cac41889e' THEN 28
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 29
    END
      ELSE CASE
      WHEN `policy_engine_hash_1` < 'f43c7083cdd122d' THEN 30
      WHEN `policy_engine_hash_1` < 'f73dd7c904e331c' THEN 31
      WHEN `policy_engine_hash_1` < 'fa34217b6336d5a' THEN 32
      WHEN `policy_engine_hash_1` < 'fd1f76b706067cf' THEN 33
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 34
    END
    END AS `policy_engine_total_1`,
    `policy_engine_total_2` + CASE
      WHEN `policy_engine_hash_2` < '183b9fc6f9e56b0' THEN CASE
      WHEN `policy_engine_hash_2` < '02e08948f9f9831' THEN -34
      WHEN `policy_engine_hash_2` < '05cbde849cc92a6' THEN -33
      WHEN `policy_engine_hash_2` < '08c22836fb1cce4' THEN -32
      WHEN `policy_engine_hash_2` < '0bc38f7c322edd3' THEN -31
      WHEN `policy_engine_hash_2` < '0ed03e0aa454460' THEN -30
      WHEN `policy_engine_hash_2` < '11e85e353be7762' THEN -29
      WHEN `policy_engine_hash_2` < '150c1aedb6afcf1' THEN -28
      WHEN `policy_engine_hash_2` IS NOT NULL THEN -27
    END
      WHEN `policy_engine_hash_2` < '33752f34e6c3734' THEN CASE
      WHEN `policy_engine_hash_2` < '1b7718f76ef1810' THEN -26
      WHEN `policy_engine_hash_2` < '1ebeb35b690c31a' THEN -25
      WHEN `policy_engine_hash_2` < '22129c7793d9008' THEN -24
      WHEN `policy_engine_hash_2` < '2573027b6b23bbe' THEN -23
      WHEN `policy_engine_hash_2` < '28e01443bbe0119' THEN -22
      WHEN `policy_engine_hash_2` < '2c5a015d2e8e924' THEN -21
      WHEN `policy_engine_hash_2` < '2fe0fa06db2a652' THEN -20
      WHEN `policy_engine_hash_2` IS NOT NULL THEN -19
    END
      WHEN `policy_engine_hash_2` < '520b3f7135615b4' THEN CASE
      WHEN `policy_engine_hash_2` < '3716d2932ae9580' THEN -18
      WHEN `policy_engine_hash_2` < '3ac61687e70bebc' THEN -17
      WHEN `policy_engine_hash_2` < '3e832e367bf6c89' THEN -16
      WHEN `policy_engine_hash_2` < '424e4d82318db55' THEN -15
      WHEN `policy_engine_hash_2` < '4627a91106f070f' THEN -14
      WHEN `policy_engine_hash_2` < '4a0f764e8d2ce8c' THEN -13
      WHEN `policy_engine_hash_2` < '4e05eb6ecca776f' THEN -12
      WHEN `policy_engine_hash_2` IS NOT NULL THEN -11
    END
      WHEN `policy_engine_hash_2` < '74680ea4b66785c' THEN CASE
      WHEN `policy_engine_hash_2` < '561faa239a46363' THEN -10
      WHEN `policy_engine_hash_2` < '5a43642537a9e8b' THEN -9
      WHEN `policy_engine_hash_2` < '5e76a6e9c520d55' THEN -8
      WHEN `policy_engine_hash_2` < '62b9acbc92dd1d4' THEN -7
      WHEN `policy_engine_hash_2` < '670cb0c3b2bc13f' THEN -6
      WHEN `policy_engine_hash_2` < '6b6fef032d2fc59' THEN -5
      WHEN `policy_engine_hash_2` < '6fe3a4604231125' THEN -4
      WHEN `policy_engine_hash_2` IS NOT NULL THEN -3
    END
      WHEN `policy_engine_hash_2` < '98f34f3c4d43ec1' THEN CASE
      WHEN `policy_engine_hash_2` < '78fd6c822cb4bcf' THEN -2
      WHEN `policy_engine_hash_2` < '7da3fd958c51d89' THEN -1
      WHEN `policy_engine_hash_2` < '825c026a73ae277' THEN 0
      WHEN `policy_engine_hash_2` < '8702937dd34b431' THEN 1
      WHEN `policy_engine_hash_2` < '8b97f15b49987a4' THEN 2
      WHEN `policy_engine_hash_2` < '901c5b9fbdceedb' THEN 3
      WHEN `policy_engine_hash_2` < '949010fcd2d03a7' THEN 4
      WHEN `policy_engine_hash_2` IS NOT NULL THEN 5
    END
      WHEN `policy_engine_hash_2` < 'b9d856eef90f8f1' THEN CASE
      WHEN `policy_engine_hash_2` < '9d4653436d22e2c' THEN 6
      WHEN `policy_engine_hash_2` < 'a18959163adf2ab' THEN 7
      WHEN `policy_engine_hash_2` < 'a5bc9bdac856175' THEN 8
      WHEN `policy_engine_hash_2` < 'a9e055dc65b9c9d' THEN 9
      WHEN `policy_engine_hash_2` < 'adf4c08eca9ea4c' THEN 10
      WHEN `policy_engine_hash_2` < 'b1fa14913358891' THEN 11
      WHEN `policy_engine_hash_2` < 'b5f089b172d3174' THEN 12
      WHEN `policy_engine_hash_2` IS NOT NULL THEN 13
    END
      WHEN `policy_engine_hash_2` < 'd71febbc441fee7' THEN CASE
      WHEN `policy_engine_hash_2` < 'bdb1b27dce724ab' THEN 14
      WHEN `policy_engine_hash_2` < 'c17cd1c98409377' THEN 15
      WHEN `policy_engine_hash_2` < 'c539e97818f4144' THEN 16
      WHEN `policy_engine_hash_2` < 'c8e92d6cd516a80' THEN 17
      WHEN `policy_engine_hash_2` < 'cc8ad0cb193c8cc' THEN 18
      WHEN `policy_engine_hash_2` < 'd01f05f924d59ae' THEN 19
      WHEN `policy_engine_hash_2` < 'd3a5fea2d1716dc' THEN 20
      WHEN `policy_engine_hash_2` IS NOT NULL THEN 21
    END
      WHEN `policy_engine_hash_2` < 'f12fc1f55babba0' THEN CASE
      WHEN `policy_engine_hash_2` < 'da8cfd8494dc442' THEN 22
      WHEN `policy_engine_hash_2` < 'dded63886c26ff8' THEN 23
      WHEN `policy_engine_hash_2` < 'e1414ca496f3ce6' THEN 24
      WHEN `policy_engine_hash_2` < 'e488e708910e7f0' THEN 25
      WHEN `policy_engine_hash_2` < 'e7c46039061a950' THEN 26
      WHEN `policy_engine_hash_2` < 'eaf3e512495030f' THEN 27
      WHEN `policy_engine_hash_2` < 'ee17a1cac41889e' THEN 28
      WHEN `policy_engine_hash_2` IS NOT NULL THEN 29
    END
      ELSE CASE
      WHEN `policy_engine_hash_2` < 'f43c7083cdd122d' THEN 30
      WHEN `policy_engine_hash_2` < 'f73dd7c904e331c' THEN 31
      WHEN `policy_engine_hash_2` < 'fa34217b6336d5a' THEN 32
      WHEN `policy_engine_hash_2` < 'fd1f76b706067cf' THEN 33
      WHEN `policy_engine_hash_2` IS NOT NULL THEN 34
    END
    END AS `policy_engine_total_2`,
    `policy_engine_total_3` + CASE
      WHEN `policy_engine_hash_3` < '1a0784f03ce9f26' THEN CASE
      WHEN `policy_engine_hash_3` < '032be1ff14b2957' THEN -35
      WHEN `policy_engine_hash_3` < '065db1cc6d40698' THEN -34
      WHEN `policy_engine_hash_3` < '09957a7d8ef352b' THEN -33
      WHEN `policy_engine_hash_3` < '0cd3473cb7cba34' THEN -32
      WHEN `policy_engine_hash_3` < '10172349053d42e' THEN -31
      WHEN `policy_engine_hash_3` < '136119f69b35347' THEN -30
      WHEN `policy_engine_hash_3` < '16b136aecb680f0' THEN -29
      WHEN `policy_engine_hash_3` IS NOT NULL THEN -28
    END
      WHEN `policy_engine_hash_3` < '359e6da3c897227' THEN CASE
      WHEN `policy_engine_hash_3` < '1d64104f1410811' THEN -27
      WHEN `policy_engine_hash_3` < '20c6e4751a9f693' THEN -26
      WHEN `policy_engine_hash_3` < '24300d21e84008a' THEN -25
      WHEN `policy_engine_hash_3` < '279f962b0b44b83' THEN -24
      WHEN `policy_engine_hash_3` < '2b158b7c31b84b6' THEN -23
      WHEN `policy_engine_hash_3` < '2e91f91752ba539' THEN -22
      WHEN `policy_engine_hash_3` < '3214eb14d828b59' THEN -21
      WHEN `policy_engine_hash_3` IS NOT NULL THEN -20
    END
      WHEN `policy_engine_hash_3` < '52dcaa435701b36' THEN CASE
      WHEN `policy_engine_hash_3` < '392e8d09f195052' THEN -19
      WHEN `policy_engine_hash_3` < '3cc555a4124277a' THEN -18
      WHEN `policy_engine_hash_3` < '4062d3e60634d33' THEN -17
      WHEN `policy_engine_hash_3` < '4407145af0ab70e' THEN -16
      WHEN `policy_engine_hash_3` < '47b223a568152fa' THEN -15
      WHEN `policy_engine_hash_3` < '4b640e7fa1e757b' THEN -14
      WHEN `policy_engine_hash_3` < '4f1ce1bb9ec672f' THEN -13
      WHEN `policy_engine_hash_3` IS NOT NULL THEN -12
    END
      WHEN `policy_engine_hash_3` < '71db9a44e836c12' THEN CASE
      WHEN `policy_engine_hash_3` < '56a37518e761828' THEN -11
      WHEN `policy_engine_hash_3` < '5a714f56be49d48' THEN -10
      WHEN `policy_engine_hash_3` < '5e46462fc930dc5' THEN -9
      WHEN `policy_engine_hash_3` < '622266efa26abdf' THEN -8
      WHEN `policy_engine_hash_3` < '6605befabf4ade4' THEN -7
      WHEN `policy_engine_hash_3` < '69f05bce9e9b702' THEN -6
      WHEN `policy_engine_hash_3` < '6de24b01f76be02' THEN -5
      WHEN `policy_engine_hash_3` IS NOT NULL THEN -4
    END
      WHEN `policy_engine_hash_3` < '921db4fe08941fe' THEN CASE
      WHEN `policy_engine_hash_3` < '75dc5761265fdda' THEN -3
      WHEN `policy_engine_hash_3` < '79e4903a2e0b128' THEN -2
      WHEN `policy_engine_hash_3` < '7df452cd724c990' THEN -1
      WHEN `policy_engine_hash_3` < '820bad328db3670' THEN 0
      WHEN `policy_engine_hash_3` < '861b6fc5d1f4ed8' THEN 1
      WHEN `policy_engine_hash_3` < '8a23a89ed9a0226' THEN 2
      WHEN `policy_engine_hash_3` < '8e2465bb17c93ee' THEN 3
      WHEN `policy_engine_hash_3` IS NOT NULL THEN 4
    END
      WHEN `policy_engine_hash_3` < 'b0e31e4461398d1' THEN CASE
      WHEN `policy_engine_hash_3` < '960fa43161648fe' THEN 5
      WHEN `policy_engine_hash_3` < '99fa410540b521c' THEN 6
      WHEN `policy_engine_hash_3` < '9ddd99105d95421' THEN 7
      WHEN `policy_engine_hash_3` < 'a1b9b9d036cf23b' THEN 8
      WHEN `policy_engine_hash_3` < 'a58eb0a941b62b8' THEN 9
      WHEN `policy_engine_hash_3` < 'a95c8ae7189e7d8' THEN 10
      WHEN `policy_engine_hash_3` < 'ad2355bca8fe4ca' THEN 11
      WHEN `policy_engine_hash_3` IS NOT NULL THEN 12
    END
      WHEN `policy_engine_hash_3` < 'cdeb14eb27d74a7' THEN CASE
      WHEN `policy_engine_hash_3` < 'b49bf1805e18a85' THEN 13
      WHEN `policy_engine_hash_3` < 'b84ddc5a97ead06' THEN 14
      WHEN `policy_engine_hash_3` < 'bbf8eba50f548f2' THEN 15
      WHEN `policy_engine_hash_3` < 'bf9d2c19f9cb2cd' THEN 16
      WHEN `policy_engine_hash_3` < 'c33aaa5bedbd886' THEN 17
      WHEN `policy_engine_hash_3` < 'c6d172f60e6afae' THEN 18
      WHEN `policy_engine_hash_3` < 'ca61925c3768dd9' THEN 19
      WHEN `policy_engine_hash_3` IS NOT NULL THEN 20
    END
      WHEN `policy_engine_hash_3` < 'e94ec9513497f10' THEN CASE
      WHEN `policy_engine_hash_3` < 'd16e06e8ad45ac7' THEN 21
      WHEN `policy_engine_hash_3` < 'd4ea7483ce47b4a' THEN 22
      WHEN `policy_engine_hash_3` < 'd86069d4f4bb47d' THEN 23
      WHEN `policy_engine_hash_3` < 'dbcff2de17bff76' THEN 24
      WHEN `policy_engine_hash_3` < 'df391b8ae56096d' THEN 25
      WHEN `policy_engine_hash_3` < 'e29befb0ebef7ef' THEN 26
      WHEN `policy_engine_hash_3` < 'e5f87b0fc3160da' THEN 27
      WHEN `policy_engine_hash_3` IS NOT NULL THEN 28
    END
      ELSE CASE
      WHEN `policy_engine_hash_3` < 'ec9ee60964cacb9' THEN 29
      WHEN `policy_engine_hash_3` < 'efe8dcb6fac2bd2' THEN 30
      WHEN `policy_engine_hash_3` < 'f32cb8c348345cc' THEN 31
      WHEN `policy_engine_hash_3` < 'f66a8582710cad5' THEN 32
      WHEN `policy_engine_hash_3` < 'f9a24e3392bf968' THEN 33
      WHEN `policy_engine_hash_3` < 'fcd41e00eb4d6a9' THEN 34
      WHEN `policy_engine_hash_3` IS NOT NULL THEN 35
    END
    END AS `policy_engine_total_3`,
    `policy_engine_total_4` + CASE
      WHEN `policy_engine_hash_4` < '10207605acb66a9' THEN CASE
      WHEN `policy_engine_hash_4` < '01b8b99f13f40a8' THEN -33
      WHEN `policy_engine_hash_4` < '03851df6a564cb5' THEN -32
      WHEN `policy_engine_hash_4` < '05660db1f3a119c' THEN -31
      WHEN `policy_engine_hash_4` < '075c7382cc2450f' THEN -30
      WHEN `policy_engine_hash_4` < '096944941233807' THEN -29
      WHEN `policy_engine_hash_4` < '0b8d810162d5b8f' THEN -28
      WHEN `policy_engine_hash_4` < '0dca34540f89bfc' THEN -27
      WHEN `policy_engine_hash_4` IS NOT NULL THEN -26
    END
      WHEN `policy_engine_hash_4` < '26feaa639e411a8' THEN CASE
      WHEN `policy_engine_hash_4` < '12916a08738b9ec' THEN -25
      WHEN `policy_engine_hash_4` < '151e4155b9e1bf5' THEN -24
      WHEN `policy_engine_hash_4` < '17c83a82c59da07' THEN -23
      WHEN `policy_engine_hash_4` < '1a90a25c44394f5' THEN -22
      WHEN `policy_engine_hash_4` < '1d78d488b24fa73' THEN -21
      WHEN `policy_engine_hash_4` < '20823c32026b5ac' THEN -20
      WHEN `policy_engine_hash_4` < '23ae54b6d5e3756' THEN -19
      WHEN `policy_engine_hash_4` IS NOT NULL THEN -18
    END
      WHEN `policy_engine_hash_4` < '476bfe79d807575' THEN CASE
      WHEN `policy_engine_hash_4` < '2a74db3401863f9' THEN -17
      WHEN `policy_engine_hash_4` < '2e12979cdfb52a0' THEN -16
      WHEN `policy_engine_hash_4` < '31d9a35f5c2e958' THEN -15
      WHEN `policy_engine_hash_4` < '35cbd66551e29d3' THEN -14
      WHEN `policy_engine_hash_4` < '39eb1da79de8fb0' THEN -13
      WHEN `policy_engine_hash_4` < '3e397c1eb0e2278' THEN -12
      WHEN `policy_engine_hash_4` < '42b90bbddc86b4c' THEN -11
      WHEN `policy_engine_hash_4` IS NOT NULL THEN -10
    END
      WHEN `policy_engine_hash_4` < '75675f391b30b0d' THEN CASE
      WHEN `policy_engine_hash_4` < '4c549f5afb5901c' THEN -9
      WHEN `policy_engine_hash_4` < '5175539bb73fed1' THEN -8
      WHEN `policy_engine_hash_4` < '56d09bd3d5e52b9' THEN -7
      WHEN `policy_engine_hash_4` < '5c69153115ff5f8' THEN -6
      WHEN `policy_engine_hash_4` < '62417abdb91b6ea' THEN -5
      WHEN `policy_engine_hash_4` < '685ca6b5a460bb7' THEN -4
      WHEN `policy_engine_hash_4` < '6ebd93eaba48e35' THEN -3
      WHEN `policy_engine_hash_4` IS NOT NULL THEN -2
    END
      WHEN `policy_engine_hash_4` < 'a92f642c2a1ad47' THEN CASE
      WHEN `policy_engine_hash_4` < '7c5d490c026a7f4' THEN -1
      WHEN `policy_engine_hash_4` < '83a2b6f3fd9580c' THEN 0
      WHEN `policy_engine_hash_4` < '8a98a0c6e4cf4f3' THEN 1
      WHEN `policy_engine_hash_4` < '91426c1545b71cb' THEN 2
      WHEN `policy_engine_hash_4` < '97a3594a5b9f449' THEN 3
      WHEN `policy_engine_hash_4` < '9dbe854246e4916' THEN 4
      WHEN `policy_engine_hash_4` < 'a396eaceea00a08' THEN 5
      WHEN `policy_engine_hash_4` IS NOT NULL THEN 6
    END
      WHEN `policy_engine_hash_4` < 'ce265ca0a3d16a8' THEN CASE
      WHEN `policy_engine_hash_4` < 'ae8aac6448c012f' THEN 7
      WHEN `policy_engine_hash_4` < 'b3ab60a504a6fe4' THEN 8
      WHEN `policy_engine_hash_4` < 'b894018627f8a8b' THEN 9
      WHEN `policy_engine_hash_4` < 'bd46f44223794b4' THEN 10
      WHEN `policy_engine_hash_4` < 'c1c683e14f1dd88' THEN 11
      WHEN `policy_engine_hash_4` < 'c614e2586217050' THEN 12
      WHEN `policy_engine_hash_4` < 'ca34299aae1d62d' THEN 13
      WHEN `policy_engine_hash_4` IS NOT NULL THEN 14
    END
      WHEN `policy_engine_hash_4` < 'e837c57d3a625f9' THEN CASE
      WHEN `policy_engine_hash_4` < 'd1ed6863204ad60' THEN 15
      WHEN `policy_engine_hash_4` < 'd58b24cbfe79c07' THEN 16
      WHEN `policy_engine_hash_4` < 'd901559c61bee58' THEN 17
      WHEN `policy_engine_hash_4` < 'dc51ab492a1c8aa' THEN 18
      WHEN `policy_engine_hash_4` < 'df7dc3cdfd94a54' THEN 19
      WHEN `policy_engine_hash_4` < 'e2872b774db058d' THEN 20
      WHEN `policy_engine_hash_4` < 'e56f5da3bbc6b0b' THEN 21
      WHEN `policy_engine_hash_4` IS NOT NULL THEN 22
    END
      WHEN `policy_engine_hash_4` < 'fa99f24e0c5ee64' THEN CASE
      WHEN `policy_engine_hash_4` < 'eae1beaa461e40b' THEN 23
      WHEN `policy_engine_hash_4` < 'ed6e95f78c74614' THEN 24
      WHEN `policy_engine_hash_4` < 'efdf89fa5349957' THEN 25
      WHEN `policy_engine_hash_4` < 'f235cbabf076404' THEN 26
      WHEN `policy_engine_hash_4` < 'f4727efe9d2a471' THEN 27
      WHEN `policy_engine_hash_4` < 'f696bb6bedcc7f9' THEN 28
      WHEN `policy_engine_hash_4` < 'f8a38c7d33dbaf1' THEN 29
      WHEN `policy_engine_hash_4` IS NOT NULL THEN 30
    END
      ELSE CASE
      WHEN `policy_engine_hash_4` < 'fc7ae2095a9b34b' THEN 31
      WHEN `policy_engine_hash_4` < 'fe474660ec0bf58' THEN 32
      WHEN `policy_engine_hash_4` IS NOT NULL THEN 33
    END
    END AS `policy_engine_total_4`,
    `policy_engine_total_5` - `policy_engine_total_5` % 5 + CAST(5 AS BIGINT) * CASE
      WHEN `policy_engine_hash_5` < '1993767877133f7' THEN CASE
      WHEN `policy_engine_hash_5` < '0325fb638a9af12' THEN -37
      WHEN `policy_engine_hash_5` < '064f7d86b90e248' THEN -36
      WHEN `policy_engine_hash_5` < '097c8a5cad69065' THEN -35
      WHEN `policy_engine_hash_5` < '0cad25dcf642bd7' THEN -34
      WHEN `policy_engine_hash_5` < '0fe1540393aeac5' THEN -33
      WHEN `policy_engine_hash_5` < '131918d0fc367e3' THEN -32
      WHEN `policy_engine_hash_5` < '1654784a21d9c77' THEN -31
      WHEN `policy_engine_hash_5` IS NOT NULL THEN -30
    END
      WHEN `policy_engine_hash_5` < '340fa3b0c844a54' THEN CASE
      WHEN `policy_engine_hash_5` < '1cd61769f3e399a' THEN -29
      WHEN `policy_engine_hash_5` < '201c5f311ae204a' THEN -28
      WHEN `policy_engine_hash_5` < '236651e4fe52555' THEN -27
      WHEN `policy_engine_hash_5` < '26b3f3a14540e4b' THEN -26
      WHEN `policy_engine_hash_5` < '2a05488630a4264' THEN -25
      WHEN `policy_engine_hash_5` < '2d5a54b8a083fe2' THEN -24
      WHEN `policy_engine_hash_5` < '30b31c621926dc7' THEN -23
      WHEN `policy_engine_hash_5` IS NOT NULL THEN -22
    END
      WHEN `policy_engine_hash_5` < '4f7ccd1a019f9e3' THEN CASE
      WHEN `policy_engine_hash_5` < '376feed78a3f6b2' THEN -21
      WHEN `policy_engine_hash_5` < '3ad4020def6202c' THEN -20
      WHEN `policy_engine_hash_5` < '3e3be1904124767' THEN -19
      WHEN `policy_engine_hash_5` < '41a7919f8776602' THEN -18
      WHEN `policy_engine_hash_5` < '451716818e0f300' THEN -17
      WHEN `policy_engine_hash_5` < '488a7480e9c4670' THEN -16
      WHEN `policy_engine_hash_5` < '4c01afecfde5cb5' THEN -15
      WHEN `policy_engine_hash_5` IS NOT NULL THEN -14
    END
      WHEN `policy_engine_hash_5` < '6be3836798418b4' THEN CASE
      WHEN `policy_engine_hash_5` < '52fbd0610562d91' THEN -13
      WHEN `policy_engine_hash_5` < '567ebe1ff853795' THEN -12
      WHEN `policy_engine_hash_5` < '5a059ab9adbce14' THEN -11
      WHEN `policy_engine_hash_5` < '5d906a95e28c550' THEN -10
      WHEN `policy_engine_hash_5` < '611f322142d19a5' THEN -9
      WHEN `policy_engine_hash_5` < '64b1f5cd6f45c24' THEN -8
      WHEN `policy_engine_hash_5` < '6848ba1102d8235' THEN -7
      WHEN `policy_engine_hash_5` IS NOT NULL THEN -6
    END
      WHEN `policy_engine_hash_5` < '8933d5031eafe84' THEN CASE
      WHEN `policy_engine_hash_5` < '6f825651cf9daf7' THEN -5
      WHEN `policy_engine_hash_5` < '73253755540ae2b' THEN -4
      WHEN `policy_engine_hash_5` < '76cc2afce15017c' THEN -3
      WHEN `policy_engine_hash_5` < '7a7735d84989378' THEN -2
      WHEN `policy_engine_hash_5` < '7e265c7c7ad9d17' THEN -1
      WHEN `policy_engine_hash_5` < '81d9a38385262e9' THEN 0
      WHEN `policy_engine_hash_5` < '8588ca27b676c88' THEN 1
      WHEN `policy_engine_hash_5` IS NOT NULL THEN 2
    END
      WHEN `policy_engine_hash_5` < 'a5fa654652431ec' THEN CASE
      WHEN `policy_engine_hash_5` < '8cdac8aaabf51d5' THEN 3
      WHEN `policy_engine_hash_5` < '907da9ae3062509' THEN 4
      WHEN `policy_engine_hash_5` < '941c7c9867be74c' THEN 5
      WHEN `policy_engine_hash_5` < '97b745eefd27dcb' THEN 6
      WHEN `policy_engine_hash_5` < '9b4e0a3290ba3dc' THEN 7
      WHEN `policy_engine_hash_5` < '9ee0cddebd2e65b' THEN 8
      WHEN `policy_engine_hash_5` < 'a26f956a1d73ab0' THEN 9
      WHEN `policy_engine_hash_5` IS NOT NULL THEN 10
    END
      WHEN `policy_engine_hash_5` < 'c1c41e6fbedb899' THEN CASE
      WHEN `policy_engine_hash_5` < 'a98141e007ac86b' THEN 11
      WHEN `policy_engine_hash_5` < 'ad042f9efa9d26f' THEN 12
      WHEN `policy_engine_hash_5` < 'b08332e5fe6061d' THEN 13
      WHEN `policy_engine_hash_5` < 'b3fe5013021a34b' THEN 14
      WHEN `policy_engine_hash_5` < 'b7758b7f163b990' THEN 15
      WHEN `policy_engine_hash_5` < 'bae8e97e71f0d00' THEN 16
      WHEN `policy_engine_hash_5` < 'be586e6078899fe' THEN 17
      WHEN `policy_engine_hash_5` IS NOT NULL THEN 18
    END
      WHEN `policy_engine_hash_5` < 'dc99ae1b01adaab' THEN CASE
      WHEN `policy_engine_hash_5` < 'c52bfdf2109dfd4' THEN 19
      WHEN `policy_engine_hash_5` < 'c890112875c094e' THEN 20
      WHEN `policy_engine_hash_5` < 'cbf05c4f37bb5ac' THEN 21
      WHEN `policy_engine_hash_5` < 'cf4ce39de6d9239' THEN 22
      WHEN `policy_engine_hash_5` < 'd2a5ab475f7c01e' THEN 23
      WHEN `policy_engine_hash_5` < 'd5fab779cf5bd9c' THEN 24
      WHEN `policy_engine_hash_5` < 'd94c0c5ebabf1b5' THEN 25
      WHEN `policy_engine_hash_5` IS NOT NULL THEN 26
    END
      WHEN `policy_engine_hash_5` < 'f68375a35296f9b' THEN CASE
      WHEN `policy_engine_hash_5` < 'dfe3a0cee51dfb6' THEN 27
      WHEN `policy_engine_hash_5` < 'e329e8960c1c666' THEN 28
      WHEN `policy_engine_hash_5` < 'e66c898788ecc09' THEN 29
      WHEN `policy_engine_hash_5` < 'e9ab87b5de26389' THEN 30
      WHEN `policy_engine_hash_5` < 'ece6e72f03c981d' THEN 31
      WHEN `policy_engine_hash_5` < 'f01eabfc6c5153b' THEN 32
      WHEN `policy_engine_hash_5` < 'f352da2309bd429' THEN 33
      WHEN `policy_engine_hash_5` IS NOT NULL THEN 34
    END
      ELSE CASE
      WHEN `policy_engine_hash_5` < 'f9b0827946f1db8' THEN 35
      WHEN `policy_engine_hash_5` < 'fcda049c75650ee' THEN 36
      WHEN `policy_engine_hash_5` IS NOT NULL THEN 37
    END
    END AS `policy_engine_total_5`
  FROM drawn
), bounded AS (
  SELECT `age`, `born`, policy_engine_n, `policy_engine_total_1`, `policy_engine_total_2`, `policy_engine_total_3`, `policy_engine_total_4`, `policy_engine_total_5`,
    CASE WHEN `policy_engine_total_2` < 1 THEN NULL WHEN `policy_engine_total_3` + 2 * `policy_engine_total_2` < 0 THEN 0 WHEN `policy_engine_total_3` + 2 * `policy_engine_total_2` > 4 * `policy_engine_total_2` THEN 4 * `policy_engine_total_2` ELSE `policy_engine_total_3` + 2 * `policy_engine_total_2` END AS `policy_engine_above_2`,
    CASE WHEN `policy_engine_total_2` < 1 THEN 1 ELSE `policy_engine_total_2` END AS `policy_engine_divisor_2`,
    CASE WHEN `policy_engine_total_4` < 1 THEN NULL WHEN `policy_engine_total_5` + 50 * `policy_engine_total_4` < 0 THEN 0 WHEN `policy_engine_total_5` + 50 * `policy_engine_total_4` > 100 * `policy_engine_total_4` THEN 100 * `policy_engine_total_4` ELSE `policy_engine_total_5` + 50 * `policy_engine_total_4` END AS `policy_engine_above_4`,
    CASE WHEN `policy_engine_total_4` < 1 THEN 1 ELSE `policy_engine_total_4` END AS `policy_engine_divisor_4`
  FROM noised
)
SELECT `age`, `born`, policy_engine_n AS `people`,
  `policy_engine_total_1` AS `visits`,
  (2 * `policy_engine_above_2` + `policy_engine_divisor_2`) DIV (2 * `policy_engine_divisor_2`) * 10 AS `pay`,
  (`policy_engine_total_3` + 2 * `policy_engine_total_2`) * 10 AS `paid`,
  (2 * `policy_engine_above_4` + `policy_engine_divisor_4`) DIV (2 * `policy_engine_divisor_4`) AS `years`
FROM bounded
WHERE policy_engine_n >= 6
ORDER BY `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST
