--- 001 plain tablesample percent
-- Plain release: Bernoulli rows, group by every released column, count(*) >= k. Sound: [EXACT] 1-3 directly.
select zip, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by zip, sex
having count(*) >= 20
order by zip, sex

--- 002 percent sign
-- The same with a percent sign. Sound: same mechanism.
SELECT zip, sex, COUNT(*) AS n
FROM people TABLESAMPLE BERNOULLI(10%)
GROUP BY 1, 2
HAVING COUNT(*) >= 20
ORDER BY 1, 2;

--- 003 size before method
-- DuckDB's other spelling: size first, method in brackets. Sound: Bernoulli.
SELECT left(zip, 3) AS zip3, sex, COUNT(*) AS n
FROM people TABLESAMPLE 10% (BERNOULLI)
GROUP BY zip3, sex
HAVING n >= 20
ORDER BY zip3, sex

--- 004 size before method word
-- 'percent' as a word, size first. Sound.
select race, sex, count(*) n from people tablesample 5 percent (bernoulli) group by race, sex having count(*) >= 25 order by race, sex

--- 005 using sample end
-- USING SAMPLE behind HAVING is drawn right after FROM, before WHERE and GROUP BY. Sound: Bernoulli before grouping.
SELECT zip, sex, count(*) AS n
FROM people
GROUP BY zip, sex
HAVING count(*) >= 20
USING SAMPLE 10% (bernoulli)
ORDER BY zip, sex

--- 006 using sample in cte
-- USING SAMPLE in a CTE over the base table. Sound.
WITH s AS (
    SELECT * FROM people USING SAMPLE 10 PERCENT (bernoulli)
)
SELECT race, education, count(*) AS cnt
FROM s
GROUP BY race, education
HAVING count(*) >= 30
ORDER BY race, education

--- 007 using sample method first
-- USING SAMPLE bernoulli(…). Sound.
with sampled as (select age, sex, race from people using sample bernoulli(10 percent))
select
    case when age < 30 then 'under 30' when age < 60 then '30-59' when age >= 60 then '60+' else 'unknown' end as age_band,
    sex,
    race,
    count(*) as people_count
from sampled
group by age_band, sex, race
having people_count >= 20
order by age_band, sex, race

--- 008 using sample subselect
-- USING SAMPLE in a sub-select. Sound.
select t.sex, t.native_country, count(1) as n
from (select sex, native_country from people using sample 12.5% (bernoulli)) as t
group by t.sex, t.native_country
having count(1) >= 20
order by t.sex, t.native_country

--- 009 random lt
-- random() predicate on the base table: an independent draw a row. Sound: Bernoulli(0.1).
select zip, sex, count(*) as n
from people
where random() < 0.1
group by zip, sex
having count(*) >= 20
order by zip, sex

--- 010 random flipped
-- constant on the left. Sound: same draw.
select zip, sex, count(*) as n from people where 0.1 > random() group by zip, sex having 20 <= count(*) order by zip, sex

--- 011 random le
-- <= instead of <: the rate is the constant plus at most one step of the generator. Sound.
select zip, sex, count(*) as n from people where random() <= 0.1 group by all having count(*) >= 20 order by all

--- 012 random not ge
-- not (random() >= .1): random() is never NULL, so it is random() < .1. Sound.
SELECT education, sex, COUNT(*) AS n FROM people WHERE NOT (RANDOM() >= .1) GROUP BY education, sex HAVING COUNT(*) >= 20 ORDER BY education, sex

--- 013 random fraction
-- the rate written as a fraction: 1/20 is 0.05 in DuckDB (float division). Sound.
select sex, race, count(*) as n from people where random() < 1.0 / 20 group by sex, race having count(*) > 19 order by sex, race

--- 014 random between
-- between 0 and .05: random() is in [0, 1), so the lower bound says nothing. Sound.
select sex, race, count(*) as n from people where random() between 0 and 0.05 group by sex, race having count(*) > 19 order by sex, race

--- 015 random scaled
-- random() * 100 < 10 is random() < 0.1. Sound.
select sex, race, count(*) as n from people where random() * 100 < 10 group by sex, race having count(*) >= 20 order by sex, race

--- 016 random cast rate
-- rate with a cast. Sound.
select sex, race, count(*) as n from people where random() < 0.1::double group by sex, race having count(*) >= 20 order by sex, race

--- 017 random e notation
-- rate in scientific notation. Sound.
select sex, race, count(*) as n from people where random() < 5e-2 group by sex, race having count(*) >= 20 order by sex, race

--- 018 random brackets
-- superfluous brackets everywhere. Sound.
select (sex) as sex, ((race)) as race, (count(*)) as n from (people) where ((random()) < (0.1)) group by (sex), ((race)) having ((count(*)) >= (20)) order by (sex), race

--- 019 random in cte
-- the draw in a CTE that is read once. Sound.
with sampled as (select sex, race, zip from people where random() < 0.1)
select sex, race, left(zip, 2) as region, count(*) as n
from sampled
group by sex, race, left(zip, 2)
having count(*) >= 20
order by sex, race, region

--- 020 random in materialized cte
-- materialized CTE, read once. Sound.
with sampled as materialized (select sex, race, zip from people where random() < 0.1)
select sex, race, count(*) as n from sampled group by sex, race having count(*) >= 20 order by sex, race

--- 021 keyed param
-- keyed sample by sha256 of a bound secret and the row's own key, as in sampling.md. Sound: PRF(secret, unit) < T.
select zip, sex, count(*) as n
from people
where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999'
group by zip, sex
having count(*) >= 20
order by zip, sex

--- 022 keyed named param
-- the same with a named parameter. Sound.
select left(zip, 3) as zip3, sex, count(*) as n
from people
where sha256($secret || ':u:' || id::varchar) < '0cccccccccccccc'
group by left(zip, 3), sex
having count(*) >= 20
order by zip3, sex

--- 023 keyed getvariable
-- the secret is a session variable. Sound: sampling.md allows getvariable().
select race, sex, count(*) as n
from people
where sha256(getvariable('salt') || ':u:' || cast(id as varchar)) < '1999999999999'
group by race, sex
having count(*) >= 20
order by race, sex

--- 024 keyed secrets relation
-- the secret comes from the secrets relation by one scalar subquery on the release's id. Sound: sampling.md allows exactly this.
select race, sex, count(*) as n
from people
where sha256((select salt from privacy_secrets.salts where release_id = 'adult_public_v1') || ':u:' || cast(id as varchar)) < '1999999999999'
group by race, sex
having count(*) >= 20
order by race, sex

--- 025 keyed flipped
-- bound on the left. Sound.
select race, sex, count(*) as n
from people
where '1999999999999' > sha256(? || ':u:' || cast(id as varchar))
group by race, sex
having count(*) >= 20
order by race, sex

--- 026 keyed row number one
-- a person has many rows: sample persons by key, keep one row a person chosen among that person's own rows. Sound.
with one as (
  select diagnosis, region,
         row_number() over (partition by person_id order by visit_date desc, visit_id) as rn
  from visits
  where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'
)
select diagnosis, region, count(*) as n
from one
where rn = 1
group by diagnosis, region
having count(*) >= 20
order by diagnosis, region

--- 027 keyed qualify
-- the same with QUALIFY on the person's own partition. Sound: one row a person.
with one as (
  select diagnosis, region
  from visits
  where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'
  qualify row_number() over (partition by person_id order by visit_date desc, visit_id) = 1
)
select diagnosis, region, count(*) as n from one group by diagnosis, region having count(*) >= 20 order by diagnosis, region

--- 028 keyed row first then sample
-- one row a person first, then the keyed sample by the person. Sound: the sample is a function of the person alone, both orders are the same set.
with ranked as (
  select person_id, diagnosis, region,
         row_number() over (partition by person_id order by visit_date desc, visit_id desc) as rn
  from visits
), one as (
  select * from ranked where rn = 1
)
select region, diagnosis, count(*) as n
from one
where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'
group by region, diagnosis
having count(*) >= 20
order by region, diagnosis

--- 029 case searched
-- searched CASE with NULL test and ELSE. Sound: a function of the row.
select
  case when age is null then 'unknown'
       when age < 18 then '0-17'
       when age between 18 and 29 then '18-29'
       when age between 30 and 44 then '30-44'
       when age between 45 and 59 then '45-59'
       else '60+' end as age_band,
  sex,
  count(*) as n
from people tablesample bernoulli (10 percent)
group by 1, 2
having count(*) >= 20
order by 1, 2

--- 030 case simple
-- simple CASE. Sound.
select case sex when 'Male' then 'M' when 'Female' then 'F' else 'other' end as gender, race, count(*) as n
from people tablesample bernoulli (10 percent)
group by gender, race
having count(*) >= 20
order by gender, race

--- 031 case no else
-- CASE without ELSE gives NULL, a value of its own. Sound.
select case when age < 30 then 'young' when age < 60 then 'middle' end as age_band, count(*) as n
from people tablesample bernoulli (10 percent)
group by 1
having count(*) >= 20
order by 1 nulls last

--- 032 case nested
-- CASE in CASE. Sound.
select
  case when sex = 'Female'
       then case when age < 40 then 'F<40' else 'F40+' end
       else case when age < 40 then 'M<40' when age >= 40 then 'M40+' else 'M?' end
  end as grp,
  education,
  count(*) as n
from people
where random() < 0.05
group by grp, education
having n >= 20
order by grp, education

--- 033 case in list
-- IN, NOT IN and OR in WHEN. Sound.
select
  case when education in ('Bachelors', 'Masters', 'Doctorate') then 'degree'
       when education not in ('HS-grad', '11th') or education is null then 'some'
       else 'none' end as edu,
  case when native_country = 'United-States' then 'US' else 'elsewhere' end as country,
  count(*) as n
from people tablesample bernoulli (10 percent)
group by edu, country
having count(*) >= 20
order by edu, country

--- 034 case like
-- LIKE, ILIKE in WHEN. Sound.
select
  case when occupation like 'Exec%' then 'exec'
       when occupation ilike '%service' then 'service'
       when occupation not like '%a%' then 'x'
       else 'other' end as occ,
  count(*) as n
from people tablesample bernoulli (10 percent)
group by occ
having count(*) >= 20
order by occ

--- 035 case is distinct
-- IS NOT DISTINCT FROM in WHEN. Sound.
select case when race is not distinct from 'White' then 'A' when race is distinct from 'Black' then 'B' else 'C' end as r, sex, count(*) as n
from people where random() < 0.1
group by r, sex having count(*) >= 20 order by r, sex

--- 036 iff function
-- if() is a CASE. Sound.
select if(age >= 65, 'senior', 'other') as senior, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by senior, sex
having count(*) >= 20
order by senior, sex

--- 037 coalesce nullif
-- coalesce and nullif. Sound.
select coalesce(nullif(trim(race), ''), 'unknown') as race_clean, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by race_clean, sex
having count(*) >= 20
order by race_clean, sex

