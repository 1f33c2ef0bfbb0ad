-- policy: golden
-- digest: sha256:f380013aaa1cbe5d7916c6cd8aa591173b966c97db44bfdd60f1c306a723a3a4
WITH people AS NOT MATERIALIZED (
  SELECT "age", "born", "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
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
    END AS "born",
    CASE
      WHEN "income" IS NULL OR "income" = CAST('NaN' AS DECIMAL) THEN NULL
      WHEN CAST("income" AS DOUBLE PRECISION) <= 0 THEN 0
      WHEN CAST("income" AS DOUBLE PRECISION) >= 40 THEN 4
      WHEN ABS(CAST("income" AS DOUBLE PRECISION)) < 1 THEN 0
      ELSE CAST(FLOOR(ABS(CAST("income" AS DOUBLE PRECISION)) / 10) + CASE WHEN ABS(CAST("income" AS DOUBLE PRECISION)) / 10 - FLOOR(ABS(CAST("income" AS DOUBLE PRECISION)) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE PRECISION) < 0 THEN -1 ELSE 1 END
    END AS "policy_engine_value_1",
    CASE
      WHEN "age" IS NULL THEN 0
      WHEN "age" <= 0 THEN 0
      WHEN "age" >= 100 THEN 100
      ELSE CAST("age" AS BIGINT)
    END AS "policy_engine_value_2"
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS NOT MATERIALIZED (
  SELECT "age", "born", COUNT(*) AS policy_engine_people,
    COUNT("policy_engine_value_1") AS "policy_engine_total_1",
    COALESCE(CAST(SUM("policy_engine_value_1") AS BIGINT), 0) - 2 * COUNT("policy_engine_value_1") AS "policy_engine_total_2",
    CAST(SUM("policy_engine_value_2") AS BIGINT) - 50 * COUNT(*) AS "policy_engine_total_3"
  FROM recoded
  GROUP BY "age", "born"
), drawn AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people, "policy_engine_total_1", "policy_engine_total_2", "policy_engine_total_3",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:0:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS policy_engine_hash,
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:1:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_1",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:2:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_2",
    pg_catalog.SHA256(CONVERT_TO(CURRENT_SETTING('policy_engine.salt') || ':g:3:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST) AS TEXT), 'UTF8')) AS "policy_engine_hash_3"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < DECODE('25834d20754bfd80', 'hex') THEN -2
      WHEN policy_engine_hash < DECODE('5a883ff6160717f0', 'hex') THEN -1
      WHEN policy_engine_hash < DECODE('a577c009e9f8e810', 'hex') THEN 0
      WHEN policy_engine_hash < DECODE('da7cb2df8ab40280', 'hex') THEN 1
      WHEN policy_engine_hash IS NOT NULL THEN 2
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < DECODE('049b5062c0e87780', 'hex') THEN -9
      WHEN "policy_engine_hash_1" < DECODE('0a4e20bb513723c0', 'hex') THEN -8
      WHEN "policy_engine_hash_1" < DECODE('115aaeffe2470f70', 'hex') THEN -7
      WHEN "policy_engine_hash_1" < DECODE('1a12ec39063da4d0', 'hex') THEN -6
      WHEN "policy_engine_hash_1" < DECODE('24dc3508ed45a420', 'hex') THEN -5
      WHEN "policy_engine_hash_1" < DECODE('3233ebf2eed79e50', 'hex') THEN -4
      WHEN "policy_engine_hash_1" < DECODE('42b52ae443bb55d0', 'hex') THEN -3
      WHEN "policy_engine_hash_1" < DECODE('571fce2d068b3680', 'hex') THEN -2
      WHEN "policy_engine_hash_1" < DECODE('70612ac81c4a3760', 'hex') THEN -1
      WHEN "policy_engine_hash_1" < DECODE('8f9ed537e3b5c8a0', 'hex') THEN 0
      WHEN "policy_engine_hash_1" < DECODE('a8e031d2f974c980', 'hex') THEN 1
      WHEN "policy_engine_hash_1" < DECODE('bd4ad51bbc44aa30', 'hex') THEN 2
      WHEN "policy_engine_hash_1" < DECODE('cdcc140d112861b0', 'hex') THEN 3
      WHEN "policy_engine_hash_1" < DECODE('db23caf712ba5be0', 'hex') THEN 4
      WHEN "policy_engine_hash_1" < DECODE('e5ed13c6f9c25b30', 'hex') THEN 5
      WHEN "policy_engine_hash_1" < DECODE('eea551001db8f090', 'hex') THEN 6
      WHEN "policy_engine_hash_1" < DECODE('f5b1df44aec8dc40', 'hex') THEN 7
      WHEN "policy_engine_hash_1" < DECODE('fb64af9d3f178880', 'hex') THEN 8
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 9
    END AS "policy_engine_total_1",
    "policy_engine_total_2" + CASE
      WHEN "policy_engine_hash_2" < DECODE('0834b357a90cfe30', 'hex') THEN -9
      WHEN "policy_engine_hash_2" < DECODE('11551cb8e5930c00', 'hex') THEN -8
      WHEN "policy_engine_hash_2" < DECODE('1b7baedfe620f360', 'hex') THEN -7
      WHEN "policy_engine_hash_2" < DECODE('26c5d4405571c300', 'hex') THEN -6
      WHEN "policy_engine_hash_2" < DECODE('33544443fef2d970', 'hex') THEN -5
      WHEN "policy_engine_hash_2" < DECODE('414b621a16d5ec70', 'hex') THEN -4
      WHEN "policy_engine_hash_2" < DECODE('50d3a629e3ed6590', 'hex') THEN -3
      WHEN "policy_engine_hash_2" < DECODE('621a135a5fb66650', 'hex') THEN -2
      WHEN "policy_engine_hash_2" < DECODE('7550b982aaa463f0', 'hex') THEN -1
      WHEN "policy_engine_hash_2" < DECODE('8aaf467d555b9c10', 'hex') THEN 0
      WHEN "policy_engine_hash_2" < DECODE('9de5eca5a04999b0', 'hex') THEN 1
      WHEN "policy_engine_hash_2" < DECODE('af2c59d61c129a70', 'hex') THEN 2
      WHEN "policy_engine_hash_2" < DECODE('beb49de5e92a1390', 'hex') THEN 3
      WHEN "policy_engine_hash_2" < DECODE('ccabbbbc010d2690', 'hex') THEN 4
      WHEN "policy_engine_hash_2" < DECODE('d93a2bbfaa8e3d00', 'hex') THEN 5
      WHEN "policy_engine_hash_2" < DECODE('e484512019df0ca0', 'hex') THEN 6
      WHEN "policy_engine_hash_2" < DECODE('eeaae3471a6cf400', 'hex') THEN 7
      WHEN "policy_engine_hash_2" < DECODE('f7cb4ca856f301d0', 'hex') THEN 8
      WHEN "policy_engine_hash_2" IS NOT NULL THEN 9
    END AS "policy_engine_total_2",
    "policy_engine_total_3" - "policy_engine_total_3" % 5 + CAST(5 AS BIGINT) * CASE
      WHEN "policy_engine_hash_3" < DECODE('0845673e96485d20', 'hex') THEN -13
      WHEN "policy_engine_hash_3" < DECODE('10b852fb870b24b0', 'hex') THEN -12
      WHEN "policy_engine_hash_3" < DECODE('1959bdb4d29331d0', 'hex') THEN -11
      WHEN "policy_engine_hash_3" < DECODE('222aa74afb5ef140', 'hex') THEN -10
      WHEN "policy_engine_hash_3" < DECODE('2b2c151ea855b810', 'hex') THEN -9
      WHEN "policy_engine_hash_3" < DECODE('345f122eea1185c0', 'hex') THEN -8
      WHEN "policy_engine_hash_3" < DECODE('3dc4af3826bea800', 'hex') THEN -7
      WHEN "policy_engine_hash_3" < DECODE('475e02d3b0260140', 'hex') THEN -6
      WHEN "policy_engine_hash_3" < DECODE('512c2998078a6740', 'hex') THEN -5
      WHEN "policy_engine_hash_3" < DECODE('5b304639d315b180', 'hex') THEN -4
      WHEN "policy_engine_hash_3" < DECODE('656b81ad88a69f20', 'hex') THEN -3
      WHEN "policy_engine_hash_3" < DECODE('6fdf0b49d1e5bd70', 'hex') THEN -2
      WHEN "policy_engine_hash_3" < DECODE('7a8c18eaad9ced90', 'hex') THEN -1
      WHEN "policy_engine_hash_3" < DECODE('8573e71552631270', 'hex') THEN 0
      WHEN "policy_engine_hash_3" < DECODE('9020f4b62e1a4290', 'hex') THEN 1
      WHEN "policy_engine_hash_3" < DECODE('9a947e52775960e0', 'hex') THEN 2
      WHEN "policy_engine_hash_3" < DECODE('a4cfb9c62cea4e80', 'hex') THEN 3
      WHEN "policy_engine_hash_3" < DECODE('aed3d667f87598c0', 'hex') THEN 4
      WHEN "policy_engine_hash_3" < DECODE('b8a1fd2c4fd9fec0', 'hex') THEN 5
      WHEN "policy_engine_hash_3" < DECODE('c23b50c7d9415800', 'hex') THEN 6
      WHEN "policy_engine_hash_3" < DECODE('cba0edd115ee7a40', 'hex') THEN 7
      WHEN "policy_engine_hash_3" < DECODE('d4d3eae157aa47f0', 'hex') THEN 8
      WHEN "policy_engine_hash_3" < DECODE('ddd558b504a10ec0', 'hex') THEN 9
      WHEN "policy_engine_hash_3" < DECODE('e6a6424b2d6cce30', 'hex') THEN 10
      WHEN "policy_engine_hash_3" < DECODE('ef47ad0478f4db50', 'hex') THEN 11
      WHEN "policy_engine_hash_3" < DECODE('f7ba98c169b7a2e0', 'hex') THEN 12
      WHEN "policy_engine_hash_3" IS NOT NULL THEN 13
    END AS "policy_engine_total_3"
  FROM drawn
), bounded AS NOT MATERIALIZED (
  SELECT "age", "born", policy_engine_n, "policy_engine_total_1", "policy_engine_total_2", "policy_engine_total_3",
    CASE WHEN "policy_engine_total_1" < 1 THEN NULL WHEN "policy_engine_total_2" + 2 * "policy_engine_total_1" < 0 THEN 0 WHEN "policy_engine_total_2" + 2 * "policy_engine_total_1" > 4 * "policy_engine_total_1" THEN 4 * "policy_engine_total_1" ELSE "policy_engine_total_2" + 2 * "policy_engine_total_1" END AS "policy_engine_above_1",
    CASE WHEN "policy_engine_total_1" < 1 THEN 1 ELSE "policy_engine_total_1" END AS "policy_engine_divisor_1"
  FROM noised
)
SELECT "age", "born", policy_engine_n AS "n",
  (2 * "policy_engine_above_1" + "policy_engine_divisor_1") / (2 * "policy_engine_divisor_1") * 10 AS "pay",
  ("policy_engine_total_3" + 50 * "policy_engine_n") AS "years"
FROM bounded
WHERE policy_engine_n >= 3
ORDER BY "age" COLLATE "C" NULLS LAST, "born" COLLATE "C" NULLS LAST
