-- policy: golden
-- digest: sha256:6d917072eba2fa0e97593b45196a00b82520d265f44848b17e516e469256ba71
WITH sampled AS (
  SELECT "born", "moved",
    ROW_NUMBER() OVER (PARTITION BY "person" ORDER BY "age" NULLS LAST, "born" NULLS LAST, "moved" NULLS LAST) AS policy_engine_rank
  FROM "main"."people"
  WHERE lower(hex(SHA256({salt:String} || ':u:' || toString("person")))) < '400000000000000'
), recoded AS (
  SELECT
    CASE
      WHEN "born" IS NULL THEN NULL
      WHEN "born" < toDate32('1970-01-01') THEN '<1970-01-01'
      ELSE '>=1970-01-01'
    END AS "born",
    CASE
      WHEN toTimeZone("moved", 'UTC') IS NULL THEN NULL
      WHEN toTimeZone("moved", 'UTC') < toDateTime64('2000-01-01 00:00:00', 6, 'UTC') THEN '<2000-01-01'
      ELSE '>=2000-01-01'
    END AS "moved"
  FROM sampled
  WHERE policy_engine_rank = 1
)
SELECT "born", "moved", toInt64(COUNT(*)) AS "n"
FROM recoded
GROUP BY "born", "moved"
HAVING toInt64(COUNT(*)) >= 5
ORDER BY "born" NULLS LAST, "moved" NULLS LAST