--- 038 floor bins
create table people (id integer primary key, age integer, sex varchar, zip varchar);
--- schema above
-- bins by floor on an integer column. Sound: function of the row; the schema says integer.
select cast(floor(age / 10) * 10 as integer) as decade, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by decade, sex
having count(*) >= 20
order by decade, sex

--- 039 integer division bins
-- bins by integer division. Sound.
select (age // 10) * 10 as decade, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by decade, sex
having count(*) >= 20
order by decade, sex

--- 040 modulo bins
-- bins by subtraction of the remainder. Sound.
select age - age % 5 as age5, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by age5, sex
having count(*) >= 20
order by age5, sex

--- 041 date trunc year
-- date_trunc to year. Sound.
select date_trunc('year', birth_date) as birth_year, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by birth_year, sex
having count(*) >= 20
order by birth_year, sex

--- 042 extract year
-- extract. Sound.
select extract(year from birth_date) as yob, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by extract(year from birth_date), sex
having count(*) >= 20
order by yob, sex

--- 043 year function
-- year(), quarter(). Sound.
select year(birth_date) as y, quarter(birth_date) as q, count(*) as n
from people tablesample bernoulli (20 percent)
group by y, q
having count(*) >= 20
order by y, q

--- 044 substr prefix
-- prefix by substr. Sound.
select substr(zip, 1, 3) || '**' as zip3, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by zip3, sex
having count(*) >= 20
order by zip3, sex

--- 045 substring from for
-- SQL-standard substring. Sound.
select substring(zip from 1 for 2) as zip2, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by zip2, sex
having count(*) >= 20
order by zip2, sex

--- 046 regexp recode
-- regular expressions with constant patterns. Sound.
select regexp_extract(email, '@(.+)$', 1) as domain,
       case when regexp_matches(zip, '^[0-4]') then 'east' else 'west' end as coast,
       count(*) as n
from people tablesample bernoulli (10 percent)
group by domain, coast
having count(*) >= 20
order by domain, coast

--- 047 try cast recode
-- TRY_CAST of text never fails. Sound.
select try_cast(left(zip, 1) as integer) as zip1, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by zip1, sex
having count(*) >= 20
order by zip1, sex

--- 048 concat operator
-- || of two columns and a constant. Sound.
select sex || '/' || race as sexrace, count(*) as n
from people tablesample bernoulli (10 percent)
group by sexrace
having count(*) >= 20
order by sexrace

--- 049 two level raw first
-- raw-first: group the sampled rows by the raw values, recode, sum the counts. Sound: the sum is the count of the cell.
with raw as (
  select age, zip, sex, count(*) as n
  from people tablesample bernoulli (10 percent)
  group by age, zip, sex
),
recoded as (
  select case when age < 30 then '<30' when age < 60 then '30-59' else '60+' end as age_band,
         left(zip, 3) as zip3, sex, n
  from raw
)
select age_band, zip3, sex, sum(n) as n
from recoded
group by age_band, zip3, sex
having sum(n) >= 20
order by age_band, zip3, sex

--- 050 two level inline
-- the same with a sub-select instead of CTEs. Sound.
select left(r.zip, 2) as region, r.sex, sum(r.c) as n
from (
  select zip, sex, count(*) as c
  from people
  where random() < 0.1
  group by zip, sex
) as r
group by left(r.zip, 2), r.sex
having sum(r.c) >= 20
order by region, r.sex

--- 051 filter beside random
-- filter on constants beside the draw: a recode to nothing. Sound.
select zip, sex, count(*) as n
from people
where active and age >= 18 and random() < 0.1
group by zip, sex
having count(*) >= 20
order by zip, sex

--- 052 filter over tablesample
-- filter above TABLESAMPLE. Sound.
select education, sex, count(*) as n
from people tablesample bernoulli (10 percent)
where native_country = 'United-States' and age between 18 and 90 and race is not null
group by education, sex
having count(*) >= 20
order by education, sex

--- 053 filter below sample
-- filter in a CTE below the sample: the row alone decides. Sound.
with adults as (select * from people where age >= 18),
sampled as (select * from adults where random() < 0.1)
select education, sex, count(*) as n
from sampled
group by education, sex
having count(*) >= 20
order by education, sex

--- 054 filter in view
create table people (id integer primary key, age integer, sex varchar, education varchar, active boolean);
create view active_adults as select id, age, sex, education from people where active and age >= 18;
--- schema above
-- a view that only projects and filters, sampled by a predicate. Sound.
select education, sex, count(*) as n
from active_adults
where random() < 0.1
group by education, sex
having count(*) >= 20
order by education, sex

--- 055 union partitions year
-- union of a table's own disjoint partitions: every row is in at most one branch, each with one draw. Sound.
with src as (
  select zip, sex, year from people where year = 2023
  union all
  select zip, sex, year from people where year = 2024
)
select zip, sex, year, count(*) as n
from src
where random() < 0.1
group by zip, sex, year
having count(*) >= 20
order by zip, sex, year

--- 056 group by all
-- GROUP BY ALL. Sound: all non-aggregate output columns.
from people tablesample bernoulli (10 percent)
select sex, race, education, count(*) as n
group by all
having count(*) >= 20
order by all

--- 057 outer where threshold
-- threshold in an outer WHERE. Sound: the same as HAVING.
select zip, sex, n
from (
  select zip, sex, count(*) as n
  from people tablesample bernoulli (10 percent)
  group by zip, sex
) g
where n >= 20
order by zip, sex

--- 058 outer where threshold cte
-- threshold in the last CTE's WHERE. Sound.
with sampled as (select left(zip, 3) as zip3, sex from people where random() < 0.1),
grouped as (select zip3, sex, count(*) as n from sampled group by zip3, sex),
safe as (select * from grouped where n > 19)
select zip3, sex, n from safe order by zip3, sex

--- 059 create table as
-- CREATE TABLE AS. Sound.
create table public_by_zip as
select left(zip, 3) as zip3, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by 1, 2
having count(*) >= 20
order by 1, 2

--- 060 create or replace table as
-- CREATE OR REPLACE TABLE AS with a qualified target. Sound.
create or replace table main.public_by_zip as (
  with s as (select zip, sex from people where random() < 0.1)
  select left(zip, 3) as zip3, sex, count(*) as n
  from s
  group by 1, 2
  having count(*) >= 20
  order by 1, 2
);

--- 061 order by count desc ties broken
-- order by count, ties broken by the keys: a function of what is released. Sound.
select zip, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by zip, sex
having count(*) >= 20
order by n desc, zip asc nulls last, sex asc nulls first

--- 062 quoted identifiers
create table "Kunden" ("Kunden Nr" integer primary key, "PLZ" varchar, "Geschlecht" varchar, "group" varchar);
--- schema above
-- quoted and reserved names. Sound.
select "k"."PLZ"[1:2] as "plz 2", "k"."group" as "order", count(*) as "n"
from "Kunden" as "k" tablesample bernoulli (10 percent)
group by "k"."PLZ"[1:2], "k"."group"
having count(*) >= 20
order by "plz 2", "order"

--- 063 qualified names
-- schema-qualified source, alias-qualified columns. Sound.
select p.zip, p.sex, count(*) as n
from main.people as p tablesample bernoulli (10 percent)
group by p.zip, p.sex
having count(*) >= 20
order by p.zip, p.sex

--- 064 catalog qualified
-- catalog.schema.table. Sound.
select p.zip, p.sex, count(*) as n
from memory.main.people p tablesample bernoulli (10 percent)
where p.age is null or p.age >= 18
group by p.zip, p.sex
having count(*) >= 20
order by p.zip, p.sex

--- 065 comments and odd layout
-- odd formatting, comments inside. Sound.
SeLeCT/* the region */Left ( zip ,3 )AS z
      , sex -- gender, as recorded
  ,COUNT ( * )AS n
        FROM
 people
     TABLESAMPLE/* ten in a hundred */BERNOULLI ( 10.0 PERCENT )
GROUP     BY z , sex
HAVING COUNT(*)>=/* k */20
ORDER BY z,sex
;

--- 066 having flipped gt
-- 19 < count(*). Sound: k = 20.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having 19 < count(*) order by zip, sex

--- 067 having count no star
-- count() without a star is count(*) in DuckDB. Sound.
select zip, sex, count() as n from people tablesample bernoulli (10 percent) group by zip, sex having count() >= 20 order by zip, sex

--- 068 count not released
-- the count is not released. Sound: less information.
select zip, sex from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20 order by zip, sex

--- 069 one constant group
-- one group by a constant column. Sound.
select 'all' as everybody, count(*) as n from people tablesample bernoulli (10 percent) group by everybody having count(*) >= 20 order by everybody

--- 070 percentages of released
-- shares computed from the released groups only: post-processing. Sound.
with released as (
  select race, sex, count(*) as n
  from people tablesample bernoulli (10 percent)
  group by race, sex
  having count(*) >= 20
)
select race, sex, n, round(100.0 * n / sum(n) over (), 1) as pct
from released
order by race, sex

--- 071 estimate column
-- an estimate of the source count from the released count. Sound: post-processing.
select race, sex, count(*) as n, count(*) * 10 as estimated
from people tablesample bernoulli (10 percent)
group by race, sex
having count(*) >= 20
order by race, sex

--- 072 dbt compiled model
-- a compiled dbt model: source, renamed, recoded, sampled, grouped, final. Sound.
with

source as (

    select * from main.people

),

renamed as (

    select
        id as person_id,
        age,
        sex as gender,
        zip as postal_code,
        education as education_level,
        native_country as country

    from source

),

recoded as (

    select
        person_id,
        case
            when age is null then 'unknown'
            when age < 18 then '00-17'
            when age < 30 then '18-29'
            when age < 45 then '30-44'
            when age < 60 then '45-59'
            else '60+'
        end as age_band,
        coalesce(gender, 'unknown') as gender,
        left(postal_code, 3) as postal_area,
        case when country = 'United-States' then 'US' else 'other' end as country_group

    from renamed

),

sampled as (

    select * from recoded
    where sha256(getvariable('salt') || ':u:' || cast(person_id as varchar)) < '0cccccccccccccc'

),

grouped as (

    select
        age_band,
        gender,
        postal_area,
        country_group,
        count(*) as n

    from sampled
    group by 1, 2, 3, 4

),

final as (

    select * from grouped
    where n >= 20

)

select * from final
order by age_band, gender, postal_area, country_group

--- 073 bi tool generated
-- as a BI tool writes it: everything quoted, nested once. Sound.
SELECT "source"."zip3" AS "zip3", "source"."sex" AS "sex", COUNT(*) AS "count"
FROM (
  SELECT LEFT("main"."people"."zip", 3) AS "zip3", "main"."people"."sex" AS "sex"
  FROM "main"."people"
  WHERE RANDOM() < 0.1 AND ("main"."people"."age" >= 18)
) AS "source"
GROUP BY "source"."zip3", "source"."sex"
HAVING COUNT(*) >= 20
ORDER BY "source"."zip3" ASC, "source"."sex" ASC

--- 074 tableau style
-- as Tableau writes it: CASE in GROUP BY by ordinal, Custom SQL sub-query. Sound.
SELECT "Custom SQL Query"."sex" AS "sex",
  (CASE WHEN ("Custom SQL Query"."age" < 18) THEN 'minor' WHEN NOT ("Custom SQL Query"."age" < 18) THEN 'adult' ELSE NULL END) AS "Calculation_1",
  COUNT(1) AS "cnt:Number of Records:ok"
FROM (
  select * from people where random() < 0.05
) "Custom SQL Query"
GROUP BY 1, 2
HAVING (COUNT(1) >= 25)
ORDER BY 1, 2

--- 075 keyed text key schema
create table members (member_id varchar primary key, plan varchar, country varchar, joined date);
--- schema above
-- keyed by a text primary key. Sound: one unit a key.
select plan, country, date_trunc('quarter', joined) as joined_q, count(*) as n
from members
where sha256(? || ':u:' || member_id) < '1999999999999'
group by plan, country, joined_q
having count(*) >= 20
order by plan, country, joined_q

--- 076 keyed uuid key schema
create table members (member_id uuid primary key, plan varchar, country varchar);
--- schema above
-- keyed by a uuid primary key, cast to text. Sound.
select plan, country, count(*) as n
from members m
where sha256($1 || ':u:' || m.member_id::text) < '3333333333333'
group by plan, country
having count(*) >= 20
order by plan, country

--- 077 keyed rowid
-- keyed by DuckDB's rowid of a base table. Sound: sampling.md names it as the key of unit: row.
select race, sex, count(*) as n
from people
where sha256(? || ':u:' || cast(rowid as varchar)) < '1999999999999'
group by race, sex
having count(*) >= 20
order by race, sex

--- 078 keyed composite key
create table visitors (site integer, visitor integer, plan varchar, country varchar, primary key (site, visitor));
--- schema above
-- composite key with a separator that two integers cannot contain. Sound: injective.
select plan, country, count(*) as n
from visitors
where sha256(? || ':u:' || cast(site as varchar) || ':' || cast(visitor as varchar)) < '1999999999999'
group by plan, country
having count(*) >= 20
order by plan, country

--- 079 keyed prefix of hash
-- the first 13 digits of the hash are compared: the same set. Sound.
select race, sex, count(*) as n
from people
where left(sha256(? || ':u:' || cast(id as varchar)), 13) < '1999999999999'
group by race, sex
having count(*) >= 20
order by race, sex

--- 080 keyed short bound
-- bound of four digits: rate 0x1999 / 0x10000 = 0.09999. Sound.
select race, sex, count(*) as n
from people
where sha256(? || ':u:' || cast(id as varchar)) < '1999'
group by race, sex
having count(*) >= 20
order by race, sex

--- 081 keyed long bound
-- bound of all 64 digits. Sound.
select race, sex, count(*) as n
from people
where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999999999999999999999999999999999999999999999999999999'
group by race, sex
having count(*) >= 20
order by race, sex

--- 082 keyed filter and cte
-- keyed sample in a CTE, filter before it, recodes after it. Sound.
with adults as (
  select id, zip, sex, age from people where age >= 18 and coalesce(active, false)
),
s as (
  select zip, sex, age from adults where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999'
)
select left(zip, 3) as zip3, sex, age >= 65 as senior, count(*) as n
from s
group by zip3, sex, senior
having count(*) >= 20
order by zip3, sex, senior

--- 083 keyed not ge
-- not (hash >= bound). Sound: a NULL key stays out either way.
select race, sex, count(*) as n
from people
where not (sha256(? || ':u:' || cast(id as varchar)) >= '1999999999999')
group by race, sex
having count(*) >= 20
order by race, sex

--- 084 keyed column alias
-- the hash computed under a name in a CTE and compared one step later. Sound: the same predicate.
with h as (
  select race, sex, sha256(? || ':u:' || cast(id as varchar)) as ticket from people
)
select race, sex, count(*) as n
from h
where ticket < '1999999999999'
group by race, sex
having count(*) >= 20
order by race, sex

--- 085 keyed secrets cte style
-- two-level grouping with the secrets relation. Sound.
with s as (
  select zip, sex, age
  from people
  where sha256((select salt from privacy_secrets.salts where release_id = 'adult_public_v1') || ':u:' || cast(id as varchar)) < '0cccccccccccccc'
),
raw as (select zip, sex, age, count(*) as cnt from s group by zip, sex, age)
select left(zip, 3) as zip3, sex, age // 10 as decade, sum(cnt) as n
from raw
group by 1, 2, 3
having sum(cnt) >= 20
order by 1, 2, 3

--- 086 keyed person first visit
-- first visit a person, chosen by date and key, recoded before the ranking. Sound: the row depends on the person's own rows only.
with ranked as (
  select
    case when v.diagnosis like 'J%' then 'respiratory' when v.diagnosis like 'E%' then 'endocrine' else 'other' end as chapter,
    v.region as area,
    row_number() over (partition by v.person_id order by v.visit_date asc, v.visit_id asc) as visit_no
  from visits as v
  where v.visit_date >= date '2000-01-01'
    and sha256($salt || ':u:' || cast(v.person_id as varchar)) < '1999999999999'
)
select r.chapter, r.area, count(*) as persons
from ranked r
where r.visit_no = 1
group by r.chapter, r.area
having count(*) >= 20
order by r.chapter, r.area

--- 087 keyed row number le one
-- rn <= 1 and rn < 2 are rn = 1. Sound.
select diagnosis, count(*) as n
from (
  select diagnosis, row_number() over (partition by person_id order by visit_date desc, visit_id desc) as rn
  from visits
  where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'
) one
where rn <= 1
group by diagnosis
having count(*) >= 20
order by diagnosis

--- 088 keyed distinct on
-- DISTINCT ON the person with a total order keeps one row a person. Sound: one row a person, chosen among its own rows.
with one as (
  select distinct on (person_id) person_id, diagnosis, region
  from visits
  where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'
  order by person_id, visit_date desc, visit_id desc
)
select diagnosis, region, count(*) as n
from one
group by diagnosis, region
having count(*) >= 20
order by diagnosis, region

--- 089 keyed arg max a person
-- one row a person by GROUP BY person with max_by over the person's own rows; then the keyed sample by the person. Sound.
with one as (
  select person_id, max_by(diagnosis, visit_id) as diagnosis
  from visits
  group by person_id
)
select diagnosis, count(*) as n
from one
where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'
group by diagnosis
having count(*) >= 20
order by diagnosis

--- 090 schema full check
create table people (id integer primary key, zip varchar, sex varchar, age smallint, education varchar);
--- schema above
-- with a schema: every type known. Sound.
select left(zip, 3) as zip3, sex, case when age < 40 then 'a' else 'b' end as age2, education, count(*) as n
from people tablesample bernoulli (10 percent)
group by zip3, sex, age2, education
having count(*) >= 20
order by zip3, sex, age2, education

--- 091 schema float binned
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- a float only inside CASE bins that end in text: no float leaves. Sound.
select sex,
  case when income is null or isnan(income) then 'unknown' when income < 20000 then 'low' when income < 80000 then 'middle' else 'high' end as income_band,
  count(*) as n
from people tablesample bernoulli (10 percent)
group by sex, income_band
having count(*) >= 20
order by sex, income_band

--- 092 schema timestamp day
create table orders (order_id bigint primary key, country varchar, ordered_at timestamp, status varchar);
--- schema above
-- month of a timestamp without time zone. Sound.
select country, date_trunc('month', ordered_at) as month, status, count(*) as n
from orders tablesample bernoulli (5 percent)
group by country, date_trunc('month', ordered_at), status
having count(*) >= 15
order by country, month, status

--- 093 schema decimal bins
create table employees (emp_pk integer primary key, gender varchar, salary decimal(12,2), hired date);
--- schema above
-- decimal salary in fixed bands. Sound.
select gender,
  case when salary < 1000 then '0-999' when salary < 5000 then '1000-4999' when salary >= 5000 then '5000+' end as band,
  extract('year' from hired) // 10 * 10 as hired_decade,
  count(*) as headcount
from employees
where random() < 0.2
group by all
having count(*) >= 20
order by all

--- 094 view chain
create table people (id integer primary key, zip varchar, sex varchar, age integer, active boolean);
create view stg_people as select id, zip as postal, sex as gender, age from people where active;
create view adults as select postal, gender, case when age < 40 then '18-39' else '40+' end as band from stg_people where age >= 18;
--- schema above
-- view over view over the base table, both only project and filter. Sound.
select left(postal, 3) as area, gender, band, count(*) as n
from adults
where random() < 0.1
group by area, gender, band
having count(*) >= 20
order by area, gender, band

--- 095 view tablesample in cte
create table main.people (id integer primary key, zip varchar, sex varchar);
create view main.v_people (pid, plz, geschlecht) as select id, zip, sex from main.people;
--- schema above
-- a view with a column list; the keyed sample on the renamed key. Sound.
select left(plz, 2) as plz2, geschlecht, count(*) as n
from v_people
where sha256(? || ':u:' || cast(pid as varchar)) < '1999999999999'
group by plz2, geschlecht
having count(*) >= 20
order by plz2, geschlecht

--- 096 view sampled with tablesample
create table people (id integer primary key, zip varchar, sex varchar);
create view v as select zip, sex from people;
--- schema above
-- TABLESAMPLE on a view that only projects: DuckDB samples the view's rows. Sound.
select left(zip, 3) as z, sex, count(*) as n from v tablesample bernoulli (10 percent) group by z, sex having count(*) >= 20 order by z, sex

--- 097 cte tablesample on filter
-- TABLESAMPLE on a CTE that filters. Sound: a streaming Bernoulli sample over the filtered rows.
with adults as (select * from people where age >= 18)
select education, sex, count(*) as n
from adults tablesample bernoulli (10 percent)
group by education, sex
having count(*) >= 20
order by education, sex

--- 098 tablesample on subselect
-- TABLESAMPLE on a sub-select that recodes. Sound.
select t.z, t.sex, count(*) as n
from (select left(zip, 3) as z, sex from people) t tablesample bernoulli (10 percent)
group by t.z, t.sex
having count(*) >= 20
order by t.z, t.sex

--- 099 using sample where below
-- WHERE and USING SAMPLE in one query: sample first, filter then. Sound.
with s as (select zip, sex from people where age >= 18 using sample 10% (bernoulli))
select zip, sex, count(*) as n from s group by zip, sex having count(*) >= 20 order by zip, sex

--- 100 using sample last with where
-- the same in the outer query. Sound.
select sex, race, count(*) as n
from people p
where p.state in ('NY', 'CA') and p.age > 17
group by sex, race
having count(*) >= 20
using sample bernoulli(20 percent)
order by sex, race

--- 101 union partition sex
-- disjoint and complete: = and <>; NULL in neither. One draw a row. Sound.
with u as (
  select zip, 'm' as g from people where sex = 'Male'
  union all
  select zip, 'f' as g from people where sex <> 'Male'
)
select left(zip, 3) as z, g, count(*) as n from u where random() < 0.1 group by z, g having count(*) >= 20 order by z, g

--- 102 union partition null
-- IS NULL / IS NOT NULL parts. Sound.
with u as (
  select zip, 'known' as age_known from people where age is not null
  union all
  select zip, 'missing' from people where age is null
)
select left(zip, 3) as z, age_known, count(*) as n from u where random() < 0.1 group by z, age_known having count(*) >= 20 order by z, age_known

--- 103 union partition ranges
-- three disjoint ranges. Sound.
with banded as (
  select '0-29' as band, sex from people where age < 30
  union all
  select '30-59' as band, sex from people where age >= 30 and age < 60
  union all
  select '60+' as band, sex from people where age >= 60
)
select band, sex, count(*) as n
from banded
where random() < 0.05
group by band, sex
having count(*) >= 20
order by band, sex

--- 104 union partition sampled branches
-- each disjoint part draws its own sample at the same rate: every row has one draw. Sound.
with s as (
  select zip, sex from people tablesample bernoulli (10 percent) where year = 2023
  union all
  select zip, sex from people tablesample bernoulli (10 percent) where year = 2024
)
select left(zip, 3) as z, sex, count(*) as n from s group by z, sex having count(*) >= 20 order by z, sex

--- 105 union partition view
create table events (event_id integer primary key, country varchar, status varchar, year integer);
create view all_events as
  select event_id, country, status from events where year = 2023
  union all
  select event_id, country, status from events where year = 2024;
--- schema above
-- the union of disjoint parts is a view. Sound.
select country, status, count(*) as n
from all_events
where sha256(? || ':u:' || cast(event_id as varchar)) < '1999999999999'
group by country, status
having count(*) >= 20
order by country, status

--- 106 union partition in
-- IN lists that do not meet. Sound.
select region, sex, count(*) as n
from (
  select 'east' as region, sex from people where state in ('NY', 'NJ', 'MA')
  union all
  select 'west' as region, sex from people where state in ('CA', 'OR')
) as parts
where random() < 0.1
group by region, sex
having count(*) >= 20
order by region, sex

--- 107 union of releases by year
-- two complete releases of disjoint parts, told apart by a constant: one cell a person. Sound: the cell is (year, zip3).
with a as (
  select 2023 as yr, left(zip, 3) as z, count(*) as n
  from people tablesample bernoulli (10 percent) where year = 2023
  group by z having count(*) >= 20
), b as (
  select 2024 as yr, left(zip, 3) as z, count(*) as n
  from people tablesample bernoulli (10 percent) where year = 2024
  group by z having count(*) >= 20
)
select yr, z, n from a union all select yr, z, n from b order by yr, z

--- 108 having and key
-- a condition on the group's key beside the threshold. Sound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20 and sex is not null order by zip, sex

--- 109 having not lt
-- not (count(*) < 20). Sound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having not (count(*) < 20) order by zip, sex

--- 110 having between
-- count between 20 and a million: dropping released groups is post-processing. Sound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) between 20 and 1000000 order by zip, sex

