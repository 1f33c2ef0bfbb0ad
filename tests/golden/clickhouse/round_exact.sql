-- policy: golden
-- digest: sha256:26c4f5a8aecfea04f60dfecd8f2523e1488bc82d4a7a9d376482cb2e15d651d2
WITH "sampled" AS (
  SELECT
    "age",
    "income",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" ASC, "income" ASC) AS "policy_engine_rank"
  FROM "main"."people"
  WHERE
    LOWER(HEX(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), "recoded" AS (
  SELECT
    CASE
      WHEN ABS(toFloat64("age")) < 1000000000000000000
      THEN toInt64(
        CASE
          WHEN abs(toFloat64("age")) < 1000000000000000000
          THEN CASE
            WHEN ABS(toFloat64("age")) < 1
            THEN 0
            WHEN toFloat64("age") < 0
            THEN -(
              FLOOR(ABS(toFloat64("age")) / 10) + CASE
                WHEN ABS(toFloat64("age")) / 10 - FLOOR(ABS(toFloat64("age")) / 10) >= 0.5
                THEN 1
                ELSE 0
              END
            )
            ELSE FLOOR(ABS(toFloat64("age")) / 10) + CASE
              WHEN ABS(toFloat64("age")) / 10 - FLOOR(ABS(toFloat64("age")) / 10) >= 0.5
              THEN 1
              ELSE 0
            END
          END
          ELSE 0
        END
      ) * 10
    END AS "age",
    CASE
      WHEN ABS(toFloat64("income")) < 1000000000000000
      THEN toInt64(
        CASE
          WHEN abs(toFloat64("income")) < 1000000000000000
          THEN CASE
            WHEN ABS(toFloat64("income")) < 0.025
            THEN 0
            WHEN toFloat64("income") < 0
            THEN -(
              FLOOR(ABS(toFloat64("income")) / 0.25) + CASE
                WHEN ABS(toFloat64("income")) / 0.25 - FLOOR(ABS(toFloat64("income")) / 0.25) >= 0.5
                THEN 1
                ELSE 0
              END
            )
            ELSE FLOOR(ABS(toFloat64("income")) / 0.25) + CASE
              WHEN ABS(toFloat64("income")) / 0.25 - FLOOR(ABS(toFloat64("income")) / 0.25) >= 0.5
              THEN 1
              ELSE 0
            END
          END
          ELSE 0
        END
      ) * toDecimal64('0.25', 2)
    END AS "income"
  FROM "sampled"
  WHERE
    "policy_engine_rank" = 1
)
SELECT
  "age",
  "income",
  toInt64(COUNT(*)) AS "n"
FROM "recoded"
GROUP BY
  "age",
  "income"
HAVING
  COUNT(*) >= 5
ORDER BY
  "age" ASC,
  "income" ASC
