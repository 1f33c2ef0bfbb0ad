-- policy: golden
-- digest: sha256:0f219e6d4e3420403b79e50b6e7b3d9939c728e859d8bb87b8cf49b37070bcd1
WITH people AS NOT MATERIALIZED (
  SELECT "age", "born",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
), recoded AS NOT MATERIALIZED (
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
    END AS "born"
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS NOT MATERIALIZED (
  SELECT "age", "born", COUNT(*) AS policy_engine_people
  FROM recoded
  GROUP BY "age", "born"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:c55fe8c8fed4ed54981074a1f46c4e98ed63508c19b93f49b5785b44ab5e7a16:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people - CASE
      WHEN policy_engine_hash < DECODE('7fffed771322d440', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('cafafc82bfc52590', 'hex') THEN 0
      WHEN policy_engine_hash < DECODE('ebec29a5c9b2b930', 'hex') THEN 1
      WHEN policy_engine_hash < DECODE('f8c9881c09413350', 'hex') THEN 2
      WHEN policy_engine_hash < DECODE('fd7f4aacd43e0470', 'hex') THEN 3
      WHEN policy_engine_hash < DECODE('ff27156393b96400', 'hex') THEN 4
      WHEN policy_engine_hash < DECODE('ffb7e5b6f2c95060', 'hex') THEN 5
      WHEN policy_engine_hash < DECODE('ffe85f281a0a96d0', 'hex') THEN 6
      WHEN policy_engine_hash < DECODE('fff858239ed5b0e0', 'hex') THEN 7
      WHEN policy_engine_hash < DECODE('fffd8ad938894ca0', 'hex') THEN 8
      WHEN policy_engine_hash < DECODE('ffff3794bbc75520', 'hex') THEN 9
      WHEN policy_engine_hash < DECODE('ffffc091e50da300', 'hex') THEN 10
      WHEN policy_engine_hash < DECODE('ffffec0967656280', 'hex') THEN 11
      WHEN policy_engine_hash < DECODE('fffff9bf4a6f5340', 'hex') THEN 12
      WHEN policy_engine_hash < DECODE('fffffe0cbef3eba0', 'hex') THEN 13
      WHEN policy_engine_hash < DECODE('ffffff64dce1cf00', 'hex') THEN 14
      WHEN policy_engine_hash < DECODE('ffffffcff3b3ab80', 'hex') THEN 15
      WHEN policy_engine_hash < DECODE('fffffff129ab6af0', 'hex') THEN 16
      WHEN policy_engine_hash < DECODE('fffffffb6e302230', 'hex') THEN 17
      WHEN policy_engine_hash < DECODE('fffffffe9895cc90', 'hex') THEN 18
      WHEN policy_engine_hash < DECODE('ffffffff91d04a40', 'hex') THEN 19
      WHEN policy_engine_hash < DECODE('ffffffffde498810', 'hex') THEN 20
      WHEN policy_engine_hash < DECODE('fffffffff5b43a10', 'hex') THEN 21
      WHEN policy_engine_hash < DECODE('fffffffffcdc6070', 'hex') THEN 22
      WHEN policy_engine_hash < DECODE('ffffffffff0b5ca0', 'hex') THEN 23
      WHEN policy_engine_hash < DECODE('ffffffffffb5a260', 'hex') THEN 24
      WHEN policy_engine_hash < DECODE('ffffffffffe96c90', 'hex') THEN 25
      WHEN policy_engine_hash < DECODE('fffffffffff927a0', 'hex') THEN 26
      WHEN policy_engine_hash < DECODE('fffffffffffded40', 'hex') THEN 27
      WHEN policy_engine_hash < DECODE('ffffffffffff5f70', 'hex') THEN 28
      WHEN policy_engine_hash < DECODE('ffffffffffffcf70', 'hex') THEN 29
      WHEN policy_engine_hash < DECODE('fffffffffffff150', 'hex') THEN 30
      WHEN policy_engine_hash < DECODE('fffffffffffffb90', 'hex') THEN 31
      WHEN policy_engine_hash < DECODE('fffffffffffffea0', 'hex') THEN 32
      WHEN policy_engine_hash < DECODE('ffffffffffffff90', 'hex') THEN 33
      WHEN policy_engine_hash < DECODE('ffffffffffffffe0', 'hex') THEN 34
      WHEN policy_engine_hash < DECODE('fffffffffffffff0', 'hex') THEN 35
      ELSE NULL
    END AS policy_engine_n
  FROM drawn
)
SELECT "age", "born", policy_engine_n AS "n"
FROM noised
WHERE policy_engine_n >= 3
ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