--- 111 having two thresholds
-- two thresholds; the larger counts. Sound: k = 30.
select zip, sex, n from (
  select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20
) where n >= 30 order by zip, sex

--- 112 having arith constant
-- a constant expression as threshold. Sound: k = 20.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 4 * 5 order by zip, sex

--- 113 having decimal
-- count(*) >= 19.5 is count(*) >= 20. Sound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 19.5 order by zip, sex

--- 114 count literal text
-- count('x') counts rows, the literal is never NULL. Sound.
select sex, race, count('x') as n from people tablesample bernoulli (10 percent) group by sex, race having count('x') >= 20 order by sex, race

--- 115 count pk not null
create table people (id integer primary key, sex varchar, race varchar);
--- schema above
-- sum(1) over the rows of a group is their count. Sound.
select sex, race, sum(1) as n from people tablesample bernoulli (10 percent) group by sex, race having sum(1) >= 20 order by sex, race

--- 116 threshold outer filter and more
-- outer filter by the threshold and by released values. Sound: post-processing.
select * from (
  select education, sex, count(*) as n from people where random() < 0.1 group by education, sex
) t where t.n >= 20 and t.education <> '11th' order by education, sex

--- 117 rank of released
-- rank over the released groups. Sound: post-processing.
with released as (
  select occupation, count(*) as n from people tablesample bernoulli (10 percent) group by occupation having count(*) >= 20
)
select occupation, n, rank() over (order by n desc) as place from released order by place, occupation

