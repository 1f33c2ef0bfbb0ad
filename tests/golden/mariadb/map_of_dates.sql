-- policy: golden
-- digest: sha256:1fe3574cebecd38fa3dbbe9c232a096e118e9887f9233556899f41f800bc6415
WITH sampled AS (
  SELECT `born`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`, `born` IS NULL, `born`) AS policy_engine_rank
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_nopad_bin < '400000000000000'
), counted AS (
  SELECT `born`, COUNT(*) AS policy_engine_count
  FROM sampled
  WHERE policy_engine_rank = 1
  GROUP BY `born`
), recoded AS (
  SELECT
    CASE
      WHEN `born` IS NULL THEN NULL
      WHEN `born` IN (CAST('1970-01-01' AS DATE)) THEN 'epoch' COLLATE utf8mb4_nopad_bin
      ELSE 'other' COLLATE utf8mb4_nopad_bin
    END AS `born`,
    policy_engine_count
  FROM counted
)
SELECT `born`, CAST(SUM(policy_engine_count) AS SIGNED) AS `n`
FROM recoded
GROUP BY `born`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `born` IS NULL, `born`
