-- policy: golden
-- digest: sha256:02ef73d67bb6595769d00c722634df80f5c5ee7a381acafef56dd3d21933487a
WITH `sampled` AS (
  SELECT
    `seen`,
    `moved`,
    ROW_NUMBER() OVER (
      PARTITION BY `person`
      ORDER BY `age` IS NULL, `age` ASC, `seen` IS NULL, `seen` ASC, `moved` IS NULL, `moved` ASC
    ) AS `policy_engine_rank`
  FROM `main`.`people`
  WHERE
    SHA2(
      CONCAT(@policy_engine_salt, ':u:', CAST(`person` AS CHAR CHARACTER SET utf8mb4)),
      256
    ) COLLATE utf8mb4_nopad_bin < '400000000000000'
), `recoded` AS (
  SELECT
    CASE
      WHEN `seen` BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)
      THEN CAST(DATE(`seen`) AS DATETIME(6))
    END AS `seen`,
    CASE
      WHEN DATE_ADD(
        CAST('1970-01-01 00:00:00' AS DATETIME(6)),
        INTERVAL (
          NULLIF(UNIX_TIMESTAMP(`moved`), 0)
        ) SECOND
      ) BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)
      THEN CAST(DATE_SUB(
        DATE(
          DATE_ADD(
            CAST('1970-01-01 00:00:00' AS DATETIME(6)),
            INTERVAL (
              NULLIF(UNIX_TIMESTAMP(`moved`), 0)
            ) SECOND
          )
        ),
        INTERVAL (
          DAYOFYEAR(
            DATE_ADD(
              CAST('1970-01-01 00:00:00' AS DATETIME(6)),
              INTERVAL (
                NULLIF(UNIX_TIMESTAMP(`moved`), 0)
              ) SECOND
            )
          ) - 1
        ) DAY
      ) AS DATETIME(6))
    END AS `moved`
  FROM `sampled`
  WHERE
    `policy_engine_rank` = 1
)
SELECT
  `seen`,
  `moved`,
  COUNT(*) AS `n`
FROM `recoded`
GROUP BY
  `seen`,
  `moved`
HAVING
  COUNT(*) >= 5
ORDER BY
  `seen` IS NULL,
  `seen` ASC,
  `moved` IS NULL,
  `moved` ASC
