-- policy: golden
-- digest: sha256:040d23dbabbf648221e33b5d4f4709577fe83da1db25c2f5ed95f1186158aa18
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
      WHEN [income] IS NULL THEN NULL
      WHEN CAST([income] AS FLOAT(53)) <= 0 THEN 0
      WHEN CAST([income] AS FLOAT(53)) >= 40 THEN 4
      WHEN ABS(CAST([income] AS FLOAT(53))) < 1 THEN 0
      ELSE CAST(FLOOR(ABS(CAST([income] AS FLOAT(53))) / 10) + CASE WHEN ABS(CAST([income] AS FLOAT(53))) / 10 - FLOOR(ABS(CAST([income] AS FLOAT(53))) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST([income] AS FLOAT(53)) < 0 THEN -1 ELSE 1 END
    END AS [policy_engine_value_2],
    CASE
      WHEN [income] IS NULL THEN 2
      WHEN CAST([income] AS FLOAT(53)) < 0 OR CAST([income] AS FLOAT(53)) > 40 THEN 1
      ELSE 0
    END AS [policy_engine_bent_2],
    CASE
      WHEN [age] IS NULL THEN NULL
      WHEN [age] <= -1000000000 THEN -1000000000
      WHEN [age] >= 1000000000 THEN 1000000000
      ELSE CAST([age] AS BIGINT)
    END AS [policy_engine_value_3],
    CASE
      WHEN [age] IS NULL THEN 2
      ELSE 0
    END AS [policy_engine_bent_3],
    [person] AS policy_engine_unit
  FROM people
), gathered AS (
  SELECT [age], [born], policy_engine_unit, COUNT_BIG(*) AS policy_engine_rows,
CAST(SUM([policy_engine_value_2]) AS BIGINT) AS [policy_engine_value_2], COUNT([policy_engine_value_2]) AS [policy_engine_many_2],
CASE WHEN SUM([policy_engine_value_3]) <= 0 * COUNT([policy_engine_value_3]) THEN 0 WHEN SUM([policy_engine_value_3]) >= 100 * COUNT([policy_engine_value_3]) THEN 100 ELSE 0 + (2 * (CAST(SUM([policy_engine_value_3]) AS BIGINT) - 0 * COUNT([policy_engine_value_3])) + COUNT([policy_engine_value_3])) / (2 * CASE WHEN COUNT([policy_engine_value_3]) = 0 THEN 1 ELSE COUNT([policy_engine_value_3]) END) END AS [policy_engine_value_3],
    CASE WHEN COUNT_BIG(*) > 3 THEN 3 ELSE COUNT_BIG(*) END AS [policy_engine_many_1],
MAX(CASE WHEN [policy_engine_bent_2] = 1 THEN 1 ELSE 0 END) AS [policy_engine_cut_3],
MAX(CASE WHEN [policy_engine_bent_2] = 2 THEN 1 ELSE 0 END) AS [policy_engine_cut_4],
CASE WHEN SUM([policy_engine_value_3]) < 0 * COUNT([policy_engine_value_3]) OR SUM([policy_engine_value_3]) > 100 * COUNT([policy_engine_value_3]) THEN 1 ELSE 0 END AS [policy_engine_cut_5],
MAX(CASE WHEN [policy_engine_bent_3] = 2 THEN 1 ELSE 0 END) AS [policy_engine_cut_6]

  FROM recoded
  GROUP BY [age], [born], policy_engine_unit
), crowded AS (
  SELECT policy_engine_unit AS policy_engine_many
  FROM gathered
  WHERE policy_engine_rows > 3
  GROUP BY policy_engine_unit
), lined AS (
  SELECT [age], [born], policy_engine_unit, [policy_engine_value_2], [policy_engine_value_3],
    COUNT(*) OVER (PARTITION BY policy_engine_unit, [age], [born]) AS policy_engine_rows,
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, [age], [born] ORDER BY CASE WHEN [policy_engine_value_2] IS NULL THEN 1 ELSE 0 END, [policy_engine_value_2], CASE WHEN [policy_engine_value_3] IS NULL THEN 1 ELSE 0 END, [policy_engine_value_3]) AS policy_engine_place
  FROM recoded JOIN crowded ON policy_engine_many = policy_engine_unit
), ranked AS (
  SELECT [age], [born], policy_engine_unit, [policy_engine_value_2], [policy_engine_value_3],
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit, [age], [born] ORDER BY HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':r:' + LOWER(CAST(policy_engine_unit AS VARCHAR(40))) + ':' + CAST(policy_engine_place AS VARCHAR(20))), policy_engine_place) AS policy_engine_rank
  FROM lined
  WHERE policy_engine_rows > 3
), trimmed AS (
  SELECT [age], [born], policy_engine_unit,
CAST(SUM(CASE WHEN policy_engine_rank <= 3 THEN [policy_engine_value_2] END) AS BIGINT) AS [policy_engine_value_2], COUNT(CASE WHEN policy_engine_rank <= 3 THEN [policy_engine_value_2] END) AS [policy_engine_many_2],
CASE WHEN SUM([policy_engine_value_3]) <= 0 * COUNT([policy_engine_value_3]) THEN 0 WHEN SUM([policy_engine_value_3]) >= 100 * COUNT([policy_engine_value_3]) THEN 100 ELSE 0 + (2 * (CAST(SUM([policy_engine_value_3]) AS BIGINT) - 0 * COUNT([policy_engine_value_3])) + COUNT([policy_engine_value_3])) / (2 * CASE WHEN COUNT([policy_engine_value_3]) = 0 THEN 1 ELSE COUNT([policy_engine_value_3]) END) END AS [policy_engine_value_3],
    CASE WHEN COUNT_BIG(*) > 3 THEN 3 ELSE COUNT_BIG(*) END AS [policy_engine_many_1]

  FROM ranked
  GROUP BY [age], [born], policy_engine_unit
), placed AS (
  SELECT [age], [born], policy_engine_unit, [policy_engine_value_2], [policy_engine_many_2], [policy_engine_value_3], [policy_engine_many_1],
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS policy_engine_place
  FROM (
    SELECT [age], [born], policy_engine_unit, [policy_engine_value_2], [policy_engine_many_2], [policy_engine_value_3], [policy_engine_many_1]
    FROM gathered
    WHERE policy_engine_rows <= 3
    UNION ALL
    SELECT [age], [born], policy_engine_unit, [policy_engine_value_2], [policy_engine_many_2], [policy_engine_value_3], [policy_engine_many_1]
    FROM trimmed
  ) AS policy_engine_given
), chosen AS (
  SELECT [age], [born], [policy_engine_value_2], [policy_engine_many_2], [policy_engine_value_3], [policy_engine_many_1],
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':o:' + LOWER(CAST(policy_engine_unit AS VARCHAR(40))) + ':' + CAST(policy_engine_place AS VARCHAR(20))), policy_engine_place) AS policy_engine_rank
  FROM placed
), grouped AS (
  SELECT [age], [born], COUNT_BIG(*) AS policy_engine_people,
    CAST(SUM([policy_engine_many_1]) AS BIGINT) AS [policy_engine_total_1],
    CAST(SUM([policy_engine_many_2]) AS BIGINT) AS [policy_engine_total_2],
    COALESCE(CAST(SUM([policy_engine_value_2]) AS BIGINT), 0) - 2 * CAST(SUM([policy_engine_many_2]) AS BIGINT) AS [policy_engine_total_3],
    COUNT([policy_engine_value_3]) AS [policy_engine_total_4],
    COALESCE(CAST(SUM([policy_engine_value_3]) AS BIGINT), 0) - 50 * COUNT([policy_engine_value_3]) AS [policy_engine_total_5]
  FROM chosen
  WHERE policy_engine_rank <= 2
  GROUP BY [age], [born]
), drawn AS (
  SELECT [age], [born], policy_engine_people, [policy_engine_total_1], [policy_engine_total_2], [policy_engine_total_3], [policy_engine_total_4], [policy_engine_total_5],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:0:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS policy_engine_hash,
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:1:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_1],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:2:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_2],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:3:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_3],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:4:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_4],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:5:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_5]
  FROM grouped
), noised AS (
  SELECT [age], [born], policy_engine_people + CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '07ce4b49c1171120', 2) THEN -6
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '139cf2e84a335900', 2) THEN -5
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '242dab63027da2f0', 2) THEN -4
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '39bc1067b6b3b830', 2) THEN -3
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '53c09444b4b4f290', 2) THEN -2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '70e0e794f26d7020', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '8f1f186b0d928fe0', 2) THEN 0
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ac3f6bbb4b4b0d70', 2) THEN 1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'c643ef98494c47d0', 2) THEN 2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'dbd2549cfd825d10', 2) THEN 3
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ec630d17b5cca700', 2) THEN 4
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'f831b4b63ee8eee0', 2) THEN 5
      ELSE 6
    END AS policy_engine_n,
    [policy_engine_total_1] + CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '00ad70549ba08c90', 2) THEN -21
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '018fa4a0823f4040', 2) THEN -20
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '02b2de2d14246b60', 2) THEN -19
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0424f9e75e272a50', 2) THEN -18
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '05f547af1d7d15c0', 2) THEN -17
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0834412cc477d0b0', 2) THEN -16
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0af31cf9c7b20d00', 2) THEN -15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0e433d287557ad90', 2) THEN -14
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '12357b2002caf5c0', 2) THEN -13
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '16d956211ec31e10', 2) THEN -12
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1c3c0d58683e4cc0', 2) THEN -11
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2267b1caa620b290', 2) THEN -10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '29623f39b17297d0', 2) THEN -9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '312cccf7336919c0', 2) THEN -8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '39c2e817cc63a530', 2) THEN -7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '431a275e7f56ef90', 2) THEN -6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '4d22066ef674a9a0', 2) THEN -5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '57c411786b512310', 2) THEN -4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '62e464e9315dddf0', 2) THEN -3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '6e627e50d36b9fb0', 2) THEN -2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '7a1a5502e6c99ee0', 2) THEN -1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '85e5aafd19366120', 2) THEN 0
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '919d81af2c946050', 2) THEN 1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '9d1b9b16cea22210', 2) THEN 2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a83bee8794aedcf0', 2) THEN 3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b2ddf991098b5660', 2) THEN 4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'bce5d8a180a91070', 2) THEN 5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c63d17e8339c5ad0', 2) THEN 6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ced33308cc96e640', 2) THEN 7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd69dc0c64e8d6830', 2) THEN 8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'dd984e3559df4d70', 2) THEN 9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e3c3f2a797c1b340', 2) THEN 10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e926a9dee13ce1f0', 2) THEN 11
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'edca84dffd350a40', 2) THEN 12
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f1bcc2d78aa85270', 2) THEN 13
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f50ce306384df300', 2) THEN 14
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f7cbbed33b882f50', 2) THEN 15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fa0ab850e282ea40', 2) THEN 16
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fbdb0618a1d8d5b0', 2) THEN 17
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fd4d21d2ebdb94a0', 2) THEN 18
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fe705b5f7dc0bfc0', 2) THEN 19
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ff528fab645f7370', 2) THEN 20
      ELSE 21
    END AS [policy_engine_total_1],
    [policy_engine_total_2] + CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '00ad70549ba08c90', 2) THEN -21
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '018fa4a0823f4040', 2) THEN -20
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '02b2de2d14246b60', 2) THEN -19
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '0424f9e75e272a50', 2) THEN -18
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '05f547af1d7d15c0', 2) THEN -17
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '0834412cc477d0b0', 2) THEN -16
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '0af31cf9c7b20d00', 2) THEN -15
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '0e433d287557ad90', 2) THEN -14
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '12357b2002caf5c0', 2) THEN -13
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '16d956211ec31e10', 2) THEN -12
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '1c3c0d58683e4cc0', 2) THEN -11
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '2267b1caa620b290', 2) THEN -10
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '29623f39b17297d0', 2) THEN -9
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '312cccf7336919c0', 2) THEN -8
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '39c2e817cc63a530', 2) THEN -7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '431a275e7f56ef90', 2) THEN -6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '4d22066ef674a9a0', 2) THEN -5
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '57c411786b512310', 2) THEN -4
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '62e464e9315dddf0', 2) THEN -3
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '6e627e50d36b9fb0', 2) THEN -2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '7a1a5502e6c99ee0', 2) THEN -1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '85e5aafd19366120', 2) THEN 0
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '919d81af2c946050', 2) THEN 1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '9d1b9b16cea22210', 2) THEN 2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'a83bee8794aedcf0', 2) THEN 3
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'b2ddf991098b5660', 2) THEN 4
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'bce5d8a180a91070', 2) THEN 5
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'c63d17e8339c5ad0', 2) THEN 6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'ced33308cc96e640', 2) THEN 7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'd69dc0c64e8d6830', 2) THEN 8
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'dd984e3559df4d70', 2) THEN 9
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'e3c3f2a797c1b340', 2) THEN 10
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'e926a9dee13ce1f0', 2) THEN 11
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'edca84dffd350a40', 2) THEN 12
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f1bcc2d78aa85270', 2) THEN 13
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f50ce306384df300', 2) THEN 14
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f7cbbed33b882f50', 2) THEN 15
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'fa0ab850e282ea40', 2) THEN 16
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'fbdb0618a1d8d5b0', 2) THEN 17
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'fd4d21d2ebdb94a0', 2) THEN 18
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'fe705b5f7dc0bfc0', 2) THEN 19
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'ff528fab645f7370', 2) THEN 20
      ELSE 21
    END AS [policy_engine_total_2],
    [policy_engine_total_3] + CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '05541558a9a026c0', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '0056d3940980c090', 2) THEN -42
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '00ba2545ced67080', 2) THEN -41
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '012b632c8144dca0', 2) THEN -40
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '01ac1605cd04c940', 2) THEN -39
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '023de0d3b65dbe30', 2) THEN -38
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '02e280105efbe6e0', 2) THEN -37
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '039bc86cf3641bb0', 2) THEN -36
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '046ba511fc6b8220', 2) THEN -35
      ELSE -34
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '13308b5ddd6be6f0', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '065729f66222bcc0', 2) THEN -33
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '0777019601760a60', 2) THEN -32
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '08b5c4dc9a328a50', 2) THEN -31
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '0a15a1da631cd220', 2) THEN -30
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '0b98c6eb8a35d360', 2) THEN -29
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '0d415d0ffff2e850', 2) THEN -28
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '0f1181c4d27a4fa0', 2) THEN -27
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '110b406d51f6a4c0', 2) THEN -26
      ELSE -25
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '2f13af186b7ff100', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '1583349dca327bf0', 2) THEN -24
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '1804e6793cd86d80', 2) THEN -23
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '1ab71bfee5226e00', 2) THEN -22
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '1d9b1988448969e0', 2) THEN -21
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '20b1e56d5be5fea0', 2) THEN -20
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '23fc410638ba6430', 2) THEN -19
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '277aa21dc61af7f0', 2) THEN -18
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '2b2d2cf96d9cfd10', 2) THEN -17
      ELSE -16
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '5a79607bcbe53690', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '332d9acc35566f90', 2) THEN -15
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '377a03c8f09d7f20', 2) THEN -14
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '3bf79cc9ba398cd0', 2) THEN -13
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '40a4b66072b0c460', 2) THEN -12
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '457f3f03f5e9a0d0', 2) THEN -11
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '4a84c46a2f723bd0', 2) THEN -10
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '4fb276357b355cb0', 2) THEN -9
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '550529f658bcec60', 2) THEN -8
      ELSE -7
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '8eb69f9c0ba23eb0', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '600b4c6603ba0050', 2) THEN -6
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '65b6d9e833b95cc0', 2) THEN -5
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '6b77b7a022315110', 2) THEN -4
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '71496063f45dc150', 2) THEN -3
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '772725e160945110', 2) THEN -2
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '7d0c3be4cebfac10', 2) THEN -1
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '82f3c41b314053f0', 2) THEN 0
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '88d8da1e9f6baef0', 2) THEN 1
      ELSE 2
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'bf5b499f8d4f3ba0', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '9488485fddceaef0', 2) THEN 3
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '9a492617cc46a340', 2) THEN 4
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '9ff4b399fc45ffb0', 2) THEN 5
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'a5869f84341ac970', 2) THEN 6
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'aafad609a74313a0', 2) THEN 7
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'b04d89ca84caa350', 2) THEN 8
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'b57b3b95d08dc430', 2) THEN 9
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ba80c0fc0a165f30', 2) THEN 10
      ELSE 11
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'e264e677bb769620', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'c408633645c67330', 2) THEN 12
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'c885fc370f6280e0', 2) THEN 13
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ccd26533caa99070', 2) THEN 14
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'd0ec50e794800f00', 2) THEN 15
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'd4d2d306926302f0', 2) THEN 16
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'd8855de239e50810', 2) THEN 17
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'dc03bef9c7459bd0', 2) THEN 18
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'df4e1a92a41a0160', 2) THEN 19
      ELSE 20
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f5ea5e259ce32de0', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'e548e4011add9200', 2) THEN 21
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'e7fb1986c3279280', 2) THEN 22
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ea7ccb6235cd8410', 2) THEN 23
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'eccf74a222941910', 2) THEN 24
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'eef4bf92ae095b40', 2) THEN 25
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f0ee7e3b2d85b060', 2) THEN 26
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f2bea2f0000d17b0', 2) THEN 27
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f467391475ca2ca0', 2) THEN 28
      ELSE 29
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'fe53e9fa32fb36c0', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f74a3b2365cd75b0', 2) THEN 30
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f888fe69fe89f5a0', 2) THEN 31
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f9a8d6099ddd4340', 2) THEN 32
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'faabeaa7565fd940', 2) THEN 33
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'fb945aee03947de0', 2) THEN 34
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'fc6437930c9be450', 2) THEN 35
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'fd1d7fefa1041920', 2) THEN 36
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'fdc21f2c49a241d0', 2) THEN 37
      ELSE 38
    END
      ELSE CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'fed49cd37ebb2360', 2) THEN 39
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ff45daba31298f80', 2) THEN 40
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ffa92c6bf67f3f70', 2) THEN 41
      ELSE 42
    END
    END AS [policy_engine_total_3],
    [policy_engine_total_4] + CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '049d28cb2595dab0', 2) THEN -7
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '0c236c3565302470', 2) THEN -6
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '17851f5a0ff86df0', 2) THEN -5
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '277cfb4727f23420', 2) THEN -4
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '3c44759d19077ad0', 2) THEN -3
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '5558e386be072a30', 2) THEN -2
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '716c714df58b8990', 2) THEN -1
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '8e938eb20a747670', 2) THEN 0
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'aaa71c7941f8d5d0', 2) THEN 1
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'c3bb8a62e6f88530', 2) THEN 2
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'd88304b8d80dcbe0', 2) THEN 3
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'e87ae0a5f0079210', 2) THEN 4
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'f3dc93ca9acfdb90', 2) THEN 5
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'fb62d734da6a2550', 2) THEN 6
      ELSE 7
    END AS [policy_engine_total_4],
    [policy_engine_total_5] - [policy_engine_total_5] % 5 + CAST(5 AS BIGINT) * CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0299d541cdb97980', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '00259736b43ee4b0', 2) THEN -70
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '004ecd24c11eaa50', 2) THEN -69
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '007bebbe006246b0', 2) THEN -68
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '00ad41348c7939b0', 2) THEN -67
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '00e3200be63230b0', 2) THEN -66
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '011ddf27c75346b0', 2) THEN -65
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '015dd9d621553f70', 2) THEN -64
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '01a36fd3c5e73070', 2) THEN -63
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '01ef054b36654fe0', 2) THEN -62
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '024102cd182b35b0', 2) THEN -61
      ELSE -60
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '08b6cba285012630', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '02f9edd3b8200360', 2) THEN -59
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0361c1d1a916fd40', 2) THEN -58
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '03d1ca8914ba8820', 2) THEN -57
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '044a85179a082ef0', 2) THEN -56
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '04cc72338313a9c0', 2) THEN -55
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '055815eae97191e0', 2) THEN -54
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '05edf75938941770', 2) THEN -53
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '068ea052d6c43e80', 2) THEN -52
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '073a9d06cdf8b690', 2) THEN -51
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '07f27b965ffb2f90', 2) THEN -50
      ELSE -49
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '14fb6482af651b10', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '09881dcf68fa3a20', 2) THEN -48
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0a67033e123a94b0', 2) THEN -47
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0b540cfc73abad90', 2) THEN -46
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0c4fcb6c45228b70', 2) THEN -45
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0d5acda115ac2300', 2) THEN -44
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0e75a0b6255495a0', 2) THEN -43
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0fa0cf1cade563f0', 2) THEN -42
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '10dcdfe35c0cfa90', 2) THEN -41
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '122a55f7d40eee90', 2) THEN -40
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '1389af633633ffe0', 2) THEN -39
      ELSE -38
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '2a00da9b76863240', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '167fe73d395cffb0', 2) THEN -37
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '1817a237c3581190', 2) THEN -36
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '19c2f8090fd0bbe0', 2) THEN -35
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '1b82426ea559aca0', 2) THEN -34
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '1d55d1843fb9a820', 2) THEN -33
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '1f3deaff3ac62960', 2) THEN -32
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '213ac96f79d6c830', 2) THEN -31
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '234c9b8754cddc80', 2) THEN -30
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '2573836c1664ae00', 2) THEN -29
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '27af9610967c9ca0', 2) THEN -28
      ELSE -27
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '48c27eeeee19ace0', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '2c6749da7d804ae0', 2) THEN -26
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '2ee2cdc48494aea0', 2) THEN -25
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '3173410b54e86090', 2) THEN -24
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '34186ebec2dc6820', 2) THEN -23
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '36d212023acc3970', 2) THEN -22
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '399fd5d5d771f960', 2) THEN -21
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '3c8154f3faac16f0', 2) THEN -20
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '3f7619c43ea4e250', 2) THEN -19
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '427d9e646f99b300', 2) THEN -18
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '45974cc816050710', 2) THEN -17
      ELSE -16
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '6f2f134c8e1f2210', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '4bfe7f327cb21140', 2) THEN -15
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '4f4a88aac3846ea0', 2) THEN -14
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '52a5c7a9e70863e0', 2) THEN -13
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '560f5a4e687ff420', 2) THEN -12
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '5986512b66851330', 2) THEN -11
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '5d09b00626d879c0', 2) THEN -10
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '60986ea7fd7a7b40', 2) THEN -9
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '643179c377d65710', 2) THEN -8
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '67d3b3eb877cfbd0', 2) THEN -7
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '6b7df69b3f1256d0', 2) THEN -6
      ELSE -5
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '982c4c1478830430', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '72e5d49c45e04af0', 2) THEN -4
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '76a0ff7992530eb0', 2) THEN -3
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '7a5f545ef7fddb60', 2) THEN -2
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '7e1f9092d0a22180', 2) THEN -1
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '81e06f6d2f5dde80', 2) THEN 0
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '85a0aba1080224a0', 2) THEN 1
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '895f00866dacf150', 2) THEN 2
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '8d1a2b63ba1fb510', 2) THEN 3
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '90d0ecb371e0ddf0', 2) THEN 4
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '94820964c0eda930', 2) THEN 5
      ELSE 6
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'bd82619b90664d00', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '9bce863c8829a8f0', 2) THEN 7
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '9f679158028584c0', 2) THEN 8
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'a2f64ff9d9278640', 2) THEN 9
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'a679aed4997aecd0', 2) THEN 10
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'a9f0a5b197800be0', 2) THEN 11
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ad5a385618f79c20', 2) THEN 12
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'b0b577553c7b9160', 2) THEN 13
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'b40180cd834deec0', 2) THEN 14
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'b73d811111e65320', 2) THEN 15
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ba68b337e9faf8f0', 2) THEN 16
      ELSE 17
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'da8c7c93e99b5200', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'c089e63bc15b1db0', 2) THEN 18
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'c37eab0c0553e910', 2) THEN 19
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'c6602a2a288e06a0', 2) THEN 20
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'c92dedfdc533c690', 2) THEN 21
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'cbe791413d2397e0', 2) THEN 22
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ce8cbef4ab179f70', 2) THEN 23
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'd11d323b7b6b5160', 2) THEN 24
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'd398b625827fb520', 2) THEN 25
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'd5ff25648979cdc0', 2) THEN 26
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'd85069ef69836360', 2) THEN 27
      ELSE 28
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'edd5aa082bf11170', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'dcb36478ab322380', 2) THEN 29
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'dec53690862937d0', 2) THEN 30
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'e0c21500c539d6a0', 2) THEN 31
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'e2aa2e7bc04657e0', 2) THEN 32
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'e47dbd915aa65360', 2) THEN 33
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'e63d07f6f02f4420', 2) THEN 34
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'e7e85dc83ca7ee70', 2) THEN 35
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'e98018c2c6a30050', 2) THEN 36
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'eb049b7d509ae4f0', 2) THEN 37
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ec76509cc9cc0020', 2) THEN 38
      ELSE 39
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f8c562f932074970', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ef23201ca3f30570', 2) THEN 40
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f05f30e3521a9c10', 2) THEN 41
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f18a5f49daab6a60', 2) THEN 42
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f2a5325eea53dd00', 2) THEN 43
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f3b03493badd7490', 2) THEN 44
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f4abf3038c545270', 2) THEN 45
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f598fcc1edc56b50', 2) THEN 46
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f677e2309705c5e0', 2) THEN 47
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f749345d7afed9d0', 2) THEN 48
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f80d8469a004d070', 2) THEN 49
      ELSE 50
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fe10fab4c99ab020', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f9715fad293bc180', 2) THEN 51
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fa1208a6c76be890', 2) THEN 52
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'faa7ea15168e6e20', 2) THEN 53
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fb338dcc7cec5640', 2) THEN 54
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fbb57ae865f7d110', 2) THEN 55
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fc2e3576eb4577e0', 2) THEN 56
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fc9e3e2e56e902c0', 2) THEN 57
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fd06122c47dffca0', 2) THEN 58
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fd662abe32468680', 2) THEN 59
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fdbefd32e7d4ca50', 2) THEN 60
      ELSE 61
    END
      ELSE CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fe5c902c3a18cf90', 2) THEN 62
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fea22629deaac090', 2) THEN 63
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fee220d838acb950', 2) THEN 64
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ff1cdff419cdcf50', 2) THEN 65
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ff52becb7386c650', 2) THEN 66
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ff841441ff9db950', 2) THEN 67
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ffb132db3ee155b0', 2) THEN 68
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ffda68c94bc11b50', 2) THEN 69
      ELSE 70
    END
    END AS [policy_engine_total_5]
  FROM drawn
), bounded AS (
  SELECT [age], [born], policy_engine_n, [policy_engine_total_1], [policy_engine_total_2], [policy_engine_total_3], [policy_engine_total_4], [policy_engine_total_5],
    CASE WHEN [policy_engine_total_2] < 1 THEN NULL WHEN [policy_engine_total_3] + 2 * [policy_engine_total_2] < 0 THEN 0 WHEN [policy_engine_total_3] + 2 * [policy_engine_total_2] > 4 * [policy_engine_total_2] THEN 4 * [policy_engine_total_2] ELSE [policy_engine_total_3] + 2 * [policy_engine_total_2] END AS [policy_engine_above_2],
    CASE WHEN [policy_engine_total_2] < 1 THEN 1 ELSE [policy_engine_total_2] END AS [policy_engine_divisor_2],
    CASE WHEN [policy_engine_total_4] < 1 THEN NULL WHEN [policy_engine_total_5] + 50 * [policy_engine_total_4] < 0 THEN 0 WHEN [policy_engine_total_5] + 50 * [policy_engine_total_4] > 100 * [policy_engine_total_4] THEN 100 * [policy_engine_total_4] ELSE [policy_engine_total_5] + 50 * [policy_engine_total_4] END AS [policy_engine_above_4],
    CASE WHEN [policy_engine_total_4] < 1 THEN 1 ELSE [policy_engine_total_4] END AS [policy_engine_divisor_4]
  FROM noised
), cut AS (
  SELECT CASE WHEN COUNT(*) > 2 THEN 1 ELSE 0 END AS [policy_engine_cut_1],
CASE WHEN MAX(policy_engine_rows) > 3 THEN 1 ELSE 0 END AS [policy_engine_cut_2],
MAX([policy_engine_cut_3]) AS [policy_engine_cut_3],
MAX([policy_engine_cut_4]) AS [policy_engine_cut_4],
MAX([policy_engine_cut_5]) AS [policy_engine_cut_5],
MAX([policy_engine_cut_6]) AS [policy_engine_cut_6]
  FROM gathered
  GROUP BY policy_engine_unit
), told AS (
  SELECT COALESCE(CAST(SUM([policy_engine_cut_1]) AS BIGINT), 0) AS [policy_engine_cut_1], HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:6:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(1 AS VARCHAR(40)))) AS [policy_engine_cut_hash_1],
