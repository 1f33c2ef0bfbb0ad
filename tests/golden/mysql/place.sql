-- policy: golden
-- digest: sha256:0f219e6d4e3420403b79e50b6e7b3d9939c728e859d8bb87b8cf49b37070bcd1
WITH people AS (
  SELECT `age`, `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE `person` IS NOT NULL
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18' COLLATE utf8mb4_0900_bin
      ELSE '>=18' COLLATE utf8mb4_0900_bin
    END AS `age`,
    CASE
      WHEN `born` IS NULL THEN NULL
      WHEN `born` < CAST('1970-01-01' AS DATE) THEN '<1970-01-01' COLLATE utf8mb4_0900_bin
      ELSE '>=1970-01-01' COLLATE utf8mb4_0900_bin
    END AS `born`
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS (
  SELECT `age`, `born`, COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY `age`, `born`
), drawn AS (
  SELECT `age`, `born`, policy_engine_people,
    SHA2(CONCAT(@policy_engine_salt, ':g:0:c55fe8c8fed4ed54981074a1f46c4e98ed63508c19b93f49b5785b44ab5e7a16:', CAST(ROW_NUMBER() OVER (ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`) AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin AS policy_engine_hash
  FROM grouped
), noised AS (
  SELECT `age`, `born`, policy_engine_people - CASE
      WHEN policy_engine_hash < '7fffed771322d44' THEN -1
      WHEN policy_engine_hash < 'cafafc82bfc5259' THEN 0
      WHEN policy_engine_hash < 'ebec29a5c9b2b93' THEN 1
      WHEN policy_engine_hash < 'f8c9881c0941335' THEN 2
      WHEN policy_engine_hash < 'fd7f4aacd43e047' THEN 3
      WHEN policy_engine_hash < 'ff27156393b9640' THEN 4
      WHEN policy_engine_hash < 'ffb7e5b6f2c9506' THEN 5
      WHEN policy_engine_hash < 'ffe85f281a0a96d' THEN 6
      WHEN policy_engine_hash < 'fff858239ed5b0e' THEN 7
      WHEN policy_engine_hash < 'fffd8ad938894ca' THEN 8
      WHEN policy_engine_hash < 'ffff3794bbc7552' THEN 9
      WHEN policy_engine_hash < 'ffffc091e50da30' THEN 10
      WHEN policy_engine_hash < 'ffffec096765628' THEN 11
      WHEN policy_engine_hash < 'fffff9bf4a6f534' THEN 12
      WHEN policy_engine_hash < 'fffffe0cbef3eba' THEN 13
      WHEN policy_engine_hash < 'ffffff64dce1cf0' THEN 14
      WHEN policy_engine_hash < 'ffffffcff3b3ab8' THEN 15
      WHEN policy_engine_hash < 'fffffff129ab6af' THEN 16
      WHEN policy_engine_hash < 'fffffffb6e30223' THEN 17
      WHEN policy_engine_hash < 'fffffffe9895cc9' THEN 18
      WHEN policy_engine_hash < 'ffffffff91d04a4' THEN 19
      WHEN policy_engine_hash < 'ffffffffde49881' THEN 20
      WHEN policy_engine_hash < 'fffffffff5b43a1' THEN 21
      WHEN policy_engine_hash < 'fffffffffcdc607' THEN 22
      WHEN policy_engine_hash < 'ffffffffff0b5ca' THEN 23
      WHEN policy_engine_hash < 'ffffffffffb5a26' THEN 24
      WHEN policy_engine_hash < 'ffffffffffe96c9' THEN 25
      WHEN policy_engine_hash < 'fffffffffff927a' THEN 26
      WHEN policy_engine_hash < 'fffffffffffded4' THEN 27
      WHEN policy_engine_hash < 'ffffffffffff5f7' THEN 28
      WHEN policy_engine_hash < 'ffffffffffffcf7' THEN 29
      WHEN policy_engine_hash < 'fffffffffffff15' THEN 30
      WHEN policy_engine_hash < 'fffffffffffffb9' THEN 31
      WHEN policy_engine_hash < 'fffffffffffffea' THEN 32
      WHEN policy_engine_hash < 'ffffffffffffff9' THEN 33
      WHEN policy_engine_hash < 'ffffffffffffffe' THEN 34
      WHEN policy_engine_hash < 'fffffffffffffff' THEN 35
      ELSE NULL
    END AS policy_engine_n
  FROM drawn
)
SELECT `age`, `born`, policy_engine_n AS `n`
FROM noised
WHERE policy_engine_n >= 3
ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`
