-- policy: golden
-- digest: sha256:996fa32fa0e5c0375be9bcef0797d0242df666eb30f0bf021e9fafa4634b9cb7
WITH sampled AS (
  SELECT `it"s`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CAST(`it"s` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IS NULL, CAST(`it"s` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), recoded AS (
  SELECT
    CAST(`it"s` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin AS `it"s`
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT `it"s`, COUNT(*) AS `order by`
FROM recoded
GROUP BY `it"s`
HAVING COUNT(*) >= 5
ORDER BY CAST(`it"s` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IS NULL, CAST(`it"s` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin
