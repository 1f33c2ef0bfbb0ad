-- policy: golden
-- digest: sha256:1211b660e79f8d8c302077099876a00893e49bb778e6abdbe2aba5b8315b324f
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
      WHEN [age] IS NULL THEN NULL
      WHEN [age] <= -1000000000 THEN -1000000000
      WHEN [age] >= 1000000000 THEN 1000000000
      ELSE CAST([age] AS BIGINT)
    END AS [policy_engine_value_3],
    [person] AS policy_engine_unit
  FROM people
), gathered AS (
  SELECT [age], [born], policy_engine_unit, COUNT_BIG(*) AS policy_engine_rows,
CAST(SUM([policy_engine_value_2]) AS BIGINT) AS [policy_engine_value_2], COUNT([policy_engine_value_2]) AS [policy_engine_many_2],
CASE WHEN SUM([policy_engine_value_3]) <= 0 * COUNT([policy_engine_value_3]) THEN 0 WHEN SUM([policy_engine_value_3]) >= 100 * COUNT([policy_engine_value_3]) THEN 100 ELSE 0 + (2 * (CAST(SUM([policy_engine_value_3]) AS BIGINT) - 0 * COUNT([policy_engine_value_3])) + COUNT([policy_engine_value_3])) / (2 * CASE WHEN COUNT([policy_engine_value_3]) = 0 THEN 1 ELSE COUNT([policy_engine_value_3]) END) END AS [policy_engine_value_3],
    CASE WHEN COUNT_BIG(*) > 3 THEN 3 ELSE COUNT_BIG(*) END AS [policy_engine_many_1]

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
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS policy_engine_place, COUNT(*) OVER (PARTITION BY policy_engine_unit) AS policy_engine_groups
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
    ROW_NUMBER() OVER (PARTITION BY policy_engine_unit ORDER BY CASE WHEN policy_engine_groups > 2 THEN HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':o:' + LOWER(CAST(policy_engine_unit AS VARCHAR(40))) + ':' + CAST(policy_engine_place AS VARCHAR(20))) END, policy_engine_place) AS policy_engine_rank
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
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:0:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS policy_engine_hash,
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:1:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_1],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:2:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_2],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:3:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_3],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:4:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_4],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:5:767323823c32b78aeffbd48e5eb7ffbd455f63d214e26c09e0f145d025f61cd8:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_5]
  FROM grouped
), noised AS (
  SELECT [age], [born], policy_engine_people + CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '0c26f8e2485122f0', 2) THEN -5
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '1bc4221d24ffbe40', 2) THEN -4
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '2fd3ec123bc2f6f0', 2) THEN -3
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '499aaffb9f683880', 2) THEN -2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '6ab92bd9533ee9e0', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '9546d426acc11620', 2) THEN 0
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'b66550046097c780', 2) THEN 1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'd02c13edc43d0910', 2) THEN 2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'e43bdde2db0041c0', 2) THEN 3
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'f3d9071db7aedd10', 2) THEN 4
      WHEN policy_engine_hash IS NOT NULL THEN 5
    END AS policy_engine_n,
    [policy_engine_total_1] + CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '183b9fc6f9e56b00', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '02e08948f9f98310', 2) THEN -34
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '05cbde849cc92a60', 2) THEN -33
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '08c22836fb1cce40', 2) THEN -32
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0bc38f7c322edd30', 2) THEN -31
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0ed03e0aa4544600', 2) THEN -30
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '11e85e353be77620', 2) THEN -29
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '150c1aedb6afcf10', 2) THEN -28
      WHEN [policy_engine_hash_1] IS NOT NULL THEN -27
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '33752f34e6c37340', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1b7718f76ef18100', 2) THEN -26
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1ebeb35b690c31a0', 2) THEN -25
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '22129c7793d90080', 2) THEN -24
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2573027b6b23bbe0', 2) THEN -23
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '28e01443bbe01190', 2) THEN -22
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2c5a015d2e8e9240', 2) THEN -21
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2fe0fa06db2a6520', 2) THEN -20
      WHEN [policy_engine_hash_1] IS NOT NULL THEN -19
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '520b3f7135615b40', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3716d2932ae95800', 2) THEN -18
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3ac61687e70bebc0', 2) THEN -17
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3e832e367bf6c890', 2) THEN -16
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '424e4d82318db550', 2) THEN -15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '4627a91106f070f0', 2) THEN -14
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '4a0f764e8d2ce8c0', 2) THEN -13
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '4e05eb6ecca776f0', 2) THEN -12
      WHEN [policy_engine_hash_1] IS NOT NULL THEN -11
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '74680ea4b66785c0', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '561faa239a463630', 2) THEN -10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '5a43642537a9e8b0', 2) THEN -9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '5e76a6e9c520d550', 2) THEN -8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '62b9acbc92dd1d40', 2) THEN -7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '670cb0c3b2bc13f0', 2) THEN -6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '6b6fef032d2fc590', 2) THEN -5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '6fe3a46042311250', 2) THEN -4
      WHEN [policy_engine_hash_1] IS NOT NULL THEN -3
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '98f34f3c4d43ec10', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '78fd6c822cb4bcf0', 2) THEN -2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '7da3fd958c51d890', 2) THEN -1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '825c026a73ae2770', 2) THEN 0
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '8702937dd34b4310', 2) THEN 1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '8b97f15b49987a40', 2) THEN 2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '901c5b9fbdceedb0', 2) THEN 3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '949010fcd2d03a70', 2) THEN 4
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 5
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b9d856eef90f8f10', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '9d4653436d22e2c0', 2) THEN 6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a18959163adf2ab0', 2) THEN 7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a5bc9bdac8561750', 2) THEN 8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a9e055dc65b9c9d0', 2) THEN 9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'adf4c08eca9ea4c0', 2) THEN 10
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b1fa149133588910', 2) THEN 11
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b5f089b172d31740', 2) THEN 12
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 13
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd71febbc441fee70', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'bdb1b27dce724ab0', 2) THEN 14
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c17cd1c984093770', 2) THEN 15
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c539e97818f41440', 2) THEN 16
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c8e92d6cd516a800', 2) THEN 17
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'cc8ad0cb193c8cc0', 2) THEN 18
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd01f05f924d59ae0', 2) THEN 19
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd3a5fea2d1716dc0', 2) THEN 20
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 21
    END
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f12fc1f55babba00', 2) THEN CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'da8cfd8494dc4420', 2) THEN 22
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'dded63886c26ff80', 2) THEN 23
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e1414ca496f3ce60', 2) THEN 24
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e488e708910e7f00', 2) THEN 25
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e7c46039061a9500', 2) THEN 26
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'eaf3e512495030f0', 2) THEN 27
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ee17a1cac41889e0', 2) THEN 28
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 29
    END
      ELSE CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f43c7083cdd122d0', 2) THEN 30
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f73dd7c904e331c0', 2) THEN 31
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fa34217b6336d5a0', 2) THEN 32
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fd1f76b706067cf0', 2) THEN 33
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 34
    END
    END AS [policy_engine_total_1],
    [policy_engine_total_2] + CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '183b9fc6f9e56b00', 2) THEN CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '02e08948f9f98310', 2) THEN -34
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '05cbde849cc92a60', 2) THEN -33
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '08c22836fb1cce40', 2) THEN -32
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '0bc38f7c322edd30', 2) THEN -31
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '0ed03e0aa4544600', 2) THEN -30
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '11e85e353be77620', 2) THEN -29
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '150c1aedb6afcf10', 2) THEN -28
      WHEN [policy_engine_hash_2] IS NOT NULL THEN -27
    END
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '33752f34e6c37340', 2) THEN CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '1b7718f76ef18100', 2) THEN -26
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '1ebeb35b690c31a0', 2) THEN -25
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '22129c7793d90080', 2) THEN -24
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '2573027b6b23bbe0', 2) THEN -23
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '28e01443bbe01190', 2) THEN -22
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '2c5a015d2e8e9240', 2) THEN -21
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '2fe0fa06db2a6520', 2) THEN -20
      WHEN [policy_engine_hash_2] IS NOT NULL THEN -19
    END
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '520b3f7135615b40', 2) THEN CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '3716d2932ae95800', 2) THEN -18
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '3ac61687e70bebc0', 2) THEN -17
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '3e832e367bf6c890', 2) THEN -16
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '424e4d82318db550', 2) THEN -15
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '4627a91106f070f0', 2) THEN -14
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '4a0f764e8d2ce8c0', 2) THEN -13
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '4e05eb6ecca776f0', 2) THEN -12
      WHEN [policy_engine_hash_2] IS NOT NULL THEN -11
    END
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '74680ea4b66785c0', 2) THEN CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '561faa239a463630', 2) THEN -10
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '5a43642537a9e8b0', 2) THEN -9
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '5e76a6e9c520d550', 2) THEN -8
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '62b9acbc92dd1d40', 2) THEN -7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '670cb0c3b2bc13f0', 2) THEN -6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '6b6fef032d2fc590', 2) THEN -5
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '6fe3a46042311250', 2) THEN -4
      WHEN [policy_engine_hash_2] IS NOT NULL THEN -3
    END
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '98f34f3c4d43ec10', 2) THEN CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '78fd6c822cb4bcf0', 2) THEN -2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '7da3fd958c51d890', 2) THEN -1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '825c026a73ae2770', 2) THEN 0
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '8702937dd34b4310', 2) THEN 1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '8b97f15b49987a40', 2) THEN 2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '901c5b9fbdceedb0', 2) THEN 3
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '949010fcd2d03a70', 2) THEN 4
      WHEN [policy_engine_hash_2] IS NOT NULL THEN 5
    END
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'b9d856eef90f8f10', 2) THEN CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '9d4653436d22e2c0', 2) THEN 6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'a18959163adf2ab0', 2) THEN 7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'a5bc9bdac8561750', 2) THEN 8
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'a9e055dc65b9c9d0', 2) THEN 9
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'adf4c08eca9ea4c0', 2) THEN 10
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'b1fa149133588910', 2) THEN 11
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'b5f089b172d31740', 2) THEN 12
      WHEN [policy_engine_hash_2] IS NOT NULL THEN 13
    END
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'd71febbc441fee70', 2) THEN CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'bdb1b27dce724ab0', 2) THEN 14
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'c17cd1c984093770', 2) THEN 15
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'c539e97818f41440', 2) THEN 16
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'c8e92d6cd516a800', 2) THEN 17
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'cc8ad0cb193c8cc0', 2) THEN 18
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'd01f05f924d59ae0', 2) THEN 19
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'd3a5fea2d1716dc0', 2) THEN 20
      WHEN [policy_engine_hash_2] IS NOT NULL THEN 21
    END
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f12fc1f55babba00', 2) THEN CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'da8cfd8494dc4420', 2) THEN 22
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'dded63886c26ff80', 2) THEN 23
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'e1414ca496f3ce60', 2) THEN 24
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'e488e708910e7f00', 2) THEN 25
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'e7c46039061a9500', 2) THEN 26
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'eaf3e512495030f0', 2) THEN 27
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'ee17a1cac41889e0', 2) THEN 28
      WHEN [policy_engine_hash_2] IS NOT NULL THEN 29
    END
      ELSE CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f43c7083cdd122d0', 2) THEN 30
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f73dd7c904e331c0', 2) THEN 31
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'fa34217b6336d5a0', 2) THEN 32
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'fd1f76b706067cf0', 2) THEN 33
      WHEN [policy_engine_hash_2] IS NOT NULL THEN 34
    END
    END AS [policy_engine_total_2],
    [policy_engine_total_3] + CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '1a0784f03ce9f260', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '032be1ff14b29570', 2) THEN -35
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '065db1cc6d406980', 2) THEN -34
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '09957a7d8ef352b0', 2) THEN -33
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '0cd3473cb7cba340', 2) THEN -32
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '10172349053d42e0', 2) THEN -31
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '136119f69b353470', 2) THEN -30
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '16b136aecb680f00', 2) THEN -29
      WHEN [policy_engine_hash_3] IS NOT NULL THEN -28
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '359e6da3c8972270', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '1d64104f14108110', 2) THEN -27
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '20c6e4751a9f6930', 2) THEN -26
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '24300d21e84008a0', 2) THEN -25
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '279f962b0b44b830', 2) THEN -24
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '2b158b7c31b84b60', 2) THEN -23
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '2e91f91752ba5390', 2) THEN -22
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '3214eb14d828b590', 2) THEN -21
      WHEN [policy_engine_hash_3] IS NOT NULL THEN -20
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '52dcaa435701b360', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '392e8d09f1950520', 2) THEN -19
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '3cc555a4124277a0', 2) THEN -18
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '4062d3e60634d330', 2) THEN -17
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '4407145af0ab70e0', 2) THEN -16
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '47b223a568152fa0', 2) THEN -15
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '4b640e7fa1e757b0', 2) THEN -14
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '4f1ce1bb9ec672f0', 2) THEN -13
      WHEN [policy_engine_hash_3] IS NOT NULL THEN -12
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '71db9a44e836c120', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '56a37518e7618280', 2) THEN -11
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '5a714f56be49d480', 2) THEN -10
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '5e46462fc930dc50', 2) THEN -9
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '622266efa26abdf0', 2) THEN -8
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '6605befabf4ade40', 2) THEN -7
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '69f05bce9e9b7020', 2) THEN -6
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '6de24b01f76be020', 2) THEN -5
      WHEN [policy_engine_hash_3] IS NOT NULL THEN -4
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '921db4fe08941fe0', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '75dc5761265fdda0', 2) THEN -3
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '79e4903a2e0b1280', 2) THEN -2
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '7df452cd724c9900', 2) THEN -1
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '820bad328db36700', 2) THEN 0
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '861b6fc5d1f4ed80', 2) THEN 1
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '8a23a89ed9a02260', 2) THEN 2
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '8e2465bb17c93ee0', 2) THEN 3
      WHEN [policy_engine_hash_3] IS NOT NULL THEN 4
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'b0e31e4461398d10', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '960fa43161648fe0', 2) THEN 5
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '99fa410540b521c0', 2) THEN 6
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '9ddd99105d954210', 2) THEN 7
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'a1b9b9d036cf23b0', 2) THEN 8
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'a58eb0a941b62b80', 2) THEN 9
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'a95c8ae7189e7d80', 2) THEN 10
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ad2355bca8fe4ca0', 2) THEN 11
      WHEN [policy_engine_hash_3] IS NOT NULL THEN 12
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'cdeb14eb27d74a70', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'b49bf1805e18a850', 2) THEN 13
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'b84ddc5a97ead060', 2) THEN 14
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'bbf8eba50f548f20', 2) THEN 15
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'bf9d2c19f9cb2cd0', 2) THEN 16
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'c33aaa5bedbd8860', 2) THEN 17
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'c6d172f60e6afae0', 2) THEN 18
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ca61925c3768dd90', 2) THEN 19
      WHEN [policy_engine_hash_3] IS NOT NULL THEN 20
    END
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'e94ec9513497f100', 2) THEN CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'd16e06e8ad45ac70', 2) THEN 21
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'd4ea7483ce47b4a0', 2) THEN 22
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'd86069d4f4bb47d0', 2) THEN 23
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'dbcff2de17bff760', 2) THEN 24
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'df391b8ae56096d0', 2) THEN 25
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'e29befb0ebef7ef0', 2) THEN 26
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'e5f87b0fc3160da0', 2) THEN 27
      WHEN [policy_engine_hash_3] IS NOT NULL THEN 28
    END
      ELSE CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ec9ee60964cacb90', 2) THEN 29
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'efe8dcb6fac2bd20', 2) THEN 30
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f32cb8c348345cc0', 2) THEN 31
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f66a8582710cad50', 2) THEN 32
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f9a24e3392bf9680', 2) THEN 33
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'fcd41e00eb4d6a90', 2) THEN 34
      WHEN [policy_engine_hash_3] IS NOT NULL THEN 35
    END
    END AS [policy_engine_total_3],
    [policy_engine_total_4] + CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '10207605acb66a90', 2) THEN CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '01b8b99f13f40a80', 2) THEN -33
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '03851df6a564cb50', 2) THEN -32
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '05660db1f3a119c0', 2) THEN -31
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '075c7382cc2450f0', 2) THEN -30
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '0969449412338070', 2) THEN -29
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '0b8d810162d5b8f0', 2) THEN -28
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '0dca34540f89bfc0', 2) THEN -27
      WHEN [policy_engine_hash_4] IS NOT NULL THEN -26
    END
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '26feaa639e411a80', 2) THEN CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '12916a08738b9ec0', 2) THEN -25
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '151e4155b9e1bf50', 2) THEN -24
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '17c83a82c59da070', 2) THEN -23
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '1a90a25c44394f50', 2) THEN -22
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '1d78d488b24fa730', 2) THEN -21
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '20823c32026b5ac0', 2) THEN -20
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '23ae54b6d5e37560', 2) THEN -19
      WHEN [policy_engine_hash_4] IS NOT NULL THEN -18
    END
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '476bfe79d8075750', 2) THEN CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '2a74db3401863f90', 2) THEN -17
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '2e12979cdfb52a00', 2) THEN -16
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '31d9a35f5c2e9580', 2) THEN -15
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '35cbd66551e29d30', 2) THEN -14
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '39eb1da79de8fb00', 2) THEN -13
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '3e397c1eb0e22780', 2) THEN -12
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '42b90bbddc86b4c0', 2) THEN -11
      WHEN [policy_engine_hash_4] IS NOT NULL THEN -10
    END
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '75675f391b30b0d0', 2) THEN CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '4c549f5afb5901c0', 2) THEN -9
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '5175539bb73fed10', 2) THEN -8
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '56d09bd3d5e52b90', 2) THEN -7
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '5c69153115ff5f80', 2) THEN -6
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '62417abdb91b6ea0', 2) THEN -5
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '685ca6b5a460bb70', 2) THEN -4
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '6ebd93eaba48e350', 2) THEN -3
      WHEN [policy_engine_hash_4] IS NOT NULL THEN -2
    END
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'a92f642c2a1ad470', 2) THEN CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '7c5d490c026a7f40', 2) THEN -1
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '83a2b6f3fd9580c0', 2) THEN 0
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '8a98a0c6e4cf4f30', 2) THEN 1
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '91426c1545b71cb0', 2) THEN 2
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '97a3594a5b9f4490', 2) THEN 3
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), '9dbe854246e49160', 2) THEN 4
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'a396eaceea00a080', 2) THEN 5
      WHEN [policy_engine_hash_4] IS NOT NULL THEN 6
    END
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'ce265ca0a3d16a80', 2) THEN CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'ae8aac6448c012f0', 2) THEN 7
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'b3ab60a504a6fe40', 2) THEN 8
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'b894018627f8a8b0', 2) THEN 9
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'bd46f44223794b40', 2) THEN 10
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'c1c683e14f1dd880', 2) THEN 11
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'c614e25862170500', 2) THEN 12
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'ca34299aae1d62d0', 2) THEN 13
      WHEN [policy_engine_hash_4] IS NOT NULL THEN 14
    END
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'e837c57d3a625f90', 2) THEN CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'd1ed6863204ad600', 2) THEN 15
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'd58b24cbfe79c070', 2) THEN 16
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'd901559c61bee580', 2) THEN 17
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'dc51ab492a1c8aa0', 2) THEN 18
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'df7dc3cdfd94a540', 2) THEN 19
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'e2872b774db058d0', 2) THEN 20
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'e56f5da3bbc6b0b0', 2) THEN 21
      WHEN [policy_engine_hash_4] IS NOT NULL THEN 22
    END
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'fa99f24e0c5ee640', 2) THEN CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'eae1beaa461e40b0', 2) THEN 23
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'ed6e95f78c746140', 2) THEN 24
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'efdf89fa53499570', 2) THEN 25
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'f235cbabf0764040', 2) THEN 26
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'f4727efe9d2a4710', 2) THEN 27
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'f696bb6bedcc7f90', 2) THEN 28
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'f8a38c7d33dbaf10', 2) THEN 29
      WHEN [policy_engine_hash_4] IS NOT NULL THEN 30
    END
      ELSE CASE
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'fc7ae2095a9b34b0', 2) THEN 31
      WHEN [policy_engine_hash_4] < CONVERT(VARBINARY(8), 'fe474660ec0bf580', 2) THEN 32
      WHEN [policy_engine_hash_4] IS NOT NULL THEN 33
    END
    END AS [policy_engine_total_4],
    [policy_engine_total_5] - [policy_engine_total_5] % 5 + CAST(5 AS BIGINT) * CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '1993767877133f70', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0325fb638a9af120', 2) THEN -37
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '064f7d86b90e2480', 2) THEN -36
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '097c8a5cad690650', 2) THEN -35
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0cad25dcf642bd70', 2) THEN -34
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '0fe1540393aeac50', 2) THEN -33
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '131918d0fc367e30', 2) THEN -32
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '1654784a21d9c770', 2) THEN -31
      WHEN [policy_engine_hash_5] IS NOT NULL THEN -30
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '340fa3b0c844a540', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '1cd61769f3e399a0', 2) THEN -29
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '201c5f311ae204a0', 2) THEN -28
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '236651e4fe525550', 2) THEN -27
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '26b3f3a14540e4b0', 2) THEN -26
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '2a05488630a42640', 2) THEN -25
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '2d5a54b8a083fe20', 2) THEN -24
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '30b31c621926dc70', 2) THEN -23
      WHEN [policy_engine_hash_5] IS NOT NULL THEN -22
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '4f7ccd1a019f9e30', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '376feed78a3f6b20', 2) THEN -21
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '3ad4020def6202c0', 2) THEN -20
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '3e3be19041247670', 2) THEN -19
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '41a7919f87766020', 2) THEN -18
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '451716818e0f3000', 2) THEN -17
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '488a7480e9c46700', 2) THEN -16
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '4c01afecfde5cb50', 2) THEN -15
      WHEN [policy_engine_hash_5] IS NOT NULL THEN -14
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '6be3836798418b40', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '52fbd0610562d910', 2) THEN -13
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '567ebe1ff8537950', 2) THEN -12
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '5a059ab9adbce140', 2) THEN -11
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '5d906a95e28c5500', 2) THEN -10
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '611f322142d19a50', 2) THEN -9
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '64b1f5cd6f45c240', 2) THEN -8
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '6848ba1102d82350', 2) THEN -7
      WHEN [policy_engine_hash_5] IS NOT NULL THEN -6
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '8933d5031eafe840', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '6f825651cf9daf70', 2) THEN -5
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '73253755540ae2b0', 2) THEN -4
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '76cc2afce15017c0', 2) THEN -3
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '7a7735d849893780', 2) THEN -2
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '7e265c7c7ad9d170', 2) THEN -1
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '81d9a38385262e90', 2) THEN 0
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '8588ca27b676c880', 2) THEN 1
      WHEN [policy_engine_hash_5] IS NOT NULL THEN 2
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'a5fa654652431ec0', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '8cdac8aaabf51d50', 2) THEN 3
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '907da9ae30625090', 2) THEN 4
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '941c7c9867be74c0', 2) THEN 5
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '97b745eefd27dcb0', 2) THEN 6
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '9b4e0a3290ba3dc0', 2) THEN 7
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), '9ee0cddebd2e65b0', 2) THEN 8
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'a26f956a1d73ab00', 2) THEN 9
      WHEN [policy_engine_hash_5] IS NOT NULL THEN 10
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'c1c41e6fbedb8990', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'a98141e007ac86b0', 2) THEN 11
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ad042f9efa9d26f0', 2) THEN 12
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'b08332e5fe6061d0', 2) THEN 13
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'b3fe5013021a34b0', 2) THEN 14
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'b7758b7f163b9900', 2) THEN 15
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'bae8e97e71f0d000', 2) THEN 16
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'be586e6078899fe0', 2) THEN 17
      WHEN [policy_engine_hash_5] IS NOT NULL THEN 18
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'dc99ae1b01adaab0', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'c52bfdf2109dfd40', 2) THEN 19
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'c890112875c094e0', 2) THEN 20
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'cbf05c4f37bb5ac0', 2) THEN 21
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'cf4ce39de6d92390', 2) THEN 22
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'd2a5ab475f7c01e0', 2) THEN 23
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'd5fab779cf5bd9c0', 2) THEN 24
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'd94c0c5ebabf1b50', 2) THEN 25
      WHEN [policy_engine_hash_5] IS NOT NULL THEN 26
    END
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f68375a35296f9b0', 2) THEN CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'dfe3a0cee51dfb60', 2) THEN 27
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'e329e8960c1c6660', 2) THEN 28
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'e66c898788ecc090', 2) THEN 29
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'e9ab87b5de263890', 2) THEN 30
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'ece6e72f03c981d0', 2) THEN 31
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f01eabfc6c5153b0', 2) THEN 32
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f352da2309bd4290', 2) THEN 33
      WHEN [policy_engine_hash_5] IS NOT NULL THEN 34
    END
      ELSE CASE
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'f9b0827946f1db80', 2) THEN 35
      WHEN [policy_engine_hash_5] < CONVERT(VARBINARY(8), 'fcda049c75650ee0', 2) THEN 36
      WHEN [policy_engine_hash_5] IS NOT NULL THEN 37
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
)
SELECT [age], [born], policy_engine_n AS [people],
  [policy_engine_total_1] AS [visits],
  (2 * [policy_engine_above_2] + [policy_engine_divisor_2]) / (2 * [policy_engine_divisor_2]) * 10 AS [pay],
  ([policy_engine_total_3] + 2 * [policy_engine_total_2]) * 10 AS [paid],
  (2 * [policy_engine_above_4] + [policy_engine_divisor_4]) / (2 * [policy_engine_divisor_4]) AS [years]
FROM bounded
WHERE policy_engine_n >= 6
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
