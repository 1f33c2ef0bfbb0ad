-- policy: golden
-- digest: sha256:0aefb2baf1517e84c96cccd77ac38b9501c8aa3cd4b33e38efe175133bf58f86
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
      WHEN [income] IS NULL THEN 0
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
    CAST(SUM([policy_engine_value_1]) AS BIGINT) - 2 * COUNT_BIG(*) AS [policy_engine_total_1],
    CAST(SUM([policy_engine_value_2]) AS BIGINT) AS [policy_engine_total_2]
  FROM recoded
  GROUP BY [age], [born]
), drawn AS (
  SELECT [age], [born], policy_engine_people, [policy_engine_total_1], [policy_engine_total_2],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:0:76308ec8e03cb8b1e5d7590c90f89d74156e26452f72feea60c82e917b40a578:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS policy_engine_hash,
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:1:76308ec8e03cb8b1e5d7590c90f89d74156e26452f72feea60c82e917b40a578:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_1],
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:2:76308ec8e03cb8b1e5d7590c90f89d74156e26452f72feea60c82e917b40a578:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS [policy_engine_hash_2]
  FROM grouped
), noised AS (
  SELECT [age], [born], policy_engine_people + CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '25fcf1bf08a76ed0', 2) THEN -2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '5b01328c069a5180', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'a4fecd73f965ae80', 2) THEN 0
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'da030e40f7589130', 2) THEN 1
      ELSE 2
    END AS policy_engine_n,
    [policy_engine_total_1] + CASE
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '06d4076bceb17d50', 2) THEN -9
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '0eb259df201fcd80', 2) THEN -8
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '17c38876273ef3d0', 2) THEN -7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2236525be702c010', 2) THEN -6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '2e4095cc8d37dac0', 2) THEN -5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '3c2065cedf09b960', 2) THEN -4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '4c1d4a3c8f9a7e10', 2) THEN -3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '5e89b08b795089d0', 2) THEN -2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '73c494c50d62bfb0', 2) THEN -1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), '8c3b6b3af29d4050', 2) THEN 0
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'a1764f7486af7630', 2) THEN 1
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'b3e2b5c3706581f0', 2) THEN 2
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'c3df9a3120f646a0', 2) THEN 3
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'd1bf6a3372c82540', 2) THEN 4
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'ddc9ada418fd3ff0', 2) THEN 5
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'e83c7789d8c10c30', 2) THEN 6
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f14da620dfe03280', 2) THEN 7
      WHEN [policy_engine_hash_1] < CONVERT(VARBINARY(8), 'f92bf894314e82b0', 2) THEN 8
      ELSE 9
    END AS [policy_engine_total_1],
    [policy_engine_total_2] - [policy_engine_total_2] % 10 + CAST(10 AS BIGINT) * CASE
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '07e4151f29569cd0', 2) THEN -13
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '100245a7cf4c4950', 2) THEN -12
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '185c3d7cfa443240', 2) THEN -11
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '20f3b4d08e4873b0', 2) THEN -10
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '29ca707ded375690', 2) THEN -9
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '32e242673457ed10', 2) THEN -8
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '3c3d09d52888a760', 2) THEN -7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '45dcb3d9e4c7da10', 2) THEN -6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '4fc33bb65f679df0', 2) THEN -5
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '59f2ab42dad40e50', 2) THEN -4
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '646d1b5a576cd7a0', 2) THEN -3
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '6f34b4491c916090', 2) THEN -2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '7a4bae3e6fa1bf00', 2) THEN -1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '85b451c1905e4100', 2) THEN 0
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '90cb4bb6e36e9f70', 2) THEN 1
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), '9b92e4a5a8932860', 2) THEN 2
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'a60d54bd252bf1b0', 2) THEN 3
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'b03cc449a0986210', 2) THEN 4
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'ba234c261b3825f0', 2) THEN 5
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'c3c2f62ad77758a0', 2) THEN 6
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'cd1dbd98cba812f0', 2) THEN 7
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'd6358f8212c8a970', 2) THEN 8
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'df0c4b2f71b78c50', 2) THEN 9
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'e7a3c28305bbcdc0', 2) THEN 10
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'effdba5830b3b6b0', 2) THEN 11
      WHEN [policy_engine_hash_2] < CONVERT(VARBINARY(8), 'f81beae0d6a96330', 2) THEN 12
      ELSE 13
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
WHERE policy_engine_n >= 3
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
