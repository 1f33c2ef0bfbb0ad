-- policy: golden
-- digest: sha256:b07c571d6c79dcdd22084b0225d1043d2a34dc372b5f67e4a2a54a2149c942b7
WITH people AS (
  SELECT `age`, `zip`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IS NULL, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin) AS policy_engine_rank
  FROM `main`.`people`
  WHERE `person` IS NOT NULL
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18' COLLATE utf8mb4_nopad_bin
      WHEN `age` < 65 THEN '[18,65)' COLLATE utf8mb4_nopad_bin
      ELSE '>=65' COLLATE utf8mb4_nopad_bin
    END AS `age`,
    CASE
      WHEN CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IS NULL THEN NULL
      WHEN CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IN ('10115') THEN 'Berlin' COLLATE utf8mb4_nopad_bin
      ELSE 'elsewhere' COLLATE utf8mb4_nopad_bin
    END AS `zip`
  FROM people
  WHERE policy_engine_rank = 1
), domain AS (
  SELECT `age`, `zip`
  FROM
    (SELECT '<18' COLLATE utf8mb4_nopad_bin AS `age` UNION ALL SELECT '[18,65)' COLLATE utf8mb4_nopad_bin AS `age` UNION ALL SELECT '>=65' COLLATE utf8mb4_nopad_bin AS `age` UNION ALL SELECT CAST(NULL AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin AS `age`) AS `policy_engine_values_1` CROSS JOIN
    (SELECT 'Berlin' COLLATE utf8mb4_nopad_bin AS `zip` UNION ALL SELECT 'elsewhere' COLLATE utf8mb4_nopad_bin AS `zip` UNION ALL SELECT CAST(NULL AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin AS `zip`) AS `policy_engine_values_2`
), tuples AS (
  SELECT `age`, `zip`, MAX(policy_engine_there) AS policy_engine_there
  FROM (
    SELECT `age`, `zip`, 0 AS policy_engine_there FROM domain
    UNION ALL
    SELECT `age`, `zip`, 1 AS policy_engine_there FROM recoded
  ) AS policy_engine_tuples
  GROUP BY `age`, `zip`
), drawn AS (
  SELECT `age`, `zip`, policy_engine_there,
    SHA2(CONCAT(@policy_engine_salt, ':g:1:ce4e52cb0c4ff90468690ffe3d1f7e9faf918d077a9298224c0c5c26fe472932:', CAST(ROW_NUMBER() OVER (ORDER BY `age` IS NULL, `age`, `zip` IS NULL, `zip`) AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin AS policy_engine_hash
  FROM tuples
)
SELECT `age`, `zip`
FROM drawn
WHERE policy_engine_hash < '44d9585152ea194' OR policy_engine_there = 1 AND policy_engine_hash < 'bb26a7aead15e6c'
ORDER BY `age` IS NULL, `age`, `zip` IS NULL, `zip`
