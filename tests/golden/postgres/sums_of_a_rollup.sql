-- policy: golden
-- digest: sha256:dce054ab8c40e91480b7c9ce629a69aeb07bb4c7b1ea984ae32c7a6cd2f3d4e9
WITH people AS NOT MATERIALIZED (
  SELECT "age", "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
), recoded AS MATERIALIZED (
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
      WHEN "age" IS NULL THEN NULL
      WHEN "age" <= 0 THEN 0
      WHEN "age" >= 10 THEN 10
      ELSE CAST("age" AS BIGINT)
    END AS "policy_engine_value_1"
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS NOT MATERIALIZED (
  SELECT 0 AS policy_engine_grouping, "age", "born", 0 AS policy_engine_people, 0 AS "policy_engine_total_1"
  FROM recoded
  WHERE 1 = 0
  UNION ALL
  SELECT 1, "age", "born", COUNT(*),
    COALESCE(CAST(SUM("policy_engine_value_1") AS BIGINT), 0) AS "policy_engine_total_1"
  FROM recoded
  GROUP BY "age", "born"
  UNION ALL
  SELECT 2, "age", NULL, COUNT(*),
    COALESCE(CAST(SUM("policy_engine_value_1") AS BIGINT), 0) AS "policy_engine_total_1"
  FROM recoded
  GROUP BY "age"
), drawn AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "born", policy_engine_people, "policy_engine_total_1",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:79de939000400820bb508fa9e16e28b79ce18d437cdf224997d83c3880e57bd4:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:1:79de939000400820bb508fa9e16e28b79ce18d437cdf224997d83c3880e57bd4:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_1"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "born", policy_engine_people + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN policy_engine_hash < DECODE('07abea24d20712b0', 'hex') THEN -5
      WHEN policy_engine_hash < DECODE('131dbb20854e4ff0', 'hex') THEN -4
      WHEN policy_engine_hash < DECODE('243080dafd0eb650', 'hex') THEN -3
      WHEN policy_engine_hash < DECODE('3da8edf50f470dd0', 'hex') THEN -2
      WHEN policy_engine_hash < DECODE('63a843284c207df0', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('9c57bcd7b3df8210', 'hex') THEN 0
      WHEN policy_engine_hash < DECODE('c257120af0b8f230', 'hex') THEN 1
      WHEN policy_engine_hash < DECODE('dbcf7f2502f149b0', 'hex') THEN 2
      WHEN policy_engine_hash < DECODE('ece244df7ab1b010', 'hex') THEN 3
      WHEN policy_engine_hash < DECODE('f85415db2df8ed50', 'hex') THEN 4
      WHEN policy_engine_hash IS NOT NULL THEN 5
    END ELSE CASE
      WHEN policy_engine_hash < DECODE('07068856842f7190', 'hex') THEN -2
      WHEN policy_engine_hash < DECODE('29d2b903486a5830', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('d62d46fcb795a7d0', 'hex') THEN 0
      WHEN policy_engine_hash < DECODE('f8f977a97bd08e70', 'hex') THEN 1
      WHEN policy_engine_hash IS NOT NULL THEN 2
    END END AS policy_engine_n,
    "policy_engine_total_1" + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('07dddd9d29b87610', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('00a7c0e762502650', 'hex') THEN -55
      WHEN "policy_engine_hash_1" < DECODE('015636adc24844d0', 'hex') THEN -54
      WHEN "policy_engine_hash_1" < DECODE('020ba5f66a98c9f0', 'hex') THEN -53
      WHEN "policy_engine_hash_1" < DECODE('02c856231f131670', 'hex') THEN -52
      WHEN "policy_engine_hash_1" < DECODE('038c9170321d0450', 'hex') THEN -51
      WHEN "policy_engine_hash_1" < DECODE('0458a511b990c3b0', 'hex') THEN -50
      WHEN "policy_engine_hash_1" < DECODE('052ce151ee86ada0', 'hex') THEN -49
      WHEN "policy_engine_hash_1" < DECODE('060999b0c3fc4890', 'hex') THEN -48
      WHEN "policy_engine_hash_1" < DECODE('06ef2504c0c60650', 'hex') THEN -47
      WHEN "policy_engine_hash_1" IS NOT NULL THEN -46
    END
      WHEN "policy_engine_hash_1" < DECODE('138242edfdca4120', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('08d621658979eaf0', 'hex') THEN -45
      WHEN "policy_engine_hash_1" < DECODE('09d8520aa3f72940', 'hex') THEN -44
      WHEN "policy_engine_hash_1" < DECODE('0ae4d520e404bd50', 'hex') THEN -43
      WHEN "policy_engine_hash_1" < DECODE('0bfc144c524b6760', 'hex') THEN -42
      WHEN "policy_engine_hash_1" < DECODE('0d1e7d6a2538c470', 'hex') THEN -41
      WHEN "policy_engine_hash_1" < DECODE('0e4c82bbfa4e4660', 'hex') THEN -40
      WHEN "policy_engine_hash_1" < DECODE('0f869b14c9cfe970', 'hex') THEN -39
      WHEN "policy_engine_hash_1" < DECODE('10cd4207a6821eb0', 'hex') THEN -38
      WHEN "policy_engine_hash_1" < DECODE('1220f8185bdb6440', 'hex') THEN -37
      WHEN "policy_engine_hash_1" IS NOT NULL THEN -36
    END
      WHEN "policy_engine_hash_1" < DECODE('24bd0fc07cf54450', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('14f1ad877df41cd0', 'hex') THEN -35
      WHEN "policy_engine_hash_1" < DECODE('166fc8725b1d0290', 'hex') THEN -34
      WHEN "policy_engine_hash_1" < DECODE('17fd2a03803c1a10', 'hex') THEN -33
      WHEN "policy_engine_hash_1" < DECODE('199a6e92699cd140', 'hex') THEN -32
      WHEN "policy_engine_hash_1" < DECODE('1b4838b6a751b160', 'hex') THEN -31
      WHEN "policy_engine_hash_1" < DECODE('1d073187d52c0020', 'hex') THEN -30
      WHEN "policy_engine_hash_1" < DECODE('1ed808e02162fa10', 'hex') THEN -29
      WHEN "policy_engine_hash_1" < DECODE('20bb75a17c170590', 'hex') THEN -28
      WHEN "policy_engine_hash_1" < DECODE('22b235fd8ae91d30', 'hex') THEN -27
      WHEN "policy_engine_hash_1" IS NOT NULL THEN -26
    END
      WHEN "policy_engine_hash_1" < DECODE('3e3cc55ad0be7bd0', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('26dcd09edca09000', 'hex') THEN -25
      WHEN "policy_engine_hash_1" < DECODE('29124e867dd89be0', 'hex') THEN -24
      WHEN "policy_engine_hash_1" < DECODE('2b5e67f2a89b9990', 'hex') THEN -23
      WHEN "policy_engine_hash_1" < DECODE('2dc20443a0e609c0', 'hex') THEN -22
      WHEN "policy_engine_hash_1" < DECODE('303e1419ae761380', 'hex') THEN -21
      WHEN "policy_engine_hash_1" < DECODE('32d391b3c834e0d0', 'hex') THEN -20
      WHEN "policy_engine_hash_1" < DECODE('358381520884f2f0', 'hex') THEN -19
      WHEN "policy_engine_hash_1" < DECODE('384ef19c11319060', 'hex') THEN -18
      WHEN "policy_engine_hash_1" < DECODE('3b36fc0b8747dde0', 'hex') THEN -17
      WHEN "policy_engine_hash_1" IS NOT NULL THEN -16
    END
      WHEN "policy_engine_hash_1" < DECODE('63f95fcc00029e00', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('41617df83f7d4400', 'hex') THEN -15
      WHEN "policy_engine_hash_1" < DECODE('44a6627dd714ac20', 'hex') THEN -14
      WHEN "policy_engine_hash_1" < DECODE('480cbc2ddc440b40', 'hex') THEN -13
      WHEN "policy_engine_hash_1" < DECODE('4b95e1745f504690', 'hex') THEN -12
      WHEN "policy_engine_hash_1" < DECODE('4f43366df421f6a0', 'hex') THEN -11
      WHEN "policy_engine_hash_1" < DECODE('53162d73cd2baf90', 'hex') THEN -10
      WHEN "policy_engine_hash_1" < DECODE('571047ad70378b90', 'hex') THEN -9
      WHEN "policy_engine_hash_1" < DECODE('5b3315a83e6f3b10', 'hex') THEN -8
      WHEN "policy_engine_hash_1" < DECODE('5f8037f50b3c8fd0', 'hex') THEN -7
      WHEN "policy_engine_hash_1" IS NOT NULL THEN -6
    END
      WHEN "policy_engine_hash_1" < DECODE('975fb048f2d5e660', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('68a04fb70d2a19a0', 'hex') THEN -5
      WHEN "policy_engine_hash_1" < DECODE('6d76dc432b8f7f60', 'hex') THEN -4
      WHEN "policy_engine_hash_1" < DECODE('727eecb8b40fe3a0', 'hex') THEN -3
      WHEN "policy_engine_hash_1" < DECODE('77ba7bdb15bafb90', 'hex') THEN -2
      WHEN "policy_engine_hash_1" < DECODE('7d2b98b0361739c0', 'hex') THEN -1
      WHEN "policy_engine_hash_1" < DECODE('82d4674fc9e8c640', 'hex') THEN 0
      WHEN "policy_engine_hash_1" < DECODE('88458424ea450470', 'hex') THEN 1
      WHEN "policy_engine_hash_1" < DECODE('8d8113474bf01c60', 'hex') THEN 2
      WHEN "policy_engine_hash_1" < DECODE('928923bcd47080a0', 'hex') THEN 3
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 4
    END
      WHEN "policy_engine_hash_1" < DECODE('be9e8207c082bc00', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('9c06a033fffd6200', 'hex') THEN 5
      WHEN "policy_engine_hash_1" < DECODE('a07fc80af4c37030', 'hex') THEN 6
      WHEN "policy_engine_hash_1" < DECODE('a4ccea57c190c4f0', 'hex') THEN 7
      WHEN "policy_engine_hash_1" < DECODE('a8efb8528fc87470', 'hex') THEN 8
      WHEN "policy_engine_hash_1" < DECODE('ace9d28c32d45070', 'hex') THEN 9
      WHEN "policy_engine_hash_1" < DECODE('b0bcc9920bde0960', 'hex') THEN 10
      WHEN "policy_engine_hash_1" < DECODE('b46a1e8ba0afb970', 'hex') THEN 11
      WHEN "policy_engine_hash_1" < DECODE('b7f343d223bbf4c0', 'hex') THEN 12
      WHEN "policy_engine_hash_1" < DECODE('bb599d8228eb53e0', 'hex') THEN 13
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 14
    END
      WHEN "policy_engine_hash_1" < DECODE('d9232f61235f7000', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('c1c33aa52f418430', 'hex') THEN 15
      WHEN "policy_engine_hash_1" < DECODE('c4c903f478b82220', 'hex') THEN 16
      WHEN "policy_engine_hash_1" < DECODE('c7b10e63eece6fa0', 'hex') THEN 17
      WHEN "policy_engine_hash_1" < DECODE('ca7c7eadf77b0d10', 'hex') THEN 18
      WHEN "policy_engine_hash_1" < DECODE('cd2c6e4c37cb1f30', 'hex') THEN 19
      WHEN "policy_engine_hash_1" < DECODE('cfc1ebe65189ec80', 'hex') THEN 20
      WHEN "policy_engine_hash_1" < DECODE('d23dfbbc5f19f640', 'hex') THEN 21
      WHEN "policy_engine_hash_1" < DECODE('d4a1980d57646670', 'hex') THEN 22
      WHEN "policy_engine_hash_1" < DECODE('d6edb17982276420', 'hex') THEN 23
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 24
    END
      WHEN "policy_engine_hash_1" < DECODE('eb0e5278820be330', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('db42f03f830abbb0', 'hex') THEN 25
      WHEN "policy_engine_hash_1" < DECODE('dd4dca027516e2d0', 'hex') THEN 26
      WHEN "policy_engine_hash_1" < DECODE('df448a5e83e8fa70', 'hex') THEN 27
      WHEN "policy_engine_hash_1" < DECODE('e127f71fde9d05f0', 'hex') THEN 28
      WHEN "policy_engine_hash_1" < DECODE('e2f8ce782ad3ffe0', 'hex') THEN 29
      WHEN "policy_engine_hash_1" < DECODE('e4b7c74958ae4ea0', 'hex') THEN 30
      WHEN "policy_engine_hash_1" < DECODE('e665916d96632ec0', 'hex') THEN 31
      WHEN "policy_engine_hash_1" < DECODE('e802d5fc7fc3e5f0', 'hex') THEN 32
      WHEN "policy_engine_hash_1" < DECODE('e990378da4e2fd70', 'hex') THEN 33
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 34
    END
      WHEN "policy_engine_hash_1" < DECODE('f729de9a76861510', 'hex') THEN CASE
      WHEN "policy_engine_hash_1" < DECODE('ec7dbd120235bee0', 'hex') THEN 35
      WHEN "policy_engine_hash_1" < DECODE('eddf07e7a4249bc0', 'hex') THEN 36
      WHEN "policy_engine_hash_1" < DECODE('ef32bdf8597de150', 'hex') THEN 37
      WHEN "policy_engine_hash_1" < DECODE('f07964eb36301690', 'hex') THEN 38
      WHEN "policy_engine_hash_1" < DECODE('f1b37d4405b1b9a0', 'hex') THEN 39
      WHEN "policy_engine_hash_1" < DECODE('f2e18295dac73b90', 'hex') THEN 40
      WHEN "policy_engine_hash_1" < DECODE('f403ebb3adb498a0', 'hex') THEN 41
      WHEN "policy_engine_hash_1" < DECODE('f51b2adf1bfb42b0', 'hex') THEN 42
      WHEN "policy_engine_hash_1" < DECODE('f627adf55c08d6c0', 'hex') THEN 43
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 44
    END
      ELSE CASE
      WHEN "policy_engine_hash_1" < DECODE('f8222262d64789f0', 'hex') THEN 45
      WHEN "policy_engine_hash_1" < DECODE('f910dafb3f39f9b0', 'hex') THEN 46
      WHEN "policy_engine_hash_1" < DECODE('f9f6664f3c03b770', 'hex') THEN 47
      WHEN "policy_engine_hash_1" < DECODE('fad31eae11795260', 'hex') THEN 48
      WHEN "policy_engine_hash_1" < DECODE('fba75aee466f3c50', 'hex') THEN 49
      WHEN "policy_engine_hash_1" < DECODE('fc736e8fcde2fbb0', 'hex') THEN 50
      WHEN "policy_engine_hash_1" < DECODE('fd37a9dce0ece990', 'hex') THEN 51
      WHEN "policy_engine_hash_1" < DECODE('fdf45a0995673610', 'hex') THEN 52
      WHEN "policy_engine_hash_1" < DECODE('fea9c9523db7bb30', 'hex') THEN 53
      WHEN "policy_engine_hash_1" < DECODE('ff583f189dafd9b0', 'hex') THEN 54
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 55
    END
    END ELSE CASE
      WHEN "policy_engine_hash_1" < DECODE('016ee08c120aee60', 'hex') THEN -17
      WHEN "policy_engine_hash_1" < DECODE('031d69548aa781f0', 'hex') THEN -16
      WHEN "policy_engine_hash_1" < DECODE('0516a5ec6184b740', 'hex') THEN -15
      WHEN "policy_engine_hash_1" < DECODE('07678c83f4b342b0', 'hex') THEN -14
      WHEN "policy_engine_hash_1" < DECODE('0a1f53098c4bd6f0', 'hex') THEN -13
      WHEN "policy_engine_hash_1" < DECODE('0d4fd30f1b0b7be0', 'hex') THEN -12
      WHEN "policy_engine_hash_1" < DECODE('110dff0551e4e660', 'hex') THEN -11
      WHEN "policy_engine_hash_1" < DECODE('15726bcdf30f8530', 'hex') THEN -10
      WHEN "policy_engine_hash_1" < DECODE('1a99f22ce832cf90', 'hex') THEN -9
      WHEN "policy_engine_hash_1" < DECODE('20a66c3c644bfa00', 'hex') THEN -8
      WHEN "policy_engine_hash_1" < DECODE('27bf93c0526ebfa0', 'hex') THEN -7
      WHEN "policy_engine_hash_1" < DECODE('3014070d36c61f90', 'hex') THEN -6
      WHEN "policy_engine_hash_1" < DECODE('39da7b3401234130', 'hex') THEN -5
      WHEN "policy_engine_hash_1" < DECODE('4553234d9fdf8120', 'hex') THEN -4
      WHEN "policy_engine_hash_1" < DECODE('52c9561e077814d0', 'hex') THEN -3
      WHEN "policy_engine_hash_1" < DECODE('62957cdfd27f90b0', 'hex') THEN -2
      WHEN "policy_engine_hash_1" < DECODE('751f57ea174b8f70', 'hex') THEN -1
      WHEN "policy_engine_hash_1" < DECODE('8ae0a815e8b47090', 'hex') THEN 0
      WHEN "policy_engine_hash_1" < DECODE('9d6a83202d806f50', 'hex') THEN 1
      WHEN "policy_engine_hash_1" < DECODE('ad36a9e1f887eb30', 'hex') THEN 2
      WHEN "policy_engine_hash_1" < DECODE('baacdcb260207ee0', 'hex') THEN 3
      WHEN "policy_engine_hash_1" < DECODE('c62584cbfedcbed0', 'hex') THEN 4
      WHEN "policy_engine_hash_1" < DECODE('cfebf8f2c939e070', 'hex') THEN 5
      WHEN "policy_engine_hash_1" < DECODE('d8406c3fad914060', 'hex') THEN 6
      WHEN "policy_engine_hash_1" < DECODE('df5993c39bb40600', 'hex') THEN 7
      WHEN "policy_engine_hash_1" < DECODE('e5660dd317cd3070', 'hex') THEN 8
      WHEN "policy_engine_hash_1" < DECODE('ea8d94320cf07ad0', 'hex') THEN 9
      WHEN "policy_engine_hash_1" < DECODE('eef200faae1b19a0', 'hex') THEN 10
      WHEN "policy_engine_hash_1" < DECODE('f2b02cf0e4f48420', 'hex') THEN 11
      WHEN "policy_engine_hash_1" < DECODE('f5e0acf673b42910', 'hex') THEN 12
      WHEN "policy_engine_hash_1" < DECODE('f898737c0b4cbd50', 'hex') THEN 13
      WHEN "policy_engine_hash_1" < DECODE('fae95a139e7b48c0', 'hex') THEN 14
      WHEN "policy_engine_hash_1" < DECODE('fce296ab75587e10', 'hex') THEN 15
      WHEN "policy_engine_hash_1" < DECODE('fe911f73edf511a0', 'hex') THEN 16
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 17
    END END AS "policy_engine_total_1"
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS "grouping", "age", "born", policy_engine_n AS "n",
  "policy_engine_total_1" AS "years"
FROM noised
WHERE policy_engine_n >= CASE WHEN policy_engine_grouping = 2 THEN 6 ELSE 3 END
ORDER BY policy_engine_grouping, "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
