-- policy: golden
-- digest: sha256:dcb7eba506f104a47838a26fd44f202388efb24cd11f7799643d2cccc3413b9d
WITH people AS NOT MATERIALIZED (
  SELECT "age", "zip"
  FROM READ_PARQUET('people.parquet')
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "age" IS NULL THEN NULL
      WHEN "age" < 18 THEN '<18'
      ELSE '>=18'
    END AS "age",
    LEFT("zip", 2) AS "zip",
    CASE WHEN "age" IS NULL THEN NULL ELSE CAST(GREATEST(0, LEAST(10, "age")) AS BIGINT) END AS "policy_engine_value_1"
  FROM people
), grouped AS NOT MATERIALIZED (
  SELECT CASE GROUPING("age", "zip") WHEN 0 THEN 1 WHEN 1 THEN 2 END AS policy_engine_grouping, "age", "zip", COUNT(*) AS policy_engine_people,
    COALESCE(CAST(SUM("policy_engine_value_1") AS BIGINT), 0) AS "policy_engine_total_1"
  FROM recoded
  GROUP BY GROUPING SETS (("age", "zip"), ("age"))
), drawn AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "zip", policy_engine_people, "policy_engine_total_1",
    SHA256($salt || ':g:0:42ff187d87ee9891ee35e512900e4a25e8e5c704203dd66bee40a4a05953d593:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS policy_engine_hash,
    SHA256($salt || ':g:1:42ff187d87ee9891ee35e512900e4a25e8e5c704203dd66bee40a4a05953d593:' || CAST(ROW_NUMBER() OVER (ORDER BY policy_engine_grouping, "age" NULLS LAST, "zip" NULLS LAST) AS VARCHAR)) AS "policy_engine_hash_1"
  FROM grouped
), noised AS NOT MATERIALIZED (
  SELECT policy_engine_grouping, "age", "zip", policy_engine_people + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN policy_engine_hash < '07abea24d20712b' THEN -5
      WHEN policy_engine_hash < '131dbb20854e4ff' THEN -4
      WHEN policy_engine_hash < '243080dafd0eb65' THEN -3
      WHEN policy_engine_hash < '3da8edf50f470dd' THEN -2
      WHEN policy_engine_hash < '63a843284c207df' THEN -1
      WHEN policy_engine_hash < '9c57bcd7b3df821' THEN 0
      WHEN policy_engine_hash < 'c257120af0b8f23' THEN 1
      WHEN policy_engine_hash < 'dbcf7f2502f149b' THEN 2
      WHEN policy_engine_hash < 'ece244df7ab1b01' THEN 3
      WHEN policy_engine_hash < 'f85415db2df8ed5' THEN 4
      WHEN policy_engine_hash IS NOT NULL THEN 5
    END ELSE CASE
      WHEN policy_engine_hash < '07068856842f719' THEN -2
      WHEN policy_engine_hash < '29d2b903486a583' THEN -1
      WHEN policy_engine_hash < 'd62d46fcb795a7d' THEN 0
      WHEN policy_engine_hash < 'f8f977a97bd08e7' THEN 1
      WHEN policy_engine_hash IS NOT NULL THEN 2
    END END AS policy_engine_n,
    "policy_engine_total_1" + CASE WHEN policy_engine_grouping = 2 THEN CASE
      WHEN "policy_engine_hash_1" < '07dddd9d29b8761' THEN -55 + LEN(LIST_FILTER(STRING_SPLIT('00a7c0e76250265 015636adc24844d 020ba5f66a98c9f 02c856231f13167 038c9170321d045 0458a511b990c3b 052ce151ee86ada 060999b0c3fc489 06ef2504c0c6065', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < '138242edfdca412' THEN -45 + LEN(LIST_FILTER(STRING_SPLIT('08d621658979eaf 09d8520aa3f7294 0ae4d520e404bd5 0bfc144c524b676 0d1e7d6a2538c47 0e4c82bbfa4e466 0f869b14c9cfe97 10cd4207a6821eb 1220f8185bdb644', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < '24bd0fc07cf5445' THEN -35 + LEN(LIST_FILTER(STRING_SPLIT('14f1ad877df41cd 166fc8725b1d029 17fd2a03803c1a1 199a6e92699cd14 1b4838b6a751b16 1d073187d52c002 1ed808e02162fa1 20bb75a17c17059 22b235fd8ae91d3', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < '3e3cc55ad0be7bd' THEN -25 + LEN(LIST_FILTER(STRING_SPLIT('26dcd09edca0900 29124e867dd89be 2b5e67f2a89b999 2dc20443a0e609c 303e1419ae76138 32d391b3c834e0d 358381520884f2f 384ef19c1131906 3b36fc0b8747dde', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < '63f95fcc00029e0' THEN -15 + LEN(LIST_FILTER(STRING_SPLIT('41617df83f7d440 44a6627dd714ac2 480cbc2ddc440b4 4b95e1745f50469 4f43366df421f6a 53162d73cd2baf9 571047ad70378b9 5b3315a83e6f3b1 5f8037f50b3c8fd', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < '975fb048f2d5e66' THEN -5 + LEN(LIST_FILTER(STRING_SPLIT('68a04fb70d2a19a 6d76dc432b8f7f6 727eecb8b40fe3a 77ba7bdb15bafb9 7d2b98b0361739c 82d4674fc9e8c64 88458424ea45047 8d8113474bf01c6 928923bcd47080a', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < 'be9e8207c082bc0' THEN 5 + LEN(LIST_FILTER(STRING_SPLIT('9c06a033fffd620 a07fc80af4c3703 a4ccea57c190c4f a8efb8528fc8747 ace9d28c32d4507 b0bcc9920bde096 b46a1e8ba0afb97 b7f343d223bbf4c bb599d8228eb53e', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < 'd9232f61235f700' THEN 15 + LEN(LIST_FILTER(STRING_SPLIT('c1c33aa52f41843 c4c903f478b8222 c7b10e63eece6fa ca7c7eadf77b0d1 cd2c6e4c37cb1f3 cfc1ebe65189ec8 d23dfbbc5f19f64 d4a1980d5764667 d6edb1798227642', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < 'eb0e5278820be33' THEN 25 + LEN(LIST_FILTER(STRING_SPLIT('db42f03f830abbb dd4dca027516e2d df448a5e83e8fa7 e127f71fde9d05f e2f8ce782ad3ffe e4b7c74958ae4ea e665916d96632ec e802d5fc7fc3e5f e990378da4e2fd7', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      WHEN "policy_engine_hash_1" < 'f729de9a7686151' THEN 35 + LEN(LIST_FILTER(STRING_SPLIT('ec7dbd120235bee eddf07e7a4249bc ef32bdf8597de15 f07964eb3630169 f1b37d4405b1b9a f2e18295dac73b9 f403ebb3adb498a f51b2adf1bfb42b f627adf55c08d6c', ' '), LAMBDA entry: entry <= "policy_engine_hash_1"))
      ELSE CASE
      WHEN "policy_engine_hash_1" < 'f8222262d64789f' THEN 45
      WHEN "policy_engine_hash_1" < 'f910dafb3f39f9b' THEN 46
      WHEN "policy_engine_hash_1" < 'f9f6664f3c03b77' THEN 47
      WHEN "policy_engine_hash_1" < 'fad31eae1179526' THEN 48
      WHEN "policy_engine_hash_1" < 'fba75aee466f3c5' THEN 49
      WHEN "policy_engine_hash_1" < 'fc736e8fcde2fbb' THEN 50
      WHEN "policy_engine_hash_1" < 'fd37a9dce0ece99' THEN 51
      WHEN "policy_engine_hash_1" < 'fdf45a099567361' THEN 52
      WHEN "policy_engine_hash_1" < 'fea9c9523db7bb3' THEN 53
      WHEN "policy_engine_hash_1" < 'ff583f189dafd9b' THEN 54
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 55
    END
    END ELSE CASE
      WHEN "policy_engine_hash_1" < '016ee08c120aee6' THEN -17
      WHEN "policy_engine_hash_1" < '031d69548aa781f' THEN -16
      WHEN "policy_engine_hash_1" < '0516a5ec6184b74' THEN -15
      WHEN "policy_engine_hash_1" < '07678c83f4b342b' THEN -14
      WHEN "policy_engine_hash_1" < '0a1f53098c4bd6f' THEN -13
      WHEN "policy_engine_hash_1" < '0d4fd30f1b0b7be' THEN -12
      WHEN "policy_engine_hash_1" < '110dff0551e4e66' THEN -11
      WHEN "policy_engine_hash_1" < '15726bcdf30f853' THEN -10
      WHEN "policy_engine_hash_1" < '1a99f22ce832cf9' THEN -9
      WHEN "policy_engine_hash_1" < '20a66c3c644bfa0' THEN -8
      WHEN "policy_engine_hash_1" < '27bf93c0526ebfa' THEN -7
      WHEN "policy_engine_hash_1" < '3014070d36c61f9' THEN -6
      WHEN "policy_engine_hash_1" < '39da7b340123413' THEN -5
      WHEN "policy_engine_hash_1" < '4553234d9fdf812' THEN -4
      WHEN "policy_engine_hash_1" < '52c9561e077814d' THEN -3
      WHEN "policy_engine_hash_1" < '62957cdfd27f90b' THEN -2
      WHEN "policy_engine_hash_1" < '751f57ea174b8f7' THEN -1
      WHEN "policy_engine_hash_1" < '8ae0a815e8b4709' THEN 0
      WHEN "policy_engine_hash_1" < '9d6a83202d806f5' THEN 1
      WHEN "policy_engine_hash_1" < 'ad36a9e1f887eb3' THEN 2
      WHEN "policy_engine_hash_1" < 'baacdcb260207ee' THEN 3
      WHEN "policy_engine_hash_1" < 'c62584cbfedcbed' THEN 4
      WHEN "policy_engine_hash_1" < 'cfebf8f2c939e07' THEN 5
      WHEN "policy_engine_hash_1" < 'd8406c3fad91406' THEN 6
      WHEN "policy_engine_hash_1" < 'df5993c39bb4060' THEN 7
      WHEN "policy_engine_hash_1" < 'e5660dd317cd307' THEN 8
      WHEN "policy_engine_hash_1" < 'ea8d94320cf07ad' THEN 9
      WHEN "policy_engine_hash_1" < 'eef200faae1b19a' THEN 10
      WHEN "policy_engine_hash_1" < 'f2b02cf0e4f4842' THEN 11
      WHEN "policy_engine_hash_1" < 'f5e0acf673b4291' THEN 12
      WHEN "policy_engine_hash_1" < 'f898737c0b4cbd5' THEN 13
      WHEN "policy_engine_hash_1" < 'fae95a139e7b48c' THEN 14
      WHEN "policy_engine_hash_1" < 'fce296ab75587e1' THEN 15
      WHEN "policy_engine_hash_1" < 'fe911f73edf511a' THEN 16
      WHEN "policy_engine_hash_1" IS NOT NULL THEN 17
    END END AS "policy_engine_total_1"
  FROM drawn
)
SELECT CAST(policy_engine_grouping AS BIGINT) AS "grouping", "age", "zip", policy_engine_n AS "n",
  "policy_engine_total_1" AS "years"
FROM noised
WHERE policy_engine_n >= CASE WHEN policy_engine_grouping = 2 THEN 6 ELSE 3 END
ORDER BY policy_engine_grouping, "age" NULLS LAST, "zip" NULLS LAST
