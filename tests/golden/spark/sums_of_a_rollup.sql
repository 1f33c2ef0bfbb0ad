-- policy: golden
-- digest: sha256:dce054ab8c40e91480b7c9ce629a69aeb07bb4c7b1ea984ae32c7a6cd2f3d4e9
WITH people AS (
  SELECT `age`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` NULLS LAST, `born` NULLS LAST) AS policy_engine_rank
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
      WHEN `age` IS NULL THEN NULL
      WHEN `age` <= 0 THEN 0
      WHEN `age` >= 10 THEN 10
      ELSE CAST(`age` AS BIGINT)
    END AS `policy_engine_value_1`
  FROM people
  WHERE policy_engine_rank = 1
), fine AS (
  SELECT `age`, `born`, COUNT(*) AS policy_engine_count, CAST(SUM(`policy_engine_value_1`) AS BIGINT) AS `policy_engine_value_1`, COUNT(`policy_engine_value_1`) AS `policy_engine_many_1`
  FROM recoded
  GROUP BY `age`, `born`
), spread AS (
  SELECT policy_engine_grouping, policy_engine_count, `policy_engine_value_1`, `policy_engine_many_1`,
    CASE WHEN policy_engine_grouping IN (1, 2) THEN `age` END AS `age`,
    CASE WHEN policy_engine_grouping IN (1) THEN `born` END AS `born`
  FROM fine
  CROSS JOIN (SELECT 1 AS policy_engine_grouping UNION ALL SELECT 2) AS policy_engine_groupings
), grouped AS (
  SELECT policy_engine_grouping, `age`, `born`, CAST(SUM(policy_engine_count) AS BIGINT) AS policy_engine_people,
    COALESCE(CAST(SUM(`policy_engine_value_1`) AS BIGINT), 0) AS `policy_engine_total_1`
  FROM spread
  GROUP BY policy_engine_grouping, `age`, `born`
), drawn AS (
  SELECT policy_engine_grouping, `age`, `born`, policy_engine_people, `policy_engine_total_1`,
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:0:79de939000400820bb508fa9e16e28b79ce18d437cdf224997d83c3880e57bd4:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST) AS STRING), 256) AS policy_engine_hash,
    SHA2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':g:1:79de939000400820bb508fa9e16e28b79ce18d437cdf224997d83c3880e57bd4:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST) AS STRING), 256) AS `policy_engine_hash_1`
  FROM grouped
), noised AS (
  SELECT policy_engine_grouping, `age`, `born`, policy_engine_people + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN policy_engine_hash < '07abea24d20712b' THEN -5
      WHEN policy_engine_hash < '131dbb20854e4ff' THEN -4
      WHEN policy_engine_hash < '243080dafd0eb65' THEN -3
      WHEN policy_engine_hash < '3da8edf50f470dd' THEN -2
      WHEN policy_engine_hash < '63a843284c207df' THEN -1
      WHEN policy_engine_hash < '9c57bcd7b3df821' THEN 0
      WHEN policy_engine_hash < 'c257120af0b8f23' THEN 1
      WHEN policy_engine_hash < 'dbcf7f2502f149b' THEN 2
      WHEN policy_engine_hash < 'ece244df7ab1b01' THEN 3
      WHEN policy_engine_hash < 'f85415db2df8ed5' THEN 4
      WHEN policy_engine_hash IS NOT NULL THEN 5
    END ELSE CASE
      WHEN policy_engine_hash < '07068856842f719' THEN -2
      WHEN policy_engine_hash < '29d2b903486a583' THEN -1
      WHEN policy_engine_hash < 'd62d46fcb795a7d' THEN 0
      WHEN policy_engine_hash < 'f8f977a97bd08e7' THEN 1
      WHEN policy_engine_hash IS NOT NULL THEN 2
    END END AS policy_engine_n,
    `policy_engine_total_1` + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN `policy_engine_hash_1` < '07dddd9d29b8761' THEN CASE
      WHEN `policy_engine_hash_1` < '00a7c0e76250265' THEN -55
      WHEN `policy_engine_hash_1` < '015636adc24844d' THEN -54
      WHEN `policy_engine_hash_1` < '020ba5f66a98c9f' THEN -53
      WHEN `policy_engine_hash_1` < '02c856231f13167' THEN -52
      WHEN `policy_engine_hash_1` < '038c9170321d045' THEN -51
      WHEN `policy_engine_hash_1` < '0458a511b990c3b' THEN -50
      WHEN `policy_engine_hash_1` < '052ce151ee86ada' THEN -49
      WHEN `policy_engine_hash_1` < '060999b0c3fc489' THEN -48
      WHEN `policy_engine_hash_1` < '06ef2504c0c6065' THEN -47
      WHEN `policy_engine_hash_1` IS NOT NULL THEN -46
    END
      WHEN `policy_engine_hash_1` < '138242edfdca412' THEN CASE
      WHEN `policy_engine_hash_1` < '08d621658979eaf' THEN -45
      WHEN `policy_engine_hash_1` < '09d8520aa3f7294' THEN -44
      WHEN `policy_engine_hash_1` < '0ae4d520e404bd5' THEN -43
      WHEN `policy_engine_hash_1` < '0bfc144c524b676' THEN -42
      WHEN `policy_engine_hash_1` < '0d1e7d6a2538c47' THEN -41
      WHEN `policy_engine_hash_1` < '0e4c82bbfa4e466' THEN -40
      WHEN `policy_engine_hash_1` < '0f869b14c9cfe97' THEN -39
      WHEN `policy_engine_hash_1` < '10cd4207a6821eb' THEN -38
      WHEN `policy_engine_hash_1` < '1220f8185bdb644' THEN -37
      WHEN `policy_engine_hash_1` IS NOT NULL THEN -36
    END
      WHEN `policy_engine_hash_1` < '24bd0fc07cf5445' THEN CASE
      WHEN `policy_engine_hash_1` < '14f1ad877df41cd' THEN -35
      WHEN `policy_engine_hash_1` < '166fc8725b1d029' THEN -34
      WHEN `policy_engine_hash_1` < '17fd2a03803c1a1' THEN -33
      WHEN `policy_engine_hash_1` < '199a6e92699cd14' THEN -32
      WHEN `policy_engine_hash_1` < '1b4838b6a751b16' THEN -31
      WHEN `policy_engine_hash_1` < '1d073187d52c002' THEN -30
      WHEN `policy_engine_hash_1` < '1ed808e02162fa1' THEN -29
      WHEN `policy_engine_hash_1` < '20bb75a17c17059' THEN -28
      WHEN `policy_engine_hash_1` < '22b235fd8ae91d3' THEN -27
      WHEN `policy_engine_hash_1` IS NOT NULL THEN -26
    END
      WHEN `policy_engine_hash_1` < '3e3cc55ad0be7bd' THEN CASE
      WHEN `policy_engine_hash_1` < '26dcd09edca0900' THEN -25
      WHEN `policy_engine_hash_1` < '29124e867dd89be' THEN -24
      WHEN `policy_engine_hash_1` < '2b5e67f2a89b999' THEN -23
      WHEN `policy_engine_hash_1` < '2dc20443a0e609c' THEN -22
      WHEN `policy_engine_hash_1` < '303e1419ae76138' THEN -21
      WHEN `policy_engine_hash_1` < '32d391b3c834e0d' THEN -20
      WHEN `policy_engine_hash_1` < '358381520884f2f' THEN -19
      WHEN `policy_engine_hash_1` < '384ef19c1131906' THEN -18
      WHEN `policy_engine_hash_1` < '3b36fc0b8747dde' THEN -17
      WHEN `policy_engine_hash_1` IS NOT NULL THEN -16
    END
      WHEN `policy_engine_hash_1` < '63f95fcc00029e0' THEN CASE
      WHEN `policy_engine_hash_1` < '41617df83f7d440' THEN -15
      WHEN `policy_engine_hash_1` < '44a6627dd714ac2' THEN -14
      WHEN `policy_engine_hash_1` < '480cbc2ddc440b4' THEN -13
      WHEN `policy_engine_hash_1` < '4b95e1745f50469' THEN -12
      WHEN `policy_engine_hash_1` < '4f43366df421f6a' THEN -11
      WHEN `policy_engine_hash_1` < '53162d73cd2baf9' THEN -10
      WHEN `policy_engine_hash_1` < '571047ad70378b9' THEN -9
      WHEN `policy_engine_hash_1` < '5b3315a83e6f3b1' THEN -8
      WHEN `policy_engine_hash_1` < '5f8037f50b3c8fd' THEN -7
      WHEN `policy_engine_hash_1` IS NOT NULL THEN -6
    END
      WHEN `policy_engine_hash_1` < '975fb048f2d5e66' THEN CASE
      WHEN `policy_engine_hash_1` < '68a04fb70d2a19a' THEN -5
      WHEN `policy_engine_hash_1` < '6d76dc432b8f7f6' THEN -4
      WHEN `policy_engine_hash_1` < '727eecb8b40fe3a' THEN -3
      WHEN `policy_engine_hash_1` < '77ba7bdb15bafb9' THEN -2
      WHEN `policy_engine_hash_1` < '7d2b98b0361739c' THEN -1
      WHEN `policy_engine_hash_1` < '82d4674fc9e8c64' THEN 0
      WHEN `policy_engine_hash_1` < '88458424ea45047' THEN 1
      WHEN `policy_engine_hash_1` < '8d8113474bf01c6' THEN 2
      WHEN `policy_engine_hash_1` < '928923bcd47080a' THEN 3
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 4
    END
      WHEN `policy_engine_hash_1` < 'be9e8207c082bc0' THEN CASE
      WHEN `policy_engine_hash_1` < '9c06a033fffd620' THEN 5
      WHEN `policy_engine_hash_1` < 'a07fc80af4c3703' THEN 6
      WHEN `policy_engine_hash_1` < 'a4ccea57c190c4f' THEN 7
      WHEN `policy_engine_hash_1` < 'a8efb8528fc8747' THEN 8
      WHEN `policy_engine_hash_1` < 'ace9d28c32d4507' THEN 9
      WHEN `policy_engine_hash_1` < 'b0bcc9920bde096' THEN 10
      WHEN `policy_engine_hash_1` < 'b46a1e8ba0afb97' THEN 11
      WHEN `policy_engine_hash_1` < 'b7f343d223bbf4c' THEN 12
      WHEN `policy_engine_hash_1` < 'bb599d8228eb53e' THEN 13
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 14
    END
      WHEN `policy_engine_hash_1` < 'd9232f61235f700' THEN CASE
      WHEN `policy_engine_hash_1` < 'c1c33aa52f41843' THEN 15
      WHEN `policy_engine_hash_1` < 'c4c903f478b8222' THEN 16
      WHEN `policy_engine_hash_1` < 'c7b10e63eece6fa' THEN 17
      WHEN `policy_engine_hash_1` < 'ca7c7eadf77b0d1' THEN 18
      WHEN `policy_engine_hash_1` < 'cd2c6e4c37cb1f3' THEN 19
      WHEN `policy_engine_hash_1` < 'cfc1ebe65189ec8' THEN 20
      WHEN `policy_engine_hash_1` < 'd23dfbbc5f19f64' THEN 21
      WHEN `policy_engine_hash_1` < 'd4a1980d5764667' THEN 22
      WHEN `policy_engine_hash_1` < 'd6edb1798227642' THEN 23
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 24
    END
      WHEN `policy_engine_hash_1` < 'eb0e5278820be33' THEN CASE
      WHEN `policy_engine_hash_1` < 'db42f03f830abbb' THEN 25
      WHEN `policy_engine_hash_1` < 'dd4dca027516e2d' THEN 26
      WHEN `policy_engine_hash_1` < 'df448a5e83e8fa7' THEN 27
      WHEN `policy_engine_hash_1` < 'e127f71fde9d05f' THEN 28
      WHEN `policy_engine_hash_1` < 'e2f8ce782ad3ffe' THEN 29
      WHEN `policy_engine_hash_1` < 'e4b7c74958ae4ea' THEN 30
      WHEN `policy_engine_hash_1` < 'e665916d96632ec' THEN 31
      WHEN `policy_engine_hash_1` < 'e802d5fc7fc3e5f' THEN 32
      WHEN `policy_engine_hash_1` < 'e990378da4e2fd7' THEN 33
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 34
    END
      WHEN `policy_engine_hash_1` < 'f729de9a7686151' THEN CASE
      WHEN `policy_engine_hash_1` < 'ec7dbd120235bee' THEN 35
      WHEN `policy_engine_hash_1` < 'eddf07e7a4249bc' THEN 36
      WHEN `policy_engine_hash_1` < 'ef32bdf8597de15' THEN 37
      WHEN `policy_engine_hash_1` < 'f07964eb3630169' THEN 38
      WHEN `policy_engine_hash_1` < 'f1b37d4405b1b9a' THEN 39
      WHEN `policy_engine_hash_1` < 'f2e18295dac73b9' THEN 40
      WHEN `policy_engine_hash_1` < 'f403ebb3adb498a' THEN 41
      WHEN `policy_engine_hash_1` < 'f51b2adf1bfb42b' THEN 42
      WHEN `policy_engine_hash_1` < 'f627adf55c08d6c' THEN 43
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 44
    END
      ELSE CASE
      WHEN `policy_engine_hash_1` < 'f8222262d64789f' THEN 45
      WHEN `policy_engine_hash_1` < 'f910dafb3f39f9b' THEN 46
      WHEN `policy_engine_hash_1` < 'f9f6664f3c03b77' THEN 47
      WHEN `policy_engine_hash_1` < 'fad31eae1179526' THEN 48
      WHEN `policy_engine_hash_1` < 'fba75aee466f3c5' THEN 49
      WHEN `policy_engine_hash_1` < 'fc736e8fcde2fbb' THEN 50
      WHEN `policy_engine_hash_1` < 'fd37a9dce0ece99' THEN 51
      WHEN `policy_engine_hash_1` < 'fdf45a099567361' THEN 52
      WHEN `policy_engine_hash_1` < 'fea9c9523db7bb3' THEN 53
      WHEN `policy_engine_hash_1` < 'ff583f189dafd9b' THEN 54
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 55
    END
    END ELSE CASE
      WHEN `policy_engine_hash_1` < '016ee08c120aee6' THEN -17
      WHEN `policy_engine_hash_1` < '031d69548aa781f' THEN -16
      WHEN `policy_engine_hash_1` < '0516a5ec6184b74' THEN -15
      WHEN `policy_engine_hash_1` < '07678c83f4b342b' THEN -14
      WHEN `policy_engine_hash_1` < '0a1f53098c4bd6f' THEN -13
      WHEN `policy_engine_hash_1` < '0d4fd30f1b0b7be' THEN -12
      WHEN `policy_engine_hash_1` < '110dff0551e4e66' THEN -11
      WHEN `policy_engine_hash_1` < '15726bcdf30f853' THEN -10
      WHEN `policy_engine_hash_1` < '1a99f22ce832cf9' THEN -9
      WHEN `policy_engine_hash_1` < '20a66c3c644bfa0' THEN -8
      WHEN `policy_engine_hash_1` < '27bf93c0526ebfa' THEN -7
      WHEN `policy_engine_hash_1` < '3014070d36c61f9' THEN -6
      WHEN `policy_engine_hash_1` < '39da7b340123413' THEN -5
      WHEN `policy_engine_hash_1` < '4553234d9fdf812' THEN -4
      WHEN `policy_engine_hash_1` < '52c9561e077814d' THEN -3
      WHEN `policy_engine_hash_1` < '62957cdfd27f90b' THEN -2
      WHEN `policy_engine_hash_1` < '751f57ea174b8f7' THEN -1
      WHEN `policy_engine_hash_1` < '8ae0a815e8b4709' THEN 0
      WHEN `policy_engine_hash_1` < '9d6a83202d806f5' THEN 1
      WHEN `policy_engine_hash_1` < 'ad36a9e1f887eb3' THEN 2
      WHEN `policy_engine_hash_1` < 'baacdcb260207ee' THEN 3
      WHEN `policy_engine_hash_1` < 'c62584cbfedcbed' THEN 4
      WHEN `policy_engine_hash_1` < 'cfebf8f2c939e07' THEN 5
      WHEN `policy_engine_hash_1` < 'd8406c3fad91406' THEN 6
      WHEN `policy_engine_hash_1` < 'df5993c39bb4060' THEN 7
      WHEN `policy_engine_hash_1` < 'e5660dd317cd307' THEN 8
      WHEN `policy_engine_hash_1` < 'ea8d94320cf07ad' THEN 9
      WHEN `policy_engine_hash_1` < 'eef200faae1b19a' THEN 10
      WHEN `policy_engine_hash_1` < 'f2b02cf0e4f4842' THEN 11
      WHEN `policy_engine_hash_1` < 'f5e0acf673b4291' THEN 12
      WHEN `policy_engine_hash_1` < 'f898737c0b4cbd5' THEN 13
      WHEN `policy_engine_hash_1` < 'fae95a139e7b48c' THEN 14
      WHEN `policy_engine_hash_1` < 'fce296ab75587e1' THEN 15
      WHEN `policy_engine_hash_1` < 'fe911f73edf511a' THEN 16
      WHEN `policy_engine_hash_1` IS NOT NULL THEN 17
    END END AS `policy_engine_total_1`
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS `grouping`, `age`, `born`, policy_engine_n AS `n`,
  `policy_engine_total_1` AS `years`
FROM noised
WHERE policy_engine_n >= CASE WHEN policy_engine_grouping = 2 THEN 6 ELSE 3 END
ORDER BY policy_engine_grouping, `age` COLLATE UTF8_BINARY NULLS LAST, `born` COLLATE UTF8_BINARY NULLS LAST