--- 118 label from count
-- a label computed from the released count. Sound: post-processing.
select occupation, sex, count(*) as n, case when count(*) >= 100 then 'large' else 'small' end as size
from people tablesample bernoulli (10 percent)
group by occupation, sex
having count(*) >= 20
order by occupation, sex

--- 119 rounded count
-- count rounded to tens. Sound: less information than the count.
select occupation, sex, round(count(*), -1) as n_rounded
from people tablesample bernoulli (10 percent)
group by occupation, sex
having count(*) >= 20
order by occupation, sex

--- 120 sum of released
-- totals of the released groups only. Sound: post-processing.
with released as (
  select race, sex, count(*) as n from people tablesample bernoulli (10 percent) group by race, sex having count(*) >= 20
)
select sex, sum(n) as n_released from released group by sex order by sex

--- 121 share within partition
-- share within the released groups of one sex. Sound: windows over released groups.
with released as (
  select race, sex, count(*) as n from people where random() < 0.1 group by race, sex having count(*) >= 20
)
select race, sex, n, n / sum(n) over (partition by sex) as share from released order by sex, race

--- 122 window in same select
-- a window is computed after HAVING: it sees released groups only. Sound: post-processing.
select race, sex, count(*) as n, 100.0 * count(*) / sum(count(*)) over () as pct
from people tablesample bernoulli (10 percent)
group by race, sex
having count(*) >= 20
order by race, sex

--- 123 order by desc mixed
-- every key in the order, mixed directions. Sound.
select zip, sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex, race having count(*) >= 20 order by race desc, 2 asc nulls last, zip

--- 124 order by expression
-- the group expression itself in ORDER BY. Sound.
select left(zip, 3) as z, count(*) as n from people tablesample bernoulli (10 percent) group by left(zip, 3) having count(*) >= 20 order by left(zip, 3)

--- 125 order by all desc
-- ORDER BY ALL DESC. Sound.
select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by all having count(*) >= 20 order by all desc nulls last

--- 126 count first column
-- the count as the first column; ordinals shifted. Sound.
select count(*) as n, sex, race from people tablesample bernoulli (10 percent) group by 2, 3 having count(*) >= 20 order by 2, 3

--- 127 group by more than shown
-- grouped by one column more than is shown: each shown row is still a group of at least k. Sound: post-processing drops a column.
select sex, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, n

--- 128 key shown twice
-- a key shown twice and in another form. Sound: a function of the released key.
select sex, upper(sex) as sex_upper, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 129 no keys
-- one cell for everybody, no GROUP BY. Sound: g is constant.
select count(*) as n from people tablesample bernoulli (10 percent) having count(*) >= 20

--- 130 from first
-- FROM first. Sound.
from people tablesample bernoulli (10 percent)
select left(zip, 3) as z, sex, count(*) as n
where age >= 18
group by z, sex
having n >= 20
order by z, sex

--- 131 from only cte
-- FROM without SELECT is SELECT *. Sound.
with released as (
  select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20
)
from released order by all

--- 132 star exclude
create table people (id integer primary key, name varchar, zip varchar, sex varchar);
--- schema above
-- star with EXCLUDE and REPLACE in a CTE; the schema says what is left. Sound.
with s as (select * exclude (id, name) replace (left(zip, 3) as zip) from people where random() < 0.1)
select zip, sex, count(*) as n from s group by zip, sex having count(*) >= 20 order by zip, sex

--- 133 star then group all
create table survey (country varchar, plan varchar, status varchar);
--- schema above
-- star through two CTEs and GROUP BY ALL over all columns of the table. Sound.
with a as (select * from survey), b as (select * from a where random() < 0.1)
select *, count(*) as n from b group by all having count(*) >= 20 order by all

--- 134 cte column list
-- CTE with a column list. Sound.
with s(z, g) as (select left(zip, 3), sex from people where random() < 0.1)
select z, g, count(*) from s group by z, g having count(*) >= 20 order by z, g

--- 135 derived column list
-- sub-select with a column list. Sound.
select t.z, t.g, t.n from (
  select left(zip, 3), sex, count(*) from people where random() < 0.1 group by 1, 2
) as t(z, g, n) where t.n >= 20 order by t.z, t.g

--- 136 lateral alias
-- an alias used in the same SELECT. Sound.
select left(zip, 3) as z3, z3 || '**' as shown, sex, count(*) as n from people tablesample bernoulli (10 percent) group by all having count(*) >= 20 order by shown, sex, z3

--- 137 prefix alias
-- DuckDB's prefix aliases. Sound.
select z: left(zip, 3), g: sex, n: count(*) from people tablesample bernoulli (10 percent) group by z, g having n >= 20 order by z, g

--- 138 with recursive word
-- WITH RECURSIVE without recursion. Sound.
with recursive s as (select sex, race from people where random() < 0.1)
select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 139 nested with
-- WITH inside a sub-select; a CTE name that hides an outer one. Sound.
with s as (select sex, race from people where random() < 0.1)
select sex, race, n from (
  with t as (select sex, race, count(*) as n from s group by sex, race)
  select * from t where n >= 20
) u order by sex, race

--- 140 cte named like table
-- a CTE with the name of its table. Sound: the inner name is the table.
with people as (select sex, race from main.people where random() < 0.1)
select sex, race, count(*) as n from people group by sex, race having count(*) >= 20 order by sex, race

--- 141 alias hides nothing
-- the recode has the column's own name in an inner query and is grouped outside. Sound: the outer name is the recode.
select zip, sex, count(*) as n
from (select left(zip, 3) as zip, sex from people where random() < 0.1) s
group by zip, sex having count(*) >= 20 order by zip, sex

--- 142 date recodes
-- date recodes of every kind. Sound: functions of the row with fixed dates.
select
  strftime(birth_date, '%Y') as y,
  date_part('month', birth_date) as m,
  birth_date < date '1980-01-01' as before80,
  count(*) as n
from people tablesample bernoulli (20 percent)
group by y, m, before80
having count(*) >= 20
order by y, m, before80

--- 143 date diff fixed
-- age on a fixed day. Sound: no clock is read.
select case when date_diff('year', birth_date, date '2026-01-01') < 40 then '<40' else '40+' end as band, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by band, sex
having count(*) >= 20
order by band, sex

