-- policy: golden
-- digest: sha256:3a08c13201ba43f2cc7f6df8f1d985c0ad754ed46afcd9d2d47d4ad0454c5a47
WITH sampled AS (
  SELECT `age`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), counted AS (
  SELECT `age`, COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY `age`
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` IN (-1) THEN NULL
      WHEN `age` IN (17) THEN 'young' COLLATE utf8mb4_nopad_bin
      ELSE 'old' COLLATE utf8mb4_nopad_bin
    END AS `age`,
    policy_engine_count
  FROM counted
)
SELECT `age`, CAST(SUM(policy_engine_count) AS SIGNED) AS `n`
FROM recoded
GROUP BY `age`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `age` IS NULL, `age`
