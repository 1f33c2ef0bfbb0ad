-- policy: golden
-- digest: sha256:dce054ab8c40e91480b7c9ce629a69aeb07bb4c7b1ea984ae32c7a6cd2f3d4e9
WITH people AS (
  SELECT [age], [born],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS policy_engine_rank
  FROM [main].[people]
  WHERE [person] IS NOT NULL
), recoded AS (
  SELECT
    CASE
      WHEN [age] IS NULL THEN NULL
      WHEN [age] < 18 THEN '<18' COLLATE Latin1_General_100_BIN2
      ELSE '>=18' COLLATE Latin1_General_100_BIN2
    END AS [age],
    CASE
      WHEN [born] IS NULL THEN NULL
      WHEN [born] < CAST('1970-01-01' AS DATE) THEN '<1970-01-01' COLLATE Latin1_General_100_BIN2
      ELSE '>=1970-01-01' COLLATE Latin1_General_100_BIN2
    END AS [born],
    CASE
      WHEN [age] IS NULL THEN NULL
      WHEN [age] <= 0 THEN 0
      WHEN [age] >= 10 THEN 10
      ELSE CAST([age] AS BIGINT)
    END AS [policy_engine_value_1]
  FROM people
  WHERE policy_engine_rank = 1
), fine AS (
  SELECT [age], [born], COUNT_BIG(*) AS policy_engine_count, CAST(SUM([policy_engine_value_1]) AS BIGINT) AS [policy_engine_value_1], COUNT([policy_engine_value_1]) AS [policy_engine_many_1]
  FROM recoded
  GROUP BY [age], [born]
), spread AS (
  SELECT policy_engine_grouping, policy_engine_count, [policy_engine_value_1], [policy_engine_many_1],
    CASE WHEN policy_engine_grouping IN (1, 2) THEN [age] END AS [age],
    CASE WHEN policy_engine_grouping IN (1) THEN [born] END AS [born]
  FROM fine
  CROSS JOIN (SELECT 1 AS policy_engine_grouping UNION ALL SELECT 2) AS policy_engine_groupings
), grouped AS (
  SELECT policy_engine_grouping, [age], [born], CAST(SUM(policy_engine_count) AS BIGINT) AS policy_engine_people,
    COALESCE(CAST(SUM([policy_engine_value_1]) AS BIGINT), 0) AS [policy_engine_total_1]
  FROM spread
  GROUP BY policy_engine_grouping, [age], [born]
), drawn AS (
  SELECT policy_engine_grouping, [age], [born], policy_engine_people, [policy_engine_total_1],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:0:79de939000400820bb508fa9e16e28b79ce18d437cdf224997d83c3880e57bd4:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS policy_engine_hash,
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:1:79de939000400820bb508fa9e16e28b79ce18d437cdf224997d83c3880e57bd4:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_1]
  FROM grouped
), noised AS (
  SELECT policy_engine_grouping, [age], [born], policy_engine_people + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '07abea24d20712b0', 2) THEN -5
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '131dbb20854e4ff0', 2) THEN -4
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '243080dafd0eb650', 2) THEN -3
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '3da8edf50f470dd0', 2) THEN -2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '63a843284c207df0', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '9c57bcd7b3df8210', 2) THEN 0
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'c257120af0b8f230', 2) THEN 1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'dbcf7f2502f149b0', 2) THEN 2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ece244df7ab1b010', 2) THEN 3
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'f85415db2df8ed50', 2) THEN 4
      WHEN policy_engine_hash IS NOT NULL THEN 5
    END ELSE CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '07068856842f7190', 2) THEN -2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '29d2b903486a5830', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'd62d46fcb795a7d0', 2) THEN 0
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'f8f977a97bd08e70', 2) THEN 1
      WHEN policy_engine_hash IS NOT NULL THEN 2
    END END AS policy_engine_n,
    [policy_engine_total_1] + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '07dddd9d29b87610', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '00a7c0e762502650', 2) THEN -55
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '015636adc24844d0', 2) THEN -54
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '020ba5f66a98c9f0', 2) THEN -53
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '02c856231f131670', 2) THEN -52
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '038c9170321d0450', 2) THEN -51
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0458a511b990c3b0', 2) THEN -50
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '052ce151ee86ada0', 2) THEN -49
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '060999b0c3fc4890', 2) THEN -48
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '06ef2504c0c60650', 2) THEN -47
      WHEN [policy_engine_hash_1] IS NOT NULL THEN -46
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '138242edfdca4120', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '08d621658979eaf0', 2) THEN -45
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '09d8520aa3f72940', 2) THEN -44
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0ae4d520e404bd50', 2) THEN -43
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0bfc144c524b6760', 2) THEN -42
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0d1e7d6a2538c470', 2) THEN -41
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0e4c82bbfa4e4660', 2) THEN -40
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0f869b14c9cfe970', 2) THEN -39
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '10cd4207a6821eb0', 2) THEN -38
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1220f8185bdb6440', 2) THEN -37
      WHEN [policy_engine_hash_1] IS NOT NULL THEN -36
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '24bd0fc07cf54450', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '14f1ad877df41cd0', 2) THEN -35
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '166fc8725b1d0290', 2) THEN -34
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '17fd2a03803c1a10', 2) THEN -33
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '199a6e92699cd140', 2) THEN -32
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1b4838b6a751b160', 2) THEN -31
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1d073187d52c0020', 2) THEN -30
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1ed808e02162fa10', 2) THEN -29
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '20bb75a17c170590', 2) THEN -28
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '22b235fd8ae91d30', 2) THEN -27
      WHEN [policy_engine_hash_1] IS NOT NULL THEN -26
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3e3cc55ad0be7bd0', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '26dcd09edca09000', 2) THEN -25
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '29124e867dd89be0', 2) THEN -24
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2b5e67f2a89b9990', 2) THEN -23
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2dc20443a0e609c0', 2) THEN -22
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '303e1419ae761380', 2) THEN -21
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '32d391b3c834e0d0', 2) THEN -20
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '358381520884f2f0', 2) THEN -19
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '384ef19c11319060', 2) THEN -18
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3b36fc0b8747dde0', 2) THEN -17
      WHEN [policy_engine_hash_1] IS NOT NULL THEN -16
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '63f95fcc00029e00', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '41617df83f7d4400', 2) THEN -15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '44a6627dd714ac20', 2) THEN -14
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '480cbc2ddc440b40', 2) THEN -13
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '4b95e1745f504690', 2) THEN -12
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '4f43366df421f6a0', 2) THEN -11
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '53162d73cd2baf90', 2) THEN -10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '571047ad70378b90', 2) THEN -9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '5b3315a83e6f3b10', 2) THEN -8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '5f8037f50b3c8fd0', 2) THEN -7
      WHEN [policy_engine_hash_1] IS NOT NULL THEN -6
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '975fb048f2d5e660', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '68a04fb70d2a19a0', 2) THEN -5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '6d76dc432b8f7f60', 2) THEN -4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '727eecb8b40fe3a0', 2) THEN -3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '77ba7bdb15bafb90', 2) THEN -2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '7d2b98b0361739c0', 2) THEN -1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '82d4674fc9e8c640', 2) THEN 0
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '88458424ea450470', 2) THEN 1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '8d8113474bf01c60', 2) THEN 2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '928923bcd47080a0', 2) THEN 3
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 4
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'be9e8207c082bc00', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '9c06a033fffd6200', 2) THEN 5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a07fc80af4c37030', 2) THEN 6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a4ccea57c190c4f0', 2) THEN 7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a8efb8528fc87470', 2) THEN 8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ace9d28c32d45070', 2) THEN 9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b0bcc9920bde0960', 2) THEN 10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b46a1e8ba0afb970', 2) THEN 11
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b7f343d223bbf4c0', 2) THEN 12
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'bb599d8228eb53e0', 2) THEN 13
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 14
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd9232f61235f7000', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c1c33aa52f418430', 2) THEN 15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c4c903f478b82220', 2) THEN 16
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c7b10e63eece6fa0', 2) THEN 17
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ca7c7eadf77b0d10', 2) THEN 18
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'cd2c6e4c37cb1f30', 2) THEN 19
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'cfc1ebe65189ec80', 2) THEN 20
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd23dfbbc5f19f640', 2) THEN 21
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd4a1980d57646670', 2) THEN 22
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd6edb17982276420', 2) THEN 23
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 24
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'eb0e5278820be330', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'db42f03f830abbb0', 2) THEN 25
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'dd4dca027516e2d0', 2) THEN 26
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'df448a5e83e8fa70', 2) THEN 27
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e127f71fde9d05f0', 2) THEN 28
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e2f8ce782ad3ffe0', 2) THEN 29
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e4b7c74958ae4ea0', 2) THEN 30
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e665916d96632ec0', 2) THEN 31
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e802d5fc7fc3e5f0', 2) THEN 32
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e990378da4e2fd70', 2) THEN 33
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 34
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f729de9a76861510', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ec7dbd120235bee0', 2) THEN 35
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'eddf07e7a4249bc0', 2) THEN 36
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ef32bdf8597de150', 2) THEN 37
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f07964eb36301690', 2) THEN 38
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f1b37d4405b1b9a0', 2) THEN 39
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f2e18295dac73b90', 2) THEN 40
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f403ebb3adb498a0', 2) THEN 41
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f51b2adf1bfb42b0', 2) THEN 42
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f627adf55c08d6c0', 2) THEN 43
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 44
    END
      ELSE CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f8222262d64789f0', 2) THEN 45
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f910dafb3f39f9b0', 2) THEN 46
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f9f6664f3c03b770', 2) THEN 47
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fad31eae11795260', 2) THEN 48
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fba75aee466f3c50', 2) THEN 49
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fc736e8fcde2fbb0', 2) THEN 50
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fd37a9dce0ece990', 2) THEN 51
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fdf45a0995673610', 2) THEN 52
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fea9c9523db7bb30', 2) THEN 53
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ff583f189dafd9b0', 2) THEN 54
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 55
    END
    END ELSE CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '016ee08c120aee60', 2) THEN -17
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '031d69548aa781f0', 2) THEN -16
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0516a5ec6184b740', 2) THEN -15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '07678c83f4b342b0', 2) THEN -14
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0a1f53098c4bd6f0', 2) THEN -13
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0d4fd30f1b0b7be0', 2) THEN -12
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '110dff0551e4e660', 2) THEN -11
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '15726bcdf30f8530', 2) THEN -10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1a99f22ce832cf90', 2) THEN -9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '20a66c3c644bfa00', 2) THEN -8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '27bf93c0526ebfa0', 2) THEN -7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3014070d36c61f90', 2) THEN -6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '39da7b3401234130', 2) THEN -5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '4553234d9fdf8120', 2) THEN -4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '52c9561e077814d0', 2) THEN -3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '62957cdfd27f90b0', 2) THEN -2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '751f57ea174b8f70', 2) THEN -1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '8ae0a815e8b47090', 2) THEN 0
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '9d6a83202d806f50', 2) THEN 1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ad36a9e1f887eb30', 2) THEN 2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'baacdcb260207ee0', 2) THEN 3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c62584cbfedcbed0', 2) THEN 4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'cfebf8f2c939e070', 2) THEN 5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd8406c3fad914060', 2) THEN 6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'df5993c39bb40600', 2) THEN 7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e5660dd317cd3070', 2) THEN 8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ea8d94320cf07ad0', 2) THEN 9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'eef200faae1b19a0', 2) THEN 10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f2b02cf0e4f48420', 2) THEN 11
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f5e0acf673b42910', 2) THEN 12
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f898737c0b4cbd50', 2) THEN 13
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fae95a139e7b48c0', 2) THEN 14
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fce296ab75587e10', 2) THEN 15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fe911f73edf511a0', 2) THEN 16
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 17
    END END AS [policy_engine_total_1]
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS [grouping], [age], [born], policy_engine_n AS [n],
  [policy_engine_total_1] AS [years]
FROM noised
WHERE policy_engine_n >= CASE WHEN policy_engine_grouping = 2 THEN 6 ELSE 3 END
ORDER BY policy_engine_grouping, CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
