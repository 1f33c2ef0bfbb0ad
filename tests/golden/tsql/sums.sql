-- policy: golden
-- digest: sha256:f380013aaa1cbe5d7916c6cd8aa591173b966c97db44bfdd60f1c306a723a3a4
WITH people AS (
  SELECT [age], [born], [income],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income]) AS policy_engine_rank
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
    END AS [policy_engine_value_1],
    CASE
      WHEN [age] IS NULL THEN 0
      WHEN [age] <= 0 THEN 0
      WHEN [age] >= 100 THEN 100
      ELSE CAST([age] AS BIGINT)
    END AS [policy_engine_value_2]
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS (
  SELECT [age], [born], COUNT_BIG(*) AS policy_engine_people,
    COUNT([policy_engine_value_1]) AS [policy_engine_total_1],
    COALESCE(CAST(SUM([policy_engine_value_1]) AS BIGINT), 0) - 2 * COUNT([policy_engine_value_1]) AS [policy_engine_total_2],
    CAST(SUM([policy_engine_value_2]) AS BIGINT) - 50 * COUNT_BIG(*) AS [policy_engine_total_3]
  FROM recoded
  GROUP BY [age], [born]
), drawn AS (
  SELECT [age], [born], policy_engine_people, [policy_engine_total_1], [policy_engine_total_2], [policy_engine_total_3],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:0:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS policy_engine_hash,
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:1:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_1],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:2:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_2],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:3:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_3]
  FROM grouped
), noised AS (
  SELECT [age], [born], policy_engine_people + CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '25834d20754bfd80', 2) THEN -2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '5a883ff6160717f0', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'a577c009e9f8e810', 2) THEN 0
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'da7cb2df8ab40280', 2) THEN 1
      WHEN policy_engine_hash IS NOT NULL THEN 2
    END AS policy_engine_n,
    [policy_engine_total_1] + CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '049b5062c0e87780', 2) THEN -9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0a4e20bb513723c0', 2) THEN -8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '115aaeffe2470f70', 2) THEN -7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '1a12ec39063da4d0', 2) THEN -6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '24dc3508ed45a420', 2) THEN -5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3233ebf2eed79e50', 2) THEN -4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '42b52ae443bb55d0', 2) THEN -3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '571fce2d068b3680', 2) THEN -2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '70612ac81c4a3760', 2) THEN -1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '8f9ed537e3b5c8a0', 2) THEN 0
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a8e031d2f974c980', 2) THEN 1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'bd4ad51bbc44aa30', 2) THEN 2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'cdcc140d112861b0', 2) THEN 3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'db23caf712ba5be0', 2) THEN 4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e5ed13c6f9c25b30', 2) THEN 5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'eea551001db8f090', 2) THEN 6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f5b1df44aec8dc40', 2) THEN 7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'fb64af9d3f178880', 2) THEN 8
      WHEN [policy_engine_hash_1] IS NOT NULL THEN 9
    END AS [policy_engine_total_1],
    [policy_engine_total_2] + CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '0834b357a90cfe30', 2) THEN -9
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '11551cb8e5930c00', 2) THEN -8
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '1b7baedfe620f360', 2) THEN -7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '26c5d4405571c300', 2) THEN -6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '33544443fef2d970', 2) THEN -5
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '414b621a16d5ec70', 2) THEN -4
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '50d3a629e3ed6590', 2) THEN -3
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '621a135a5fb66650', 2) THEN -2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '7550b982aaa463f0', 2) THEN -1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '8aaf467d555b9c10', 2) THEN 0
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '9de5eca5a04999b0', 2) THEN 1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'af2c59d61c129a70', 2) THEN 2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'beb49de5e92a1390', 2) THEN 3
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'ccabbbbc010d2690', 2) THEN 4
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'd93a2bbfaa8e3d00', 2) THEN 5
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'e484512019df0ca0', 2) THEN 6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'eeaae3471a6cf400', 2) THEN 7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f7cb4ca856f301d0', 2) THEN 8
      WHEN [policy_engine_hash_2] IS NOT NULL THEN 9
    END AS [policy_engine_total_2],
    [policy_engine_total_3] - [policy_engine_total_3] % 5 + CAST(5 AS BIGINT) * CASE
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '0845673e96485d20', 2) THEN -13
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '10b852fb870b24b0', 2) THEN -12
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '1959bdb4d29331d0', 2) THEN -11
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '222aa74afb5ef140', 2) THEN -10
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '2b2c151ea855b810', 2) THEN -9
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '345f122eea1185c0', 2) THEN -8
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '3dc4af3826bea800', 2) THEN -7
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '475e02d3b0260140', 2) THEN -6
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '512c2998078a6740', 2) THEN -5
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '5b304639d315b180', 2) THEN -4
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '656b81ad88a69f20', 2) THEN -3
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '6fdf0b49d1e5bd70', 2) THEN -2
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '7a8c18eaad9ced90', 2) THEN -1
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '8573e71552631270', 2) THEN 0
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '9020f4b62e1a4290', 2) THEN 1
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), '9a947e52775960e0', 2) THEN 2
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'a4cfb9c62cea4e80', 2) THEN 3
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'aed3d667f87598c0', 2) THEN 4
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'b8a1fd2c4fd9fec0', 2) THEN 5
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'c23b50c7d9415800', 2) THEN 6
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'cba0edd115ee7a40', 2) THEN 7
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'd4d3eae157aa47f0', 2) THEN 8
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ddd558b504a10ec0', 2) THEN 9
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'e6a6424b2d6cce30', 2) THEN 10
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'ef47ad0478f4db50', 2) THEN 11
      WHEN [policy_engine_hash_3] < CONVERT(VARBINARY(8), 'f7ba98c169b7a2e0', 2) THEN 12
      WHEN [policy_engine_hash_3] IS NOT NULL THEN 13
    END AS [policy_engine_total_3]
  FROM drawn
), bounded AS (
  SELECT [age], [born], policy_engine_n, [policy_engine_total_1], [policy_engine_total_2], [policy_engine_total_3],
    CASE WHEN [policy_engine_total_1] < 1 THEN NULL WHEN [policy_engine_total_2] + 2 * [policy_engine_total_1] < 0 THEN 0 WHEN [policy_engine_total_2] + 2 * [policy_engine_total_1] > 4 * [policy_engine_total_1] THEN 4 * [policy_engine_total_1] ELSE [policy_engine_total_2] + 2 * [policy_engine_total_1] END AS [policy_engine_above_1],
    CASE WHEN [policy_engine_total_1] < 1 THEN 1 ELSE [policy_engine_total_1] END AS [policy_engine_divisor_1]
  FROM noised
)
SELECT [age], [born], policy_engine_n AS [n],
  (2 * [policy_engine_above_1] + [policy_engine_divisor_1]) / (2 * [policy_engine_divisor_1]) * 10 AS [pay],
  ([policy_engine_total_3] + 50 * [policy_engine_n]) AS [years]
FROM bounded
WHERE policy_engine_n >= 3
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