--- 144 text recodes
-- text functions. Sound.
select upper(left(trim(city), 1)) as initial, split_part(email, '@', 2) as domain, length(occupation) > 8 as long_job, count(*) as n
from people tablesample bernoulli (10 percent)
group by initial, domain, long_job
having count(*) >= 20
order by initial, domain, long_job

--- 145 regexp replace recode
-- regexp_replace, lower, replace. Sound.
select regexp_replace(lower(occupation), '-.*$', '') as job, replace(coalesce(education, '?'), '-', ' ') as edu, count(*) as n
from people tablesample bernoulli (10 percent)
group by job, edu
having count(*) >= 20
order by job, edu

--- 146 starts with contains
-- starts_with, contains, and boolean columns. Sound.
select starts_with(zip, '94') as sf, contains(occupation, 'serv') as service, count(*) as n
from people tablesample bernoulli (10 percent)
group by sf, service
having count(*) >= 20
order by sf, service

--- 147 clip least greatest
-- clip by least and greatest, then bin. Sound.
select least(greatest(age, 18), 90) // 10 as decade, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by decade, sex
having count(*) >= 20
order by decade, sex

--- 148 round negative
-- round to tens. Sound.
select round(age, -1) as age10, sex, count(*) as n from people tablesample bernoulli (10 percent) group by age10, sex having count(*) >= 20 order by age10, sex

