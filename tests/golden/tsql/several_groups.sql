-- policy: golden
-- digest: sha256:014d98ce3fef54516a9f77b9be695fbeedc5a01d6392299500af0013cfc4ec90
WITH people AS (
  SELECT [age], [born], [income], [person]
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
      WHEN [income] IS NULL THEN 0
      WHEN CAST([income] AS FLOAT(53)) <= -10000000000 THEN -1000000000
      WHEN CAST([income] AS FLOAT(53)) >= 10000000000 THEN 1000000000
      WHEN ABS(CAST([income] AS FLOAT(53))) < 1 THEN 0
      ELSE CAST(FLOOR(ABS(CAST([income] AS FLOAT(53))) / 10) + CASE WHEN ABS(CAST([income] AS FLOAT(53))) / 10 - FLOOR(ABS(CAST([income] AS FLOAT(53))) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST([income] AS FLOAT(53)) < 0 THEN -1 ELSE 1 END
    END AS [policy_engine_value_1],
    CASE
      WHEN [age] IS NULL THEN 0
      WHEN [age] <= -1000000000 THEN -1000000000
      WHEN [age] >= 1000000000 THEN 1000000000
      ELSE CAST([age] AS BIGINT)
    END AS [policy_engine_value_2],
    [person] AS policy_engine_unit
  FROM people
), placed AS (
  SELECT [age], [born], policy_engine_unit,
    CASE WHEN SUM([policy_engine_value_1]) <= 0 THEN 0 WHEN SUM([policy_engine_value_1]) >= 4 THEN 4 ELSE CAST(SUM([policy_engine_value_1]) AS BIGINT) END AS [policy_engine_value_1],
    CASE WHEN SUM([policy_engine_value_2]) <= 0 THEN 0 WHEN SUM([policy_engine_value_2]) >= 100 THEN 100 ELSE CAST(SUM([policy_engine_value_2]) AS BIGINT) END AS [policy_engine_value_2],
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS policy_engine_place
  FROM recoded
  GROUP BY [age], [born], policy_engine_unit
), chosen AS (
  SELECT [age], [born], [policy_engine_value_1], [policy_engine_value_2],
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':o:' + LOWER(CAST(policy_engine_unit AS VARCHAR(40))) + ':' + CAST(policy_engine_place AS VARCHAR(20))), policy_engine_place) AS policy_engine_rank
  FROM placed
), grouped AS (
  SELECT [age], [born], COUNT_BIG(*) AS policy_engine_people,
    CAST(SUM([policy_engine_value_1]) AS BIGINT) - 2 * COUNT_BIG(*) AS [policy_engine_total_1],
    CAST(SUM([policy_engine_value_2]) AS BIGINT) AS [policy_engine_total_2]
  FROM chosen
  WHERE policy_engine_rank <= 2
  GROUP BY [age], [born]
), drawn AS (
  SELECT [age], [born], policy_engine_people, [policy_engine_total_1], [policy_engine_total_2],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:0:1cd7e383777c858ef1bbaaa08d86eda4b06d9c01f0222900038eea95726b2ed1:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS policy_engine_hash,
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:1:1cd7e383777c858ef1bbaaa08d86eda4b06d9c01f0222900038eea95726b2ed1:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_1],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:2:1cd7e383777c858ef1bbaaa08d86eda4b06d9c01f0222900038eea95726b2ed1:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_2]
  FROM grouped
), noised AS (
  SELECT [age], [born], policy_engine_people + CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '184bbbcdf6eb4fc0', 2) THEN -3
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '3895405c8a75c400', 2) THEN -2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '637d730249fe2c80', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '9c828cfdb601d380', 2) THEN 0
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'c76abfa3758a3c00', 2) THEN 1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'e7b444320914b040', 2) THEN 2
      ELSE 3
    END AS policy_engine_n,
    [policy_engine_total_1] + CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0364b879fc9d1190', 2) THEN -20
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '06fc2f4664df2930', 2) THEN -19
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0ac95b2ea13a68c0', 2) THEN -18
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0ecf5f4e8a273df0', 2) THEN -17
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '13118dab2be401f0', 2) THEN -16
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '179369f040cb7b40', 2) THEN -15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1c58ac56a5251750', 2) THEN -14
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '216544b629241fe0', 2) THEN -13
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '26bd5dc549954060', 2) THEN -12
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2c6560897d9aebf0', 2) THEN -11
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3261f7faeff0e0e0', 2) THEN -10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '38b814dea49e35b0', 2) THEN -9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3f6cf1da38e71560', 2) THEN -8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '468617c49ad8a500', 2) THEN -7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '4e0962374819b350', 2) THEN -6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '55fd0463d8eb5780', 2) THEN -5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '5e678e31d4a170f0', 2) THEN -4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '674ff1a908829990', 2) THEN -3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '70bd88acd922c450', 2) THEN -2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '7ab81b0d491f8fe0', 2) THEN -1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '8547e4f2b6e07020', 2) THEN 0
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '8f42775326dd3bb0', 2) THEN 1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '98b00e56f77d6670', 2) THEN 2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a19871ce2b5e8f10', 2) THEN 3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'aa02fb9c2714a880', 2) THEN 4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b1f69dc8b7e64cb0', 2) THEN 5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b979e83b65275b00', 2) THEN 6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c0930e25c718eaa0', 2) THEN 7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c747eb215b61ca50', 2) THEN 8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'cd9e0805100f1f20', 2) THEN 9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd39a9f7682651410', 2) THEN 10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd942a23ab66abfa0', 2) THEN 11
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'de9abb49d6dbe020', 2) THEN 12
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e3a753a95adae8b0', 2) THEN 13
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e86c960fbf3484c0', 2) THEN 14
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ecee7254d41bfe10', 2) THEN 15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f130a0b175d8c210', 2) THEN 16
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f536a4d15ec59740', 2) THEN 17
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f903d0b99b20d6d0', 2) THEN 18
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fc9b47860362ee70', 2) THEN 19
      ELSE 20
    END AS [policy_engine_total_1],
    [policy_engine_total_2] - [policy_engine_total_2] % 10 + CAST(10 AS BIGINT) * CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '048e9804ea488020', 2) THEN -24
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '092a822c7dae0a30', 2) THEN -23
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '0dd3e5671582cfc0', 2) THEN -22
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '128ae916e0281080', 2) THEN -21
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '174fb5112bc81b70', 2) THEN -20
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '1c22719fb6dced50', 2) THEN -19
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '21034782048e8620', 2) THEN -18
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '25f25feeb4f43250', 2) THEN -17
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '2aefe494e1442330', 2) THEN -16
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '2ffbff9d7bfcd4f0', 2) THEN -15
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '3516dbacb513e0d0', 2) THEN -14
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '3a40a3e36235fce0', 2) THEN -13
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '3f7983e06b240d20', 2) THEN -12
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '44c1a7c23a394bc0', 2) THEN -11
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '4a193c283126b250', 2) THEN -10
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '4f806e3421eff0b0', 2) THEN -9
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '54f76b8bcc3662b0', 2) THEN -8
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '5a7e625a5ede99e0', 2) THEN -7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '60158151fe1d3560', 2) THEN -6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '65bcf7ad4df7e720', 2) THEN -5
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '6b74f5310147ab50', 2) THEN -4
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '713daa2d6d495d80', 2) THEN -3
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '7717478021c9fc00', 2) THEN -2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '7d01fe9585fc12c0', 2) THEN -1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '82fe016a7a03ed40', 2) THEN 0
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '88e8b87fde360400', 2) THEN 1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '8ec255d292b6a280', 2) THEN 2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '948b0acefeb854b0', 2) THEN 3
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '9a430852b20818e0', 2) THEN 4
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '9fea7eae01e2caa0', 2) THEN 5
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'a5819da5a1216620', 2) THEN 6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'ab08947433c99d50', 2) THEN 7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'b07f91cbde100f50', 2) THEN 8
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'b5e6c3d7ced94db0', 2) THEN 9
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'bb3e583dc5c6b440', 2) THEN 10
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'c0867c1f94dbf2e0', 2) THEN 11
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'c5bf5c1c9dca0320', 2) THEN 12
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'cae924534aec1f30', 2) THEN 13
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'd004006284032b10', 2) THEN 14
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'd5101b6b1ebbdcd0', 2) THEN 15
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'da0da0114b0bcdb0', 2) THEN 16
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'defcb87dfb7179e0', 2) THEN 17
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'e3dd8e60492312b0', 2) THEN 18
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'e8b04aeed437e490', 2) THEN 19
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'ed7516e91fd7ef80', 2) THEN 20
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f22c1a98ea7d3040', 2) THEN 21
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f6d57dd38251f5d0', 2) THEN 22
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'fb7167fb15b77fe0', 2) THEN 23
      ELSE 24
    END AS [policy_engine_total_2]
  FROM drawn
), bounded AS (
  SELECT [age], [born], policy_engine_n, CASE WHEN policy_engine_n < 1 THEN 1 ELSE policy_engine_n END AS policy_engine_divisor,
    CASE WHEN [policy_engine_total_1] + 2 * policy_engine_n < 0 THEN 0 WHEN [policy_engine_total_1] + 2 * policy_engine_n > 4 * policy_engine_n THEN 4 * policy_engine_n ELSE [policy_engine_total_1] + 2 * policy_engine_n END AS [policy_engine_total_1],
    [policy_engine_total_2]
  FROM noised
)
SELECT [age], [born], policy_engine_n AS [n],
  (2 * [policy_engine_total_1] + policy_engine_divisor) / (2 * policy_engine_divisor) * 10 AS [pay],
  [policy_engine_total_2] AS [years]
FROM bounded
WHERE policy_engine_n >= 4
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
