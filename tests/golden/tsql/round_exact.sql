-- policy: golden
-- digest: sha256:a0a85eacf472fa299d977f320e2693aef00878594cb87d854d8c073b289d0701
WITH sampled AS (
  SELECT [age], [income],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income]) AS policy_engine_rank
  FROM [main].[people]
  WHERE HASHBYTES('SHA2_256', CAST((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), recoded AS (
  SELECT
    CASE
      WHEN ABS(CAST([age] AS FLOAT(53))) < 1 THEN 0
      WHEN ABS(CAST([age] AS FLOAT(53))) < 1000000000000000000 THEN CAST(FLOOR(ABS(CAST([age] AS FLOAT(53))) / 10) + CASE WHEN ABS(CAST([age] AS FLOAT(53))) / 10 - FLOOR(ABS(CAST([age] AS FLOAT(53))) / 10) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST([age] AS FLOAT(53)) < 0 THEN -10 ELSE 10 END
    END AS [age],
    CAST(CASE
      WHEN ABS(CAST([income] AS FLOAT(53))) < 0.025 THEN 0
      WHEN ABS(CAST([income] AS FLOAT(53))) < 1000000000000000 THEN CAST(FLOOR(ABS(CAST([income] AS FLOAT(53))) / 0.25) + CASE WHEN ABS(CAST([income] AS FLOAT(53))) / 0.25 - FLOOR(ABS(CAST([income] AS FLOAT(53))) / 0.25) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST([income] AS FLOAT(53)) < 0 THEN -0.25 ELSE 0.25 END
    END AS DECIMAL(18, 2)) AS [income]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [age], [income], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [age], [income]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income]
