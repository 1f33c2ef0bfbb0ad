-- policy: golden
-- digest: sha256:93149f503e6d6616097873928d18de1b0c9e6b49ad2004f3045ef22eb311c9dc
WITH sampled AS (
  SELECT [born], [seen],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born], CASE WHEN [seen] IS NULL THEN 1 ELSE 0 END, [seen]) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    CASE WHEN [born] BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN DATEFROMPARTS(YEAR([born]), MONTH([born]), 1) END AS [born],
    CASE WHEN [seen] BETWEEN CAST('0001-01-01 00:00:00' AS DATETIME2) AND CAST('9999-12-31 23:59:59.999999' AS DATETIME2) THEN CAST(DATEFROMPARTS(YEAR([seen]), (MONTH([seen]) - 1) / 3 * 3 + 1, 1) AS DATETIME2) END AS [seen]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [born], [seen], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [born], [seen]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [born] IS NULL THEN 1 ELSE 0 END, [born], CASE WHEN [seen] IS NULL THEN 1 ELSE 0 END, [seen]