--- 149 bins to label
-- a label made of a bin's ends. Sound.
select case when age is null then 'unknown' else cast(age // 10 * 10 as varchar) || '-' || cast(age // 10 * 10 + 9 as varchar) end as band, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by band, sex
having count(*) >= 20
order by band, sex

--- 150 case in group by
-- the CASE repeated in GROUP BY instead of its alias. Sound.
select case when age < 30 then 'young' else 'old' end, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by case when age < 30 then 'young' else 'old' end, sex
having count(*) >= 20
order by case when age < 30 then 'young' else 'old' end, sex

--- 151 case boolean columns
-- CASE on boolean columns, IS TRUE. Sound.
select case when active is true then 'active' when active is false then 'inactive' else 'unknown' end as status, case active when true then 1 else 0 end as flag, count(*) as n
from people tablesample bernoulli (10 percent)
group by status, flag
having count(*) >= 20
order by status, flag

--- 152 case and or not
-- conditions with AND, OR, NOT over several columns. Sound.
select case when (sex = 'Female' and age < 30) or (sex = 'Male' and not age < 30) then 'A' when sex is null or age is null then 'B' else 'C' end as cohort, count(*) as n
from people tablesample bernoulli (10 percent)
group by cohort
having count(*) >= 20
order by cohort

--- 153 nullif ifnull
-- ifnull, nullif. Sound.
select ifnull(education, 'none') as edu, nullif(native_country, 'India') as country, count(*) as n
from people tablesample bernoulli (10 percent)
group by edu, country
having count(*) >= 20
order by edu, country

--- 154 case comparing columns
-- CASE that compares two columns of the row. Sound.
select case when hours_per_week > age then 'more' when hours_per_week = age then 'same' else 'less' end as cmp, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by cmp, sex
having count(*) >= 20
order by cmp, sex

--- 155 three levels
-- raw counts, recoded once, recoded again, summed each time. Sound: sums of counts are counts.
with sampled as (select age, zip, sex from people where random() < 0.1),
raw as (select age, zip, sex, count(*) as n0 from sampled group by age, zip, sex),
mid as (select age // 5 * 5 as age5, left(zip, 4) as zip4, sex, sum(n0) as n1 from raw group by 1, 2, 3),
fin as (select age5 // 10 * 10 as age10, left(zip4, 3) as zip3, sex, sum(n1) as n2 from mid group by 1, 2, 3)
select age10, zip3, sex, n2 as n from fin where n2 >= 20 order by age10, zip3, sex

--- 156 create temp table
-- CREATE TEMP TABLE AS. Sound.
create temp table t_release as
select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 157 create if not exists
-- CREATE TABLE IF NOT EXISTS AS. Sound.
create table if not exists release_v1 as
select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 158 small rate large k
-- rate 0.1 percent, k 100. Sound (it shows little).
select sex, count(*) as n from people tablesample bernoulli (0.1 percent) group by sex having count(*) >= 100 order by sex

--- 159 unicode names
create table "Bürger" (id integer primary key, "Straße" varchar, "größe" integer);
--- schema above
-- names that are not ASCII. Sound.
select left("Straße", 1) as "Anfang", "größe" // 10 as "Größe", count(*) as n from "Bürger" tablesample bernoulli (10 percent) group by "Anfang", "größe" // 10 having count(*) >= 20 order by "Anfang", "Größe"

--- 160 literal looks like sql
-- literals that look like SQL and comments. Sound: text is text.
select case when city = '; drop table people; --' then 'x' when city = '/* */' then 'y' when city = 'it''s' then 'z' else 'other' end as c, sex, count(*) as n
from people tablesample bernoulli (10 percent) group by c, sex having count(*) >= 20 order by c, sex

--- 161 case insensitive names
-- names in another case than declared. Sound: names are case-insensitive.
SELECT LEFT(ZIP, 3) AS Z, "SEX", COUNT(*) AS N FROM PEOPLE P TABLESAMPLE BERNOULLI (10 PERCENT) GROUP BY z, p.Sex HAVING n >= 20 ORDER BY Z, SEX

--- 162 parenthesised query
-- the whole query in brackets. Sound.
(select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race);

--- 163 where true
-- the ORM's WHERE 1 = 1. Sound.
select sex, race, count(*) as n from people where 1 = 1 and true and random() < 0.1 and sex in ('Male', 'Female') group by sex, race having count(*) >= 20 order by sex, race

--- 164 long model 200 lines
-- a 200-line compiled dbt model: staging, four recode steps, keyed sample, group, threshold. Sound: every step is a function of the row.
/*
    model: mart_public_people
    materialized: table
    owner: analytics
*/
with

source as (

    select
        *
    from main.people

),

renamed as (

    select
        id,
        age,
        sex,
        state,
        occupation,
        native_country,
        marital_status

    from source

),

states as (

    select
        id,
        age,
        sex,
        occupation,
        native_country,
        marital_status,
        case
            when state = 'AL' then 'west'
            when state = 'AK' then 'south'
            when state = 'AZ' then 'midwest'
            when state = 'AR' then 'northeast'
            when state = 'CA' then 'west'
            when state = 'CO' then 'south'
            when state = 'CT' then 'midwest'
            when state = 'DE' then 'northeast'
            when state = 'FL' then 'west'
            when state = 'GA' then 'south'
            when state = 'HI' then 'midwest'
            when state = 'ID' then 'northeast'
            when state = 'IL' then 'west'
            when state = 'IN' then 'south'
            when state = 'IA' then 'midwest'
            when state = 'KS' then 'northeast'
            when state = 'KY' then 'west'
            when state = 'LA' then 'south'
            when state = 'ME' then 'midwest'
            when state = 'MD' then 'northeast'
            when state = 'MA' then 'west'
            when state = 'MI' then 'south'
            when state = 'MN' then 'midwest'
            when state = 'MS' then 'northeast'
            when state = 'MO' then 'west'
            when state = 'MT' then 'south'
            when state = 'NE' then 'midwest'
            when state = 'NV' then 'northeast'
            when state = 'NH' then 'west'
            when state = 'NJ' then 'south'
            when state = 'NM' then 'midwest'
            when state = 'NY' then 'northeast'
            when state = 'NC' then 'west'
            when state = 'ND' then 'south'
            when state = 'OH' then 'midwest'
            when state = 'OK' then 'northeast'
            when state = 'OR' then 'west'
            when state = 'PA' then 'south'
            when state = 'RI' then 'midwest'
            when state = 'SC' then 'northeast'
            when state = 'SD' then 'west'
            when state = 'TN' then 'south'
            when state = 'TX' then 'midwest'
            when state = 'UT' then 'northeast'
            when state = 'VT' then 'west'
            when state = 'VA' then 'south'
            when state = 'WA' then 'midwest'
            when state = 'WV' then 'northeast'
            when state = 'WI' then 'west'
            when state = 'WY' then 'south'
            else 'unknown'
        end as census_region

    from renamed

),

jobs as (

    select
        id,
        age,
        sex,
        native_country,
        marital_status,
        census_region,
        case occupation
            when 'Exec-managerial'
                then 'blue collar'
            when 'Other-service'
                then 'white collar'
            when 'Sales'
                then 'blue collar'
            when 'Tech-support'
                then 'white collar'
            when 'Craft-repair'
                then 'blue collar'
            when 'Adm-clerical'
                then 'white collar'
            when 'Farming-fishing'
                then 'blue collar'
            when 'Armed-Forces'
                then 'white collar'
            when 'Priv-house-serv'
                then 'blue collar'
            when 'Protective-serv'
                then 'white collar'
            when 'Transport-moving'
                then 'blue collar'
            when 'Machine-op-inspct'
                then 'white collar'
            when 'Handlers-cleaners'
                then 'blue collar'
            when 'Prof-specialty'
                then 'white collar'
            else 'other'
        end as job_class

    from states

),

countries as (

    select
        id,
        age,
        sex,
        marital_status,
        census_region,
        job_class,
        case
            when lower(trim(native_country)) = 'united-states' then 'North America'
            when lower(trim(native_country)) = 'mexico' then 'North America'
            when lower(trim(native_country)) = 'india' then 'elsewhere'
            when lower(trim(native_country)) = 'germany' then 'elsewhere'
            when lower(trim(native_country)) = 'france' then 'elsewhere'
            when lower(trim(native_country)) = 'canada' then 'North America'
            when lower(trim(native_country)) = 'china' then 'elsewhere'
            when lower(trim(native_country)) = 'japan' then 'elsewhere'
            when lower(trim(native_country)) = 'cuba' then 'elsewhere'
            when lower(trim(native_country)) = 'italy' then 'elsewhere'
            when lower(trim(native_country)) = 'poland' then 'elsewhere'
            when lower(trim(native_country)) = 'peru' then 'elsewhere'
            when lower(trim(native_country)) = 'haiti' then 'elsewhere'
            when lower(trim(native_country)) = 'iran' then 'elsewhere'
            when lower(trim(native_country)) = 'laos' then 'elsewhere'
            when lower(trim(native_country)) = 'hong' then 'elsewhere'
            when lower(trim(native_country)) = 'greece' then 'elsewhere'
            when lower(trim(native_country)) = 'england' then 'elsewhere'
            when lower(trim(native_country)) = 'ireland' then 'elsewhere'
            when lower(trim(native_country)) = 'ecuador' then 'elsewhere'
            else 'unknown'
        end as continent

    from jobs

),

ages as (

    select
        id,
        sex,
        census_region,
        job_class,
        continent,
        case
            when age is null then 'unknown'
            when age >= 0 and age < 5 then '000-004'
            when age >= 5 and age < 10 then '005-009'
            when age >= 10 and age < 15 then '010-014'
            when age >= 15 and age < 20 then '015-019'
            when age >= 20 and age < 25 then '020-024'
            when age >= 25 and age < 30 then '025-029'
            when age >= 30 and age < 35 then '030-034'
            when age >= 35 and age < 40 then '035-039'
            when age >= 40 and age < 45 then '040-044'
            when age >= 45 and age < 50 then '045-049'
            when age >= 50 and age < 55 then '050-054'
            when age >= 55 and age < 60 then '055-059'
            when age >= 60 and age < 65 then '060-064'
            when age >= 65 and age < 70 then '065-069'
            when age >= 70 and age < 75 then '070-074'
            when age >= 75 and age < 80 then '075-079'
            when age >= 80 and age < 85 then '080-084'
            when age >= 85 and age < 90 then '085-089'
            when age >= 90 and age < 95 then '090-094'
            when age >= 95 and age < 100 then '095-099'
            else '100+'
        end as age_band,
        case when marital_status like 'Married%' then true else false end as married

    from countries

),

sampled as (

    select
        sex,
        census_region,
        job_class,
        continent,
        age_band,
        married

    from ages
    where sha256($salt || ':u:' || cast(id as varchar)) < '4ccccccccccccc'

),

aggregated as (

    select
        sex,
        census_region,
        job_class,
        age_band,
        count(*) as n

    from sampled
    group by
        sex,
        census_region,
        job_class,
        age_band

),

final as (

    select
        sex,
        census_region,
        job_class,
        age_band,
        n

    from aggregated
    where n >= 20

)

select
    sex,
    census_region,
    job_class,
    age_band,
    n
from final
order by
    sex,
    census_region,
    job_class,
    age_band

--- 165 chain of 15
-- a chain of 15 CTEs; sample in step 4, count in step 12, summed in 14, threshold in 15. Sound.
with
s01 as (select id, age, sex, zip, race, education, state, active from people),
s02 as (select * from s01 where active is not false),
s03 as (select id, age, sex, zip as postal, race, education, state from s02),
s04 as (select * from s03 where random() < 0.2),
s05 as (select age, coalesce(sex, 'U') as sex, postal, race, education, state from s04),
s06 as (select least(age, 90) as age, sex, postal, race, education, state from s05),
s07 as (select age // 10 as dec, sex, postal, race, education, state from s06),
s08 as (select dec * 10 as dec10, sex, left(postal, 4) as p4, race, education, state from s07),
s09 as (select dec10, sex, left(p4, 2) as p2, race, state from s08),
s10 as (select dec10, sex, p2, nullif(trim(race), '') as race from s09 where state <> 'XX'),
s11 as (select cast(dec10 as varchar) || 's' as decade, upper(sex) as sex, p2, race from s10),
s12 as (select decade, sex, p2, count(*) as c from s11 group by decade, sex, p2),
s13 as (select decade as d, sex as g, c as n from s12),
s14 as (select d, g, sum(n) as n from s13 group by d, g),
s15 as (select d, g, n from s14 where n >= 25)
select d as decade, g as sex, n from s15 order by decade, sex

--- 166 case many columns
-- eleven recoded columns, as the Adult extract of the docs. Sound.
select
  case when age < 30 then '[17,30)' when age < 45 then '[30,45)' when age < 60 then '[45,60)' else '[60,)' end as age,
  case when education in ('Bachelors', 'Masters') then 'higher' else 'other' end as education,
  sex as sex_,
  race as race_,
  case when native_country = 'United-States' then 'US' when native_country is null then null else 'elsewhere' end as country,
  count(*) as n
from people tablesample bernoulli (20 percent)
group by 1, 2, 3, 4, 5
having count(*) >= 20
order by 1, 2, 3, 4, 5

--- 167 where not in subset
-- filter with LIKE, NOT IN, OR, IS NOT NULL. Sound.
select sex, race, count(*) as n
from people
where (state like 'N%' or state not in ('TX', 'CA')) and sex is not null and not (age is null) and random() < 0.2
group by sex, race
having count(*) >= 20
order by sex, race

--- 168 filter after recode
-- a filter on the recoded value above the sample. Sound.
with r as (
  select case when age < 18 then 'minor' when age < 65 then 'adult' else 'senior' end as band, sex
  from people where random() < 0.1
)
select band, sex, count(*) as n from r where band <> 'minor' group by band, sex having count(*) >= 20 order by band, sex

--- 169 random and in two ctes
-- filter in one CTE, draw in the next, recode in the third. Sound.
with a as (select * from people where year in (2023, 2024)),
b as (select age, sex, zip from a where random() < 0.1),
c as (select age // 20 * 20 as band, sex, left(zip, 1) as z from b)
select band, sex, z, count(*) as n from c group by band, sex, z having count(*) >= 20 order by band, sex, z

--- 170 random on subselect star
-- select * in a sub-select, the draw outside. Sound.
select sex, race, count(*) as n from (select * from people) as p where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 171 double colon casts
-- casts to text never fail. Sound.
select (age::varchar)[1:1] as digit, (year::text) || '-' || sex as ys, count(*) as n from people tablesample bernoulli (10 percent) group by digit, ys having count(*) >= 20 order by digit, ys

--- 172 try cast chain
-- TRY_CAST of a prefix, coalesced, binned. Sound.
select coalesce(try_cast(substring(zip, 1, 2) as integer) // 10, -1) as z, sex, count(*) as n from people tablesample bernoulli (10 percent) group by z, sex having count(*) >= 20 order by z, sex

--- 173 case bins floor double
create table people (id integer primary key, sex varchar, income double, hours_per_week integer);
--- schema above
-- TRY_CAST of floor of a double to bigint: NaN and infinity give NULL, -0 is 0. Sound.
select try_cast(floor(income / 1000) as bigint) as income_k, sex, count(*) as n
from people tablesample bernoulli (20 percent)
group by income_k, sex
having count(*) >= 20
order by income_k, sex

--- 174 hours case between
-- BETWEEN, NOT BETWEEN in WHEN. Sound.
select case when hours_per_week between 0 and 19 then 'part' when hours_per_week not between 0 and 60 then 'over' when hours_per_week is null then 'n/a' else 'full' end as hours, sex, count(*) as n
from people tablesample bernoulli (10 percent)
group by hours, sex
having count(*) >= 20
order by hours, sex

--- 175 list contains recode
-- membership in a constant list. Sound.
select list_contains(['NY', 'NJ'], state) as metro, sex, count(*) as n from people tablesample bernoulli (10 percent) group by metro, sex having count(*) >= 20 order by metro, sex

--- 176 md5 of key
-- a recode may be any deterministic function of the row: md5 of the two-digit prefix. Sound.
select md5(left(zip, 2)) as zkey, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zkey, sex having count(*) >= 20 order by zkey, sex

--- 177 abs sign mod
-- arithmetic: abs, sign, mod. Sound.
select abs(score) % 7 as wd, sign(score - 50) as side, count(*) as n from people tablesample bernoulli (20 percent) group by wd, side having count(*) >= 20 order by wd, side

--- 178 case with functions
-- functions inside conditions. Sound.
select case when length(coalesce(occupation, '')) = 0 then 'none' when lower(left(occupation, 1)) in ('e', 's') then 'es' else 'rest' end as occ, count(*) as n
from people tablesample bernoulli (10 percent)
group by occ having count(*) >= 20 order by occ

--- 179 same column two recodes
-- one column released at two precisions. Sound: both are in the grouping.
select age // 10 as decade, age >= 65 as senior, sex, count(*) as n from people tablesample bernoulli (10 percent) group by decade, senior, sex having count(*) >= 20 order by decade, senior, sex

--- 180 keep raw columns
-- raw columns kept as they are. Sound: the threshold protects.
select p.sex, p.race, p.education, p.native_country, count(*) as n from people p tablesample bernoulli (20 percent) group by p.sex, p.race, p.education, p.native_country having count(*) >= 20 order by p.sex, p.race, p.education, p.native_country

--- 181 outer select renames
-- the released groups renamed and reordered by an outer query. Sound.
select g.n as "People", g.sex as "Sex", g.z as "Area" from (
  select left(zip, 3) as z, sex, count(*) as n from people where random() < 0.1 group by 1, 2 having count(*) >= 20
) g order by g.z, g.sex

--- 182 outer select labels
-- labels put on released keys by an outer CASE. Sound: post-processing.
with released as (
  select left(zip, 3) as z, sex, count(*) as n from people where random() < 0.1 group by 1, 2 having count(*) >= 20
)
select z, case sex when 'Male' then 'men' when 'Female' then 'women' else 'not stated' end as sex_label, n, n * 10 as estimate
from released order by z, sex_label

--- 183 cte not materialized
-- NOT MATERIALIZED, read once. Sound.
with s as not materialized (select sex, race from people tablesample bernoulli (10 percent))
select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 184 unused columns sampled
-- names and mail addresses pass a CTE and are not released. Sound.
with s as (select name, email, sex, race from people where random() < 0.1)
select s.sex, s.race, count(*) as n from s group by s.sex, s.race having count(*) >= 20 order by s.sex, s.race

--- 185 unused cte
-- a CTE that nothing reads. Sound: it is not run for the release.
with unused as (select zip from people), s as (select sex from people where random() < 0.1)
select sex, count(*) as n from s group by sex having count(*) >= 20 order by sex

--- 186 group by alias new name
-- alias of the recode is a fresh name. Sound.
select left(zip, 3) as zip_area, count(*) as n from people tablesample bernoulli (10 percent) group by zip_area having count(*) >= 20 order by zip_area

--- 187 alias same as column expr grouped
-- alias hides the column, but the expression itself is grouped. Sound: grouped by the recode.
select left(zip, 3) as zip, count(*) as n from people tablesample bernoulli (10 percent) group by left(zip, 3) having count(*) >= 20 order by 1

--- 188 ordinal with hidden alias
-- the ordinal means the output expression, whatever its name. Sound.
select left(zip, 3) as zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by 1, 2 having count(*) >= 20 order by 1, 2

--- 189 decimal rate
-- rate with decimals. Sound.
select sex, race, count(*) as n from people tablesample bernoulli (2.5 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 190 exponent percent
-- rate with an exponent. Sound.
select sex, race, count(*) as n from people tablesample bernoulli (1e1 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 191 trailing comments
-- comments before, inside and after; two semicolons' worth of nothing. Sound.
-- second comment /* not opened */
select sex /* ; select 1 */, race -- ; drop table people
, count(*) as n
from people tablesample bernoulli (10 percent)
group by sex, race
having count(*) >= 20
order by sex, race; -- the end
/* truly */

--- 192 trailing commas
-- DuckDB allows trailing commas in the select list. Sound.
select sex, race, count(*) as n, from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 193 dollar quoted literal
-- a dollar-quoted literal. Sound.
select case when city = $$New York$$ then 'ny' else 'other' end as c, sex, count(*) as n from people tablesample bernoulli (10 percent) group by c, sex having count(*) >= 20 order by c, sex

--- 194 e string literal
-- an E-string literal. Sound.
select case when race = E'\x20' then 'blank' else race end as r, sex, count(*) as n from people tablesample bernoulli (10 percent) group by r, sex having count(*) >= 20 order by r, sex

--- 195 numeric underscores
-- 20_000 with an underscore, hexadecimal no. Sound.
select case when salary < 20_00 then 'low' else 'high' end as s, sex, count(*) as n from people tablesample bernoulli (10 percent) group by s, sex having count(*) >= 20 order by s, sex

--- 196 two level keyed where threshold
-- two-level with the threshold in an outer WHERE. Sound.
select band, sex, n from (
  select case when age < 50 then 'a' else 'b' end as band, sex, sum(c) as n
  from (
    select age, sex, count(*) as c from people
    where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999'
    group by age, sex
  ) r
  group by 1, 2
) g where g.n >= 20 order by band, sex

--- 197 two level filter between
-- a filter on raw values between the levels. Sound: a recode to nothing.
with raw as (select age, sex, count(*) as c from people tablesample bernoulli (10 percent) group by age, sex)
select age // 10 as d, sex, sum(c) as n from raw where age >= 18 group by d, sex having sum(c) >= 20 order by d, sex

--- 198 two level cast sum
-- the sum cast to bigint. Sound.
with raw as (select age, sex, count(*) as c from people tablesample bernoulli (10 percent) group by age, sex)
select age // 10 as d, sex, sum(c)::bigint as n from raw group by d, sex having sum(c) >= 20 order by d, sex

--- 199 looker style
-- Looker's generated SQL: derived table, dotted aliases, ordinals. Sound.
WITH people_sample AS (SELECT * FROM main.people AS p WHERE RANDOM() < 0.1
       )
SELECT
    CASE WHEN people_sample."age" < 18 THEN 'Below 18'
WHEN people_sample."age" >= 18 AND people_sample."age" < 35 THEN '18 to 34'
WHEN people_sample."age" >= 35 AND people_sample."age" < 65 THEN '35 to 64'
WHEN people_sample."age" >= 65 THEN '65 or Above'
ELSE 'Undefined'
END AS "people.age_tier",
    people_sample."sex" AS "people.sex",
    COUNT(*) AS "people.count"
FROM people_sample
GROUP BY
    1,
    2
HAVING (COUNT(*) >= 20)
ORDER BY
    3 DESC, 1, 2

--- 200 superset style
-- Superset's virtual table around a custom SQL. Sound.
SELECT "education" AS "education",
       "sex" AS "sex",
       "n" AS "n"
FROM
  (SELECT education,
          sex,
          count(*) AS n
   FROM people
   WHERE random() < 0.05
   GROUP BY education,
            sex
   HAVING count(*) >= 20) AS virtual_table
ORDER BY "education" ASC,
         "sex" ASC

--- 201 metabase style
-- Metabase: schema-qualified, nested source, date filter. Sound.
SELECT
  "source"."birth_year" AS "birth_year",
  "source"."sex" AS "sex",
  COUNT(*) AS "count"
FROM
  (
    SELECT
      DATE_TRUNC('year', "main"."people"."birth_date") AS "birth_year",
      "main"."people"."sex" AS "sex"
    FROM
      "main"."people"
    WHERE
      ("main"."people"."birth_date" >= DATE '1950-01-01')
      AND ("main"."people"."birth_date" < DATE '2000-01-01')
      AND (RANDOM() < 0.3)
  ) AS "source"
GROUP BY
  "source"."birth_year",
  "source"."sex"
HAVING
  COUNT(*) >= 20
ORDER BY
  "source"."birth_year" ASC,
  "source"."sex" ASC

--- 202 powerbi style
-- Power BI's folding: `$Table`-like nesting, brackets everywhere. Sound.
select "rows"."race" as "race", "rows"."sex" as "sex", count(*) as "Count"
from
(
    select "_"."race", "_"."sex", "_"."age"
    from
    (
        select "race", "sex", "age"
        from "main"."people" tablesample bernoulli (10 percent)
    ) "_"
    where "_"."age" >= 18 and "_"."age" is not null
) "rows"
group by "race", "sex"
having count(*) >= 20
order by "rows"."race", "rows"."sex"

--- 203 sqlglot style
-- as sqlglot prints it. Sound.
SELECT
  CASE
    WHEN "people"."education" IN ('Bachelors', 'Masters')
    THEN 'degree'
    ELSE 'none'
  END AS "edu",
  SUBSTRING("people"."zip", 1, 3) AS "zip3",
  COUNT(*) AS "n"
FROM "people" AS "people"
WHERE
  RANDOM() < 0.1 AND NOT "people"."sex" IS NULL
GROUP BY
  CASE
    WHEN "people"."education" IN ('Bachelors', 'Masters')
    THEN 'degree'
    ELSE 'none'
  END,
  SUBSTRING("people"."zip", 1, 3)
HAVING
  COUNT(*) >= 20
ORDER BY
  "edu" NULLS FIRST,
  "zip3" NULLS FIRST

--- 204 ibis style
-- as ibis prints it: t0, t1, t2. Sound.
SELECT "t2"."band", "t2"."sex", "t2"."n" FROM (
  SELECT "t1"."band", "t1"."sex", COUNT(*) AS "n" FROM (
    SELECT CASE WHEN "t0"."age" < CAST(40 AS TINYINT) THEN 'a' ELSE 'b' END AS "band", "t0"."sex" FROM "people" AS "t0" WHERE RANDOM() < CAST(0.1 AS DOUBLE)
  ) AS "t1" GROUP BY 1, 2
) AS "t2" WHERE "t2"."n" >= CAST(20 AS TINYINT) ORDER BY "t2"."band" ASC, "t2"."sex" ASC

--- 205 leading commas
-- leading commas, keywords in upper case, names in lower. Sound.
SELECT
      sex
    , race
    , year(birth_date) - year(birth_date) % 10 AS decade
    , COUNT(*)                                 AS n
FROM people
    TABLESAMPLE BERNOULLI (20 PERCENT)
WHERE 1 = 1
    AND birth_date IS NOT NULL
    AND native_country IN ('United-States', 'Mexico')
GROUP BY
      1
    , 2
    , 3
HAVING
    COUNT(*) >= 20
ORDER BY
      1
    , 2
    , 3

--- 206 mixed case keywords
-- the count in HAVING by its alias in another case. Sound.
Select Sex, Race, Count(*) As Cnt From People Where Random() < 0.1 Group By Sex, Race Having CNT >= 20 Order By Sex, Race

--- 207 orders country month
create schema shop;
create table shop.orders (
  order_id bigint not null primary key,
  country varchar(2) not null,
  status varchar,
  placed_at timestamp not null,
  total decimal(10, 2),
  check (total >= 0)
);
--- schema above
-- one order is one person here; schema-qualified table, month and band. Sound.
select o.country, strftime(o.placed_at, '%Y-%m') as month,
  case when o.total < 50 then '<50' when o.total < 500 then '50-499' when o.total >= 500 then '500+' else 'n/a' end as basket,
  count(*) as orders
from shop.orders o tablesample bernoulli (30 percent)
where o.status <> 'cancelled'
group by o.country, month, basket
having count(*) >= 2
order by o.country, month, basket

--- 208 employees tenure
create type grade as enum ('junior', 'senior', 'lead');
create table employees (emp_pk uuid primary key, gender varchar, g grade, hired date, site varchar default 'HQ');
--- schema above
-- an enum and a date against a fixed day; keyed by uuid. Sound.
with base as (
  select emp_pk, gender, g, site, date_diff('year', hired, date '2026-06-30') as tenure from employees
)
select gender, g, if(tenure >= 10, '10+', '<10') as tenure_band, count(*) as n
from base
where sha256($salt || ':u:' || cast(emp_pk as varchar)) < '7fffffffffff'
group by gender, g, tenure_band
having count(*) >= 20
order by gender, g, tenure_band

--- 209 patients icd chapter
-- one row a patient; diagnosis to chapter by its first letter. Sound.
select
  case left(diagnosis, 1) when 'J' then 'respiratory' when 'E' then 'endocrine' when 'I' then 'circulatory' else 'other' end as chapter,
  case when age >= 65 then '65+' when age >= 18 then '18-64' when age < 18 then '<18' end as age_group,
  sex,
  count(*) as patients
from patients tablesample bernoulli (25 percent)
group by chapter, age_group, sex
having patients >= 15
order by chapter, age_group nulls last, sex

--- 210 survey keep all
create table survey (resp_pk integer primary key, q1 integer check (q1 between 1 and 5), q2 integer, country varchar);
--- schema above
-- survey answers as they are, top-coded. Sound.
select q1, least(q2, 5) as q2, country, count(*) as n from survey tablesample bernoulli (50 percent) group by q1, least(q2, 5), country having count(*) >= 2 order by q1, 2, country

--- 211 visits latest by qualify alias
-- QUALIFY by the alias of the row number. Sound.
with latest as (
  select v.*, row_number() over (partition by v.person_id order by v.visit_date desc, v.visit_id desc) as rn
  from visits v
  where sha256(? || ':u:' || cast(v.person_id as varchar)) < '3fffffffffff'
  qualify rn = 1
)
select ward, region, count(*) as n from latest group by ward, region having count(*) >= 20 order by ward, region

--- 212 visits sub select rn
-- the row number two sub-selects down. Sound.
select x.ward, count(*) as n
from (
  select y.ward from (
    select ward, person_id, row_number() over (partition by person_id order by visit_id) as k from visits
  ) y
  where y.k = 1 and sha256($1 || ':u:' || cast(y.person_id as varchar)) < '3fffffffffff'
) x
group by x.ward
having count(*) >= 20
order by x.ward

--- 213 visits filter before rn
-- first the visits of 2023, then one a person, then recodes. Sound.
with in_year as (select * from visits where visit_date between date '1950-01-01' and date '2010-12-31'),
sampled as (select * from in_year where sha256(? || ':u:' || cast(person_id as varchar)) < '7fffffffffff'),
ranked as (select *, row_number() over (partition by person_id order by visit_date, visit_id) as rn from sampled),
one as (select left(diagnosis, 1) as letter, region from ranked where rn = 1)
select letter, region, count(*) as n from one group by 1, 2 having count(*) >= 20 order by 1, 2

--- 214 two level visits
-- one row a person, raw groups, recoded sums. Sound.
with one as (
  select diagnosis, region from visits
  where sha256(? || ':u:' || cast(person_id as varchar)) < '7fffffffffff'
  qualify row_number() over (partition by person_id order by visit_date, visit_id) = 1
),
raw as (select diagnosis, region, count(*) as cnt from one group by diagnosis, region)
select left(diagnosis, 1) as letter, sum(cnt) as n from raw group by letter having sum(cnt) >= 20 order by letter

--- 215 ntiles by hand
-- fixed cut points as decimals. Sound.
select case when income < 1234.5 then 1 when income < 4321.25 then 2 else 3 end as class, sex, count(*) as n from people where random() < 0.2 group by class, sex having count(*) >= 20 order by class, sex

--- 216 case bool not
-- NOT, IS NOT TRUE, nested boolean columns. Sound.
select not coalesce(active, false) as inactive, (age >= 18) is not true as minor_or_unknown, count(*) as n from people tablesample bernoulli (10 percent) group by inactive, minor_or_unknown having count(*) >= 20 order by inactive, minor_or_unknown

--- 217 greatest coalesce chain
-- coalesce over several columns and a constant. Sound.
select coalesce(state, city, 'nowhere') as place, sex, count(*) as n from people tablesample bernoulli (10 percent) group by place, sex having count(*) >= 20 order by place, sex

--- 218 decade via text
-- the decade made of text: left of the year. Sound.
select left(cast(year(birth_date) as varchar), 3) || '0s' as decade, sex, count(*) as n from people tablesample bernoulli (10 percent) group by decade, sex having count(*) >= 20 order by decade, sex

--- 219 week and month parts
-- several date parts of a timestamp. Sound.
select month(created_at) as m, dayofweek(created_at) >= 5 as weekend, hour(created_at) // 6 as quarter_of_day, count(*) as n from people tablesample bernoulli (50 percent) group by m, weekend, quarter_of_day having count(*) >= 20 order by m, weekend, quarter_of_day

--- 220 date trunc cast
-- date_trunc with casts to date. Sound.
select date_trunc('month', created_at)::date as month, sex, count(*) as n from people tablesample bernoulli (50 percent) group by month, sex having count(*) >= 20 order by month, sex

--- 221 age in literal interval
-- a date compared with a constant minus a constant interval. Sound.
select birth_date <= date '2026-01-01' - interval 18 year as adult, sex, count(*) as n from people tablesample bernoulli (10 percent) group by adult, sex having count(*) >= 20 order by adult, sex

--- 222 ilike not like
-- LIKE with %, _ and ESCAPE on constants. Sound.
select email like '%@example.com' as corporate, occupation not ilike 'other\_%' escape '\' as named, count(*) as n from people tablesample bernoulli (10 percent) group by corporate, named having count(*) >= 20 order by corporate, named

--- 223 similar to constant
-- SIMILAR TO a constant pattern. Sound.
select zip similar to '(1|2)[0-9]{4}' as east, sex, count(*) as n from people tablesample bernoulli (10 percent) group by east, sex having count(*) >= 20 order by east, sex

--- 224 in tuple
-- IN over a constant list of numbers, negated. Sound.
select year not in (2020, 2021, 2022) as recent, race, count(*) as n from people tablesample bernoulli (10 percent) group by recent, race having count(*) >= 20 order by recent, race

--- 225 union three years
-- three partitions, filters on top and below, sampled in the middle. Sound.
with y as (
  select age, sex, 2022 as yr from people where year = 2022
  union all
  select age, sex, 2023 from people where year = 2023
  union all
  select age, sex, 2024 from people where year = 2024
),
s as (select * from y where random() < 0.2)
select yr, case when age < 40 then 'young' else 'old' end as band, sex, count(*) as n
from s where sex is not null
group by yr, band, sex
having count(*) >= 20
order by yr, band, sex

--- 226 union in subselect not
-- partition by a condition and its negation with NULL kept apart. Sound.
select p.kind, p.sex, count(*) as n from (
  select 'adult' as kind, sex from people where age >= 18
  union all
  select 'minor' as kind, sex from people where not (age >= 18)
  union all
  select 'unknown' as kind, sex from people where age is null
) p where random() < 0.1 group by p.kind, p.sex having count(*) >= 20 order by p.kind, p.sex

--- 227 union keyed partitions
create table members (member_pk bigint primary key, region varchar, plan varchar);
--- schema above
-- the keyed sample in each part of one table. Sound: one coin a member.
with u as (
  select plan, 'n' as r from members where region = 'north' and sha256($s || ':u:' || cast(member_pk as varchar)) < '7fffffffffff'
  union all
  select plan, 's' as r from members where region = 'south' and sha256($s || ':u:' || cast(member_pk as varchar)) < '7fffffffffff'
)
select r, plan, count(*) as n from u group by r, plan having count(*) >= 20 order by r, plan

--- 228 view in mart
create schema raw;
create schema mart;
create table raw.people (id integer not null primary key, zip varchar, sex varchar, age integer, deleted boolean);
create view mart.people as
  select p.id, left(p.zip, 3) as zip3, p.sex, p.age
  from raw.people as p
  where not coalesce(p.deleted, false);
--- schema above
-- a mart view over the raw table of the same name. Sound.
select zip3, sex, age // 20 as a20, count(*) as n
from mart.people
where random() < 0.5
group by zip3, sex, a20
having count(*) >= 20
order by zip3, sex, a20

--- 229 view with cte
create table people (id integer primary key, sex varchar, age integer);
create or replace view v as with a as (select id, sex, age from people where age is not null) select id, sex, case when age < 50 then 'a' else 'b' end as band from a;
--- schema above
-- the view has a CTE of its own. Sound.
with a as (select * from v) select sex, band, count(*) as n from a where random() < 0.1 group by sex, band having count(*) >= 20 order by sex, band

--- 230 share and cumulative
-- share, rank and cumulative share over the released groups, totally ordered. Sound: post-processing.
with r as (select occupation, sex, count(*) as n from people where random() < 0.2 group by occupation, sex having count(*) >= 20)
select occupation, sex, n,
  round(100.0 * n / sum(n) over (), 2) as pct,
  dense_rank() over (order by n desc) as place,
  max(n) over (partition by sex) as largest_of_sex
from r
order by place, occupation, sex

--- 231 released bands
-- released counts put into bands, and a label made of two keys. Sound: post-processing.
with r as (select race, sex, count(*) as n from people where random() < 0.2 group by race, sex having count(*) >= 20)
select coalesce(race, '?') || ' / ' || coalesce(sex, '?') as label, n, case when n < 50 then '20-49' when n < 100 then '50-99' else '100+' end as band, n / 0.2 as estimate from r order by label

--- 232 released total by group
-- totals of released groups by a coarser key. Sound: post-processing.
with r as (select race, sex, education, count(*) as n from people where random() < 0.2 group by race, sex, education having count(*) >= 20)
select race, count(*) as groups_released, sum(n) as people_released from r group by race order by race

--- 233 having range
-- threshold and an upper bound. Sound.
select state, city, count(*) as n from people where random() < 0.2 group by state, city having count(*) >= 20 and count(*) < 100000 order by state, city

--- 234 having key in
-- conditions on keys in HAVING. Sound.
select state, sex, count(*) as n from people where random() < 0.2 group by state, sex having count(*) >= 20 and state in ('NY', 'CA') and sex is not null order by state, sex

--- 235 random lt cast decimal
-- CAST of the rate to DOUBLE. Sound.
select state, sex, count(*) as n from people where random() < cast(0.1 as double) group by state, sex having count(*) >= 20 order by state, sex

--- 236 random percent hundred
-- 100 * random() <= 10. Sound.
select state, sex, count(*) as n from people where 100 * random() <= 10 group by state, sex having count(*) >= 20 order by state, sex

--- 237 random fraction int
-- 1/10 in DuckDB is 0.1. Sound.
select state, sex, count(*) as n from people where random() < 1/10 group by state, sex having count(*) >= 20 order by state, sex

--- 238 random is true
-- (random() < .1) is true, = true. Sound.
select state, sex, count(*) as n from people where (random() < 0.1) is true group by state, sex having count(*) >= 20 order by state, sex

--- 239 sample limit free subquery alias
-- sub-select of a sub-select of a sub-select. Sound.
select a.sex, count(*) as n from (select b.sex from (select c.sex, c.age from (select * from people d) c where c.age > 10) b where random() < 0.1) a group by a.sex having count(*) >= 20 order by a.sex

--- 240 using sample before order in cte
-- USING SAMPLE in a grouped CTE. Sound.
with g as (select sex, race, count(*) as n from people where age > 17 group by sex, race using sample 20% (bernoulli))
select * from g where n >= 20 order by sex, race

--- 241 comment header dbt
-- dbt's own header comment below. Sound.
/* {"app": "dbt", "dbt_version": "1.11.0", "profile_name": "x", "target_name": "prod", "node_id": "model.x.y"} */

  
    
    

    create  table
      "memory"."main"."people_public__dbt_tmp"
  
    as (
      

with s as (
    select * from "memory"."main"."people"
    where random() < 0.1
)

select sex, race, count(*) as n
from s
group by 1, 2
having count(*) >= 20
order by 1, 2
    );

--- 242 keyed ctas secret relation
-- CTAS with the secrets relation and an alias. Sound.
create or replace table public_v2 as
select p.state, p.sex, count(*) as n
from people as p
where sha256((select salt from privacy_secrets.salts where release_id = 'adult_public_v1') || ':u:' || cast(p.id as varchar)) < '3fffffffffff'
group by p.state, p.sex
having count(*) >= 20
order by p.state, p.sex

--- 243 group by everything mixed
-- ordinals, aliases and expressions mixed in GROUP BY. Sound.
select left(zip, 2) as z, upper(sex) as s, age >= 65 as senior, count(*) as n from people where random() < 0.2 group by 1, s, age >= 65 having count(*) >= 20 order by z, s, senior

--- 244 order by nulls and collate free
-- ORDER BY with a CASE of the keys, keys follow. Sound.
select sex, race, count(*) as n from people where random() < 0.2 group by sex, race having count(*) >= 20 order by case when sex = 'Female' then 0 else 1 end, sex, race

--- 245 string functions more
-- concat, concat_ws, lpad, reverse, initcap-free. Sound.
select concat(left(state, 1), '*') as st, concat_ws('-', sex, race) as sr, lpad(cast(hours_per_week // 10 as varchar), 2, '0') as h, count(*) as n from people where random() < 0.9 group by st, sr, h having count(*) >= 20 order by st, sr, h

--- 246 numeric functions more
-- ceil, trunc, bit-free arithmetic with constants. Sound.
select ceil(hours_per_week / 10.0) as h, trunc(score / 25.0) as t, count(*) as n from people where random() < 0.9 group by h, t having count(*) >= 20 order by h, t

--- 247 parameters positional
-- numbered parameter, bound once. Sound.
select state, sex, count(*) as n from people where sha256($1 || ':u:' || cast(id as varchar)) < '3fffffffffff' group by state, sex having count(*) >= 20 order by state, sex

--- 248 window clause rn
-- the window is named in a WINDOW clause. Sound: one row a person.
with one as (
  select region, row_number() over w as rn from visits
  where sha256(? || ':u:' || cast(person_id as varchar)) < '7fffffffffff'
  window w as (partition by person_id order by visit_date, visit_id)
)
select region, count(*) as n from one where rn = 1 group by region having count(*) >= 20 order by region