COALESCE(CAST(SUM([policy_engine_cut_2]) AS BIGINT), 0) AS [policy_engine_cut_2], HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:7:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(1 AS VARCHAR(40)))) AS [policy_engine_cut_hash_2],
COALESCE(CAST(SUM([policy_engine_cut_3]) AS BIGINT), 0) AS [policy_engine_cut_3], HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:8:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(1 AS VARCHAR(40)))) AS [policy_engine_cut_hash_3],
COALESCE(CAST(SUM([policy_engine_cut_4]) AS BIGINT), 0) AS [policy_engine_cut_4], HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:9:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(1 AS VARCHAR(40)))) AS [policy_engine_cut_hash_4],
COALESCE(CAST(SUM([policy_engine_cut_5]) AS BIGINT), 0) AS [policy_engine_cut_5], HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:10:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(1 AS VARCHAR(40)))) AS [policy_engine_cut_hash_5],
COALESCE(CAST(SUM([policy_engine_cut_6]) AS BIGINT), 0) AS [policy_engine_cut_6], HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:11:6fb95dbcc7cff99eeb15d0b0fab6925da45c1a0c2ddbbba93791c670e412ed19:' + LOWER(CAST(1 AS VARCHAR(40)))) AS [policy_engine_cut_hash_6]
  FROM cut
)
SELECT [age], [born], policy_engine_n AS [people],
  [policy_engine_total_1] AS [visits],
  (2 * [policy_engine_above_2] + [policy_engine_divisor_2]) / (2 * [policy_engine_divisor_2]) * 10 AS [pay],
  ([policy_engine_total_3] + 2 * [policy_engine_total_2]) * 10 AS [paid],
  (2 * [policy_engine_above_4] + [policy_engine_divisor_4]) / (2 * [policy_engine_divisor_4]) AS [years],
  [policy_engine_cut_1] + CASE
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), '049d28cb2595dab0', 2) THEN -7
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), '0c236c3565302470', 2) THEN -6
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), '17851f5a0ff86df0', 2) THEN -5
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), '277cfb4727f23420', 2) THEN -4
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), '3c44759d19077ad0', 2) THEN -3
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), '5558e386be072a30', 2) THEN -2
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), '716c714df58b8990', 2) THEN -1
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), '8e938eb20a747670', 2) THEN 0
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), 'aaa71c7941f8d5d0', 2) THEN 1
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), 'c3bb8a62e6f88530', 2) THEN 2
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), 'd88304b8d80dcbe0', 2) THEN 3
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), 'e87ae0a5f0079210', 2) THEN 4
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), 'f3dc93ca9acfdb90', 2) THEN 5
      WHEN [policy_engine_cut_hash_1] < CONVERT(VARBINARY(8), 'fb62d734da6a2550', 2) THEN 6
      ELSE 7
    END AS [people_with_groups_cut],
  [policy_engine_cut_2] + CASE
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), '049d28cb2595dab0', 2) THEN -7
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), '0c236c3565302470', 2) THEN -6
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), '17851f5a0ff86df0', 2) THEN -5
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), '277cfb4727f23420', 2) THEN -4
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), '3c44759d19077ad0', 2) THEN -3
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), '5558e386be072a30', 2) THEN -2
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), '716c714df58b8990', 2) THEN -1
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), '8e938eb20a747670', 2) THEN 0
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), 'aaa71c7941f8d5d0', 2) THEN 1
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), 'c3bb8a62e6f88530', 2) THEN 2
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), 'd88304b8d80dcbe0', 2) THEN 3
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), 'e87ae0a5f0079210', 2) THEN 4
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), 'f3dc93ca9acfdb90', 2) THEN 5
      WHEN [policy_engine_cut_hash_2] < CONVERT(VARBINARY(8), 'fb62d734da6a2550', 2) THEN 6
      ELSE 7
    END AS [people_with_rows_cut],
  [policy_engine_cut_3] + CASE
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), '049d28cb2595dab0', 2) THEN -7
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), '0c236c3565302470', 2) THEN -6
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), '17851f5a0ff86df0', 2) THEN -5
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), '277cfb4727f23420', 2) THEN -4
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), '3c44759d19077ad0', 2) THEN -3
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), '5558e386be072a30', 2) THEN -2
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), '716c714df58b8990', 2) THEN -1
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), '8e938eb20a747670', 2) THEN 0
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), 'aaa71c7941f8d5d0', 2) THEN 1
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), 'c3bb8a62e6f88530', 2) THEN 2
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), 'd88304b8d80dcbe0', 2) THEN 3
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), 'e87ae0a5f0079210', 2) THEN 4
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), 'f3dc93ca9acfdb90', 2) THEN 5
      WHEN [policy_engine_cut_hash_3] < CONVERT(VARBINARY(8), 'fb62d734da6a2550', 2) THEN 6
      ELSE 7
    END AS [pay_people_cut],
  [policy_engine_cut_4] + CASE
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), '049d28cb2595dab0', 2) THEN -7
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), '0c236c3565302470', 2) THEN -6
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), '17851f5a0ff86df0', 2) THEN -5
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), '277cfb4727f23420', 2) THEN -4
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), '3c44759d19077ad0', 2) THEN -3
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), '5558e386be072a30', 2) THEN -2
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), '716c714df58b8990', 2) THEN -1
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), '8e938eb20a747670', 2) THEN 0
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), 'aaa71c7941f8d5d0', 2) THEN 1
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), 'c3bb8a62e6f88530', 2) THEN 2
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), 'd88304b8d80dcbe0', 2) THEN 3
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), 'e87ae0a5f0079210', 2) THEN 4
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), 'f3dc93ca9acfdb90', 2) THEN 5
      WHEN [policy_engine_cut_hash_4] < CONVERT(VARBINARY(8), 'fb62d734da6a2550', 2) THEN 6
      ELSE 7
    END AS [pay_people_missing],
  [policy_engine_cut_5] + CASE
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), '049d28cb2595dab0', 2) THEN -7
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), '0c236c3565302470', 2) THEN -6
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), '17851f5a0ff86df0', 2) THEN -5
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), '277cfb4727f23420', 2) THEN -4
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), '3c44759d19077ad0', 2) THEN -3
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), '5558e386be072a30', 2) THEN -2
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), '716c714df58b8990', 2) THEN -1
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), '8e938eb20a747670', 2) THEN 0
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), 'aaa71c7941f8d5d0', 2) THEN 1
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), 'c3bb8a62e6f88530', 2) THEN 2
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), 'd88304b8d80dcbe0', 2) THEN 3
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), 'e87ae0a5f0079210', 2) THEN 4
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), 'f3dc93ca9acfdb90', 2) THEN 5
      WHEN [policy_engine_cut_hash_5] < CONVERT(VARBINARY(8), 'fb62d734da6a2550', 2) THEN 6
      ELSE 7
    END AS [years_people_cut],
  [policy_engine_cut_6] + CASE
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), '049d28cb2595dab0', 2) THEN -7
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), '0c236c3565302470', 2) THEN -6
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), '17851f5a0ff86df0', 2) THEN -5
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), '277cfb4727f23420', 2) THEN -4
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), '3c44759d19077ad0', 2) THEN -3
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), '5558e386be072a30', 2) THEN -2
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), '716c714df58b8990', 2) THEN -1
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), '8e938eb20a747670', 2) THEN 0
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), 'aaa71c7941f8d5d0', 2) THEN 1
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), 'c3bb8a62e6f88530', 2) THEN 2
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), 'd88304b8d80dcbe0', 2) THEN 3
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), 'e87ae0a5f0079210', 2) THEN 4
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), 'f3dc93ca9acfdb90', 2) THEN 5
      WHEN [policy_engine_cut_hash_6] < CONVERT(VARBINARY(8), 'fb62d734da6a2550', 2) THEN 6
      ELSE 7
    END AS [years_people_missing]
FROM bounded CROSS JOIN told
WHERE policy_engine_n >= 7
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
