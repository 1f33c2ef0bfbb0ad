-- policy: golden
-- digest: sha256:a3481829c2fe1185c2a5ffe837f6074ef16fa4224e325e805e8180fd64a58cb3
WITH sampled AS (
  SELECT [age], [income], [weight],
    ROW_NUMBER() OVER (PARTITION BY [person] ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income], CASE WHEN [weight] IS NULL THEN 1 ELSE 0 END, [weight]) AS policy_engine_rank
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
    END AS DECIMAL(18, 2)) AS [income],
    CAST(CASE
      WHEN ABS(CAST([weight] AS FLOAT(53))) < 0.5 THEN 0
      WHEN ABS(CAST([weight] AS FLOAT(53))) < 100000000000000000 THEN CAST(FLOOR(ABS(CAST([weight] AS FLOAT(53))) / 5) + CASE WHEN ABS(CAST([weight] AS FLOAT(53))) / 5 - FLOOR(ABS(CAST([weight] AS FLOAT(53))) / 5) >= 0.5 THEN 1 ELSE 0 END AS BIGINT) * CASE WHEN CAST([weight] AS FLOAT(53)) < 0 THEN -5 ELSE 5 END
    END AS DECIMAL(18, 0)) AS [weight]
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT [age], [income], [weight], COUNT_BIG(*) AS [n]
FROM recoded
GROUP BY [age], [income], [weight]
HAVING COUNT_BIG(*) >= 5
ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age], CASE WHEN [income] IS NULL THEN 1 ELSE 0 END, [income], CASE WHEN [weight] IS NULL THEN 1 ELSE 0 END, [weight]
