-- policy: golden
-- digest: sha256:4e5f834cbfbb1d9227c73118105da5c40051624e5c23ac9a01e756483997a73b
WITH sampled AS (
  SELECT DISTINCT [age], [person]
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), placed AS (
  SELECT [age], [person],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age]) AS policy_engine_place
  FROM sampled
), chosen AS (
  SELECT [age],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':o:' + LOWER(CAST([person] AS VARCHAR(40))) + ':' + CAST(policy_engine_place AS VARCHAR(20))), policy_engine_place) AS policy_engine_rank
  FROM placed
), counted AS (
  SELECT [age], COUNT_BIG(*) AS policy_engine_count
  FROM chosen
  WHERE policy_engine_rank = 1
  GROUP BY [age]
), recoded AS (
  SELECT
    CASE
      WHEN [age] IS NULL THEN NULL
      WHEN [age] < 18 THEN '<18' COLLATE Latin1_General_100_BIN2
      ELSE '>=18' COLLATE Latin1_General_100_BIN2
    END AS [age],
    policy_engine_count
  FROM counted
)
SELECT [age], CAST(SUM(policy_engine_count) AS BIGINT) AS [n]
FROM recoded
GROUP BY [age]
HAVING SUM(policy_engine_count) >= 5
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age]
