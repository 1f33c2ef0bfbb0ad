-- policy: golden
-- digest: sha256:f380013aaa1cbe5d7916c6cd8aa591173b966c97db44bfdd60f1c306a723a3a4
WITH people AS (
  SELECT "age", "born", "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "income" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE "person" IS NOT NULL
), recoded AS (
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
      WHEN "income" IS NULL THEN NULL
      WHEN CAST("income" AS DOUBLE) <= 0 THEN 0
      WHEN CAST("income" AS DOUBLE) >= 40 THEN 4
      WHEN ABS(CAST("income" AS DOUBLE)) < 1 THEN 0
      ELSE TRY_CAST(FLOOR(ABS(CAST("income" AS DOUBLE)) / 10) + CASE WHEN ABS(CAST("income" AS DOUBLE)) / 10 - FLOOR(ABS(CAST("income" AS DOUBLE)) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST("income" AS DOUBLE) < 0 THEN -1 ELSE 1 END
    END AS "policy_engine_value_1",
    CASE
      WHEN "age" IS NULL THEN 0
      WHEN "age" <= 0 THEN 0
      WHEN "age" >= 100 THEN 100
      ELSE CAST("age" AS BIGINT)
    END AS "policy_engine_value_2"
  FROM people
  WHERE policy_engine_rank = 1
), grouped AS (
  SELECT "age", "born", COUNT(*) AS policy_engine_people,
    COUNT("policy_engine_value_1") AS "policy_engine_total_1",
    COALESCE(SUM("policy_engine_value_1"), 0) - 2 * COUNT("policy_engine_value_1") AS "policy_engine_total_2",
    SUM("policy_engine_value_2") - 50 * COUNT(*) AS "policy_engine_total_3"
  FROM recoded
  GROUP BY "age", "born"
), drawn AS (
  SELECT "age", "born", policy_engine_people, "policy_engine_total_1", "policy_engine_total_2", "policy_engine_total_3",
    ENCODE(SHA256($salt || ':g:0:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS VARCHAR)), 'hex') AS policy_engine_hash,
    ENCODE(SHA256($salt || ':g:1:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS VARCHAR)), 'hex') AS "policy_engine_hash_1",
    ENCODE(SHA256($salt || ':g:2:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS VARCHAR)), 'hex') AS "policy_engine_hash_2",
    ENCODE(SHA256($salt || ':g:3:b8d04533735f72a335473f80b46ff76e3215036b501a40fc9129aced4c1af34b:' || CAST(ROW_NUMBER() OVER (ORDER BY "age" NULLS LAST, "born" NULLS LAST) AS VARCHAR)), 'hex') AS "policy_engine_hash_3"
  FROM grouped
), noised AS (
  SELECT "age", "born", policy_engine_people + CASE
      WHEN policy_engine_hash < '25834d20754bfd8' THEN -2
      WHEN policy_engine_hash < '5a883ff6160717f' THEN -1
      WHEN policy_engine_hash < 'a577c009e9f8e81' THEN 0
      WHEN policy_engine_hash < 'da7cb2df8ab4028' THEN 1
      WHEN policy_engine_hash IS NOT NULL THEN 2
    END AS policy_engine_n,
    "policy_engine_total_1" + CASE
      WHEN "policy_engine_hash_1" < '049b5062c0e8778' THEN -9
      WHEN "policy_engine_hash_1" < '0a4e20bb513723c' THEN -8
      WHEN "policy_engine_hash_1" < '115aaeffe2470f7' THEN -7
      WHEN "policy_engine_hash_1" < '1a12ec39063da4d' THEN -6
      WHEN "policy_engine_hash_1" < '24dc3508ed45a42' THEN -5
      WHEN "policy_engine_hash_1" < '3233ebf2eed79e5' THEN -4
      WHEN "policy_engine_hash_1" < '42b52ae443bb55d' THEN -3
      WHEN "policy_engine_hash_1" < '571fce2d068b368' THEN -2
      WHEN "policy_engine_hash_1" < '70612ac81c4a376' THEN -1
      WHEN "policy_engine_hash_1" < '8f9ed537e3b5c8a' THEN 0
      WHEN "policy_engine_hash_1" < 'a8e031d2f974c98' THEN 1
      WHEN "policy_engine_hash_1" < 'bd4ad51bbc44aa3' THEN 2
      WHEN "policy_engine_hash_1" < 'cdcc140d112861b' THEN 3
      WHEN "policy_engine_hash_1" < 'db23caf712ba5be' THEN 4
      WHEN "policy_engine_hash_1" < 'e5ed13c6f9c25b3' THEN 5
      WHEN "policy_engine_hash_1" < 'eea551001db8f09' THEN 6
      WHEN "policy_engine_hash_1" < 'f5b1df44aec8dc4' THEN 7
      WHEN "policy_engine_hash_1" < 'fb64af9d3f17888' THEN 8
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 9
    END AS "policy_engine_total_1",
    "policy_engine_total_2" + CASE
      WHEN "policy_engine_hash_2" < '0834b357a90cfe3' THEN -9
      WHEN "policy_engine_hash_2" < '11551cb8e5930c0' THEN -8
      WHEN "policy_engine_hash_2" < '1b7baedfe620f36' THEN -7
      WHEN "policy_engine_hash_2" < '26c5d4405571c30' THEN -6
      WHEN "policy_engine_hash_2" < '33544443fef2d97' THEN -5
      WHEN "policy_engine_hash_2" < '414b621a16d5ec7' THEN -4
      WHEN "policy_engine_hash_2" < '50d3a629e3ed659' THEN -3
      WHEN "policy_engine_hash_2" < '621a135a5fb6665' THEN -2
      WHEN "policy_engine_hash_2" < '7550b982aaa463f' THEN -1
      WHEN "policy_engine_hash_2" < '8aaf467d555b9c1' THEN 0
      WHEN "policy_engine_hash_2" < '9de5eca5a04999b' THEN 1
      WHEN "policy_engine_hash_2" < 'af2c59d61c129a7' THEN 2
      WHEN "policy_engine_hash_2" < 'beb49de5e92a139' THEN 3
      WHEN "policy_engine_hash_2" < 'ccabbbbc010d269' THEN 4
      WHEN "policy_engine_hash_2" < 'd93a2bbfaa8e3d0' THEN 5
      WHEN "policy_engine_hash_2" < 'e484512019df0ca' THEN 6
      WHEN "policy_engine_hash_2" < 'eeaae3471a6cf40' THEN 7
      WHEN "policy_engine_hash_2" < 'f7cb4ca856f301d' THEN 8
      WHEN "policy_engine_hash_2" IS NOT NULL THEN 9
    END AS "policy_engine_total_2",
    "policy_engine_total_3" - "policy_engine_total_3" % 5 + CAST(5 AS BIGINT) * CASE
      WHEN "policy_engine_hash_3" < '0845673e96485d2' THEN -13
      WHEN "policy_engine_hash_3" < '10b852fb870b24b' THEN -12
      WHEN "policy_engine_hash_3" < '1959bdb4d29331d' THEN -11
      WHEN "policy_engine_hash_3" < '222aa74afb5ef14' THEN -10
      WHEN "policy_engine_hash_3" < '2b2c151ea855b81' THEN -9
      WHEN "policy_engine_hash_3" < '345f122eea1185c' THEN -8
      WHEN "policy_engine_hash_3" < '3dc4af3826bea80' THEN -7
      WHEN "policy_engine_hash_3" < '475e02d3b026014' THEN -6
      WHEN "policy_engine_hash_3" < '512c2998078a674' THEN -5
      WHEN "policy_engine_hash_3" < '5b304639d315b18' THEN -4
      WHEN "policy_engine_hash_3" < '656b81ad88a69f2' THEN -3
      WHEN "policy_engine_hash_3" < '6fdf0b49d1e5bd7' THEN -2
      WHEN "policy_engine_hash_3" < '7a8c18eaad9ced9' THEN -1
      WHEN "policy_engine_hash_3" < '8573e7155263127' THEN 0
      WHEN "policy_engine_hash_3" < '9020f4b62e1a429' THEN 1
      WHEN "policy_engine_hash_3" < '9a947e52775960e' THEN 2
      WHEN "policy_engine_hash_3" < 'a4cfb9c62cea4e8' THEN 3
      WHEN "policy_engine_hash_3" < 'aed3d667f87598c' THEN 4
      WHEN "policy_engine_hash_3" < 'b8a1fd2c4fd9fec' THEN 5
      WHEN "policy_engine_hash_3" < 'c23b50c7d941580' THEN 6
      WHEN "policy_engine_hash_3" < 'cba0edd115ee7a4' THEN 7
      WHEN "policy_engine_hash_3" < 'd4d3eae157aa47f' THEN 8
      WHEN "policy_engine_hash_3" < 'ddd558b504a10ec' THEN 9
      WHEN "policy_engine_hash_3" < 'e6a6424b2d6cce3' THEN 10
      WHEN "policy_engine_hash_3" < 'ef47ad0478f4db5' THEN 11
      WHEN "policy_engine_hash_3" < 'f7ba98c169b7a2e' THEN 12
      WHEN "policy_engine_hash_3" IS NOT NULL THEN 13
    END AS "policy_engine_total_3"
  FROM drawn
), bounded AS (
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
ORDER BY "age" NULLS LAST, "born" NULLS LAST
