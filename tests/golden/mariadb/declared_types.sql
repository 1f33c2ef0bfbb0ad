-- policy: golden
-- digest: sha256:d6d5a25b48808eb4d23c3aa42f3b9e9a3cfa1f8325a9425712f091c53069a811
WITH sampled AS (
  SELECT `zip`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin IS NULL, CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), typed AS (
  SELECT
    CAST(CASE WHEN CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin REGEXP '(?s)^([+-]?[0-9]{1,18})(?!.)' THEN CAST(`zip` AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin END AS SIGNED) AS `zip`
  FROM sampled
  WHERE policy_engine_rank = 1
), recoded AS (
  SELECT
    CASE
      WHEN `zip` IS NULL THEN NULL
      WHEN `zip` < 50000 THEN '<50000' COLLATE utf8mb4_nopad_bin
      ELSE '>=50000' COLLATE utf8mb4_nopad_bin
    END AS `zip`
  FROM typed
)
SELECT `zip`, COUNT(*) AS `n`
FROM recoded
GROUP BY `zip`
HAVING COUNT(*) >= 5
ORDER BY `zip` IS NULL, `zip`
