-- policy: golden
-- digest: sha256:02ef73d67bb6595769d00c722634df80f5c5ee7a381acafef56dd3d21933487a
WITH [sampled] AS (
  SELECT
    [seen],
    [moved],
    ROW_NUMBER() OVER (
      PARTITION BY [person]
      ORDER BY CASE WHEN [age] IS NULL THEN 1 ELSE 0 END, [age] ASC, CASE WHEN [seen] IS NULL THEN 1 ELSE 0 END, [seen] ASC, CASE WHEN [moved] IS NULL THEN 1 ELSE 0 END, [moved] ASC
    ) AS [policy_engine_rank]
  FROM [main].[people]
  WHERE
    HASHBYTES(
      'SHA2_256',
      CAST((
        SELECT
          [salt]
        FROM [policy_engine_salts]
        WHERE
          [release_id] = 'next'
      ) AS VARCHAR(32)) + ':u:' + LOWER(CAST([person] AS VARCHAR(40)))
    ) < CONVERT(VARBINARY(8), '4000000000000000', 2)
), [recoded] AS (
  SELECT
    CASE
      WHEN [seen] BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)
      THEN CAST(CAST([seen] AS DATE) AS DATETIME2)
    END AS [seen],
    CASE
      WHEN CAST([moved] AT TIME ZONE 'UTC' AS DATETIME2) BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)
      THEN CAST(DATEFROMPARTS(YEAR(CAST([moved] AT TIME ZONE 'UTC' AS DATETIME2)), 1, 1) AS DATETIME2)
    END AS [moved]
  FROM [sampled]
  WHERE
    [policy_engine_rank] = 1
)
SELECT
  [seen],
  [moved],
  COUNT_BIG(*) AS [n]
FROM [recoded]
GROUP BY
  [seen],
  [moved]
HAVING
  COUNT_BIG(*) >= 5
ORDER BY
  CASE WHEN [seen] IS NULL THEN 1 ELSE 0 END, [seen] ASC,
  CASE WHEN [moved] IS NULL THEN 1 ELSE 0 END, [moved] ASC
