-- policy: golden
-- digest: sha256:4e5f834cbfbb1d9227c73118105da5c40051624e5c23ac9a01e756483997a73b
WITH sampled AS (
  SELECT DISTINCT `age`, `person`
  FROM `main`.`people`
  WHERE SHA2(CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)), 256) COLLATE utf8mb4_0900_bin < '400000000000000'
), placed AS (
  SELECT `age`, `person`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY `age` IS NULL, `age`) AS policy_engine_place
  FROM sampled
), chosen AS (
  SELECT `age`,
    ROW_NUMBER() OVER (PARTITION BY `person` ORDER BY UNHEX(SHA2(CONCAT(@policy_engine_salt, ':o:', CAST(`person` AS CHAR CHARACTER SET utf8mb4), ':', CAST(policy_engine_place AS CHAR CHARACTER SET utf8mb4)), 256)), policy_engine_place) AS policy_engine_rank
  FROM placed
), counted AS (
  SELECT `age`, COUNT(*) AS policy_engine_count
  FROM chosen
  WHERE policy_engine_rank = 1
  GROUP BY `age`
), recoded AS (
  SELECT
    CASE
      WHEN `age` IS NULL THEN NULL
      WHEN `age` < 18 THEN '<18' COLLATE utf8mb4_0900_bin
      ELSE '>=18' COLLATE utf8mb4_0900_bin
    END AS `age`,
    policy_engine_count
  FROM counted
)
SELECT `age`, CAST(SUM(policy_engine_count) AS SIGNED) AS `n`
FROM recoded
GROUP BY `age`
HAVING SUM(policy_engine_count) >= 5
ORDER BY `age` IS NULL, `age`
