-- policy: golden
-- digest: sha256:0f219e6d4e3420403b79e50b6e7b3d9939c728e859d8bb87b8cf49b37070bcd1
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
    END AS [born]
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS (
  SELECT [age], [born], COUNT_BIG(*) AS policy_engine_people
  FROM recoded
  GROUP BY [age], [born]
), drawn AS (
  SELECT [age], [born], policy_engine_people,
    HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':g:0:c55fe8c8fed4ed54981074a1f46c4e98ed63508c19b93f49b5785b44ab5e7a16:' + LOWER(CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]) AS VARCHAR(40)))) AS policy_engine_hash
  FROM grouped
), noised AS (
  SELECT [age], [born], policy_engine_people - CASE
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), '7fffed771322d440', 2) THEN -1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'cafafc82bfc52590', 2) THEN 0
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ebec29a5c9b2b930', 2) THEN 1
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'f8c9881c09413350', 2) THEN 2
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fd7f4aacd43e0470', 2) THEN 3
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ff27156393b96400', 2) THEN 4
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffb7e5b6f2c95060', 2) THEN 5
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffe85f281a0a96d0', 2) THEN 6
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fff858239ed5b0e0', 2) THEN 7
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffd8ad938894ca0', 2) THEN 8
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffff3794bbc75520', 2) THEN 9
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffc091e50da300', 2) THEN 10
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffec0967656280', 2) THEN 11
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffff9bf4a6f5340', 2) THEN 12
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffe0cbef3eba0', 2) THEN 13
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffff64dce1cf00', 2) THEN 14
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffcff3b3ab80', 2) THEN 15
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffff129ab6af0', 2) THEN 16
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffb6e302230', 2) THEN 17
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffe9895cc90', 2) THEN 18
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffff91d04a40', 2) THEN 19
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffffde498810', 2) THEN 20
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffff5b43a10', 2) THEN 21
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffffcdc6070', 2) THEN 22
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffffff0b5ca0', 2) THEN 23
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffffffb5a260', 2) THEN 24
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffffffe96c90', 2) THEN 25
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffffff927a0', 2) THEN 26
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffffffded40', 2) THEN 27
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffffffff5f70', 2) THEN 28
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffffffffcf70', 2) THEN 29
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffffffff150', 2) THEN 30
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffffffffb90', 2) THEN 31
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffffffffea0', 2) THEN 32
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffffffffff90', 2) THEN 33
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'ffffffffffffffe0', 2) THEN 34
      WHEN policy_engine_hash < CONVERT(VARBINARY(8), 'fffffffffffffff0', 2) THEN 35
      ELSE NULL
    END AS policy_engine_n
  FROM drawn
)
SELECT [age], [born], policy_engine_n AS [n]
FROM noised
WHERE policy_engine_n >= 3
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born]
