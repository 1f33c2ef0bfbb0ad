--- the shortest
select count(*) from people tablesample bernoulli (10 percent) having count(*) >= 20

--- the plain form
SELECT sex, race, COUNT(*) AS n
FROM people TABLESAMPLE BERNOULLI (10 PERCENT)
GROUP BY sex, race
HAVING COUNT(*) >= 20
ORDER BY sex, race;

--- comments, a semicolon, odd spacing, every case of letters
-- a comment with 'quotes" and a ; in it
select /* here
  as well */ Sex , COUNT ( * ) as N -- to the end
from PEOPLE TableSample Bernoulli ( 10 % ) group by SEX having n>=20 order by sex asc nulls last ; -- the end

--- using sample
with s as (select sex from people where age > 3 using sample 10 percent (bernoulli))
select sex, count(*) as n from s group by sex having count(*) > 19 order by all

--- using sample, the other way round
with s as (select * from people using sample bernoulli(0.5%))
select sex, count(*) as n from s group by all having count(*) >= 20.0 order by 1

--- random() directly over the base table
select sex, count(*) as n from people where age > 17 and random() < 1/10 group by sex having 20 <= count(*)

--- random() mirrored
select sex, count(*) as n from people where 0.05 > random() group by sex having count(*) >= 20

--- keyed by a parameter
select sex, count(*) as n from people
where sha256(? || ':u:' || cast(id as varchar)) < '19999999999999a'
group by sex having count(*) >= 20

--- keyed by a named parameter, the key as it is
select sex, count(*) as n from people where '0ccc' > sha256($salt || ':u:' || id)
group by sex having count(*) >= 20

--- keyed by concat, which must assume that no key is NULL
select sex, count(*) as n from people where sha256(concat($1, ':u:', id)) < '0ccc'
group by sex having count(*) >= 20

--- keyed by the salt of a secrets relation
select sex, count(*) as n from people
where sha256((select salt from privacy_secrets.salts where release_id = 'adult_v1') || ':u:' || id::text) < '0ccc'
group by sex having count(*) >= 20

--- keyed by the row number
select sex, count(*) as n from people where sha256(? || ':u:' || rowid) < '0ccc' group by sex having count(*) >= 20

--- drawn by rowid
select sex, count(*) as n from people where rowid in (select unit from policy_engine_sample_199999999999999)
group by sex having count(*) >= 20

--- drawn by key, renamed on the way
with s as (select id as who, sex from people)
select sex, count(*) as n from s where who in (select unit from policy_engine_sample_199999999999999)
group by sex having count(*) >= 20

--- open: a Parquet file by its row numbers
select sex, count(*) as n from read_parquet('people.parquet', file_row_number = true)
where file_row_number in (select unit from policy_engine_sample_199999999999999)
group by sex having count(*) >= 20

--- open: a Parquet file by name
select people.sex, count(*) as n from 'people.parquet' tablesample bernoulli (10%) group by all having count(*) >= 20

--- open: several Parquet files
select sex, count(*) as n from read_parquet('p*.parquet') tablesample bernoulli (10%) group by all having count(*) >= 20

--- aliases of tables and qualified names
select p.sex, count(*) as n from people as p tablesample bernoulli (10%)
group by p.sex having n >= 20 order by p.sex

--- names in quotes, and odd ones
select "people"."sex", "select", "odd ""name" as "; drop table x; --", count(*) as "n"
from "main"."people" tablesample bernoulli (10%)
group by "sex", "select", 3 having "n" >= 20 order by all

--- names qualified with a schema
select main.people.sex, count(*) as n from main.people tablesample bernoulli (10%)
group by people.sex having count(*) >= 20

--- from first
from people tablesample bernoulli (10%) select sex, count(*) as n group by sex having count(*) >= 20

--- a chain of queries
with s as (select * from people tablesample bernoulli (10%)),
     recoded as (select left(zip, 3) as area, sex from s),
     counted as (select area, sex, count(*) as n from recoded group by area, sex)
select area, sex, n from counted where n >= 20 order by area, sex

--- a table that a query is called like
with people as (select * from people tablesample bernoulli (10%))
select sex, count(*) as n from people group by sex having count(*) >= 20

--- a query inside a query inside a query
select x.sex, x.n from (
  select sex, count(*) as n from (select * from people tablesample bernoulli (10%)) group by sex
) as x where x.n >= 20 and x.n < 5000 and x.sex is not null order by x.sex

--- columns named by the query that reads them
with s(gender, years) as (select sex, age from people tablesample bernoulli (10%))
select g, m from (select gender, count(*) from s group by gender) as c(g, m) where m >= 20

--- a simple CASE and a nested one
select case sex when 'F' then 'female' when 'M' then 'male' else 'other' end as gender,
       case when age < 18 then 'child'
            when age between 18 and 64 then case when hours > 34 then 'full' else 'part' end
            else 'old' end as life,
       count(*) as n
from people tablesample bernoulli (10%) group by gender, life having n >= 20 order by n desc, gender, life

--- every condition
select member, count(*) as n from people tablesample bernoulli (10%)
where zip like '1%' and zip not like '%9' and race ilike 'w%' and sex in ('F', 'M') and race not in ('x')
  and age is not null and not (age between 1 and 2) and age not between 3 and 4 and (hours = 40 or hours <> 0)
  and member and member is true and zip is distinct from '00000' and 1 = 1
group by member having count(*) >= 20

--- coalesce, nullif, if, greatest, least
select coalesce(nullif(race, ''), '?') as r, if(age < 30, 'young', 'old') as a, greatest(age, 18) as g,
       least(age, 90) as l, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- decades
select floor(age / 10) * 10 as decade, age // 10 * 10 as also, age - age % 5 as five, count(*) as n
from people tablesample bernoulli (10%) group by decade, also, five having count(*) >= 20 order by decade

--- texts
select left(zip, 3) as a, substring(zip, 1, 3) as b, zip[1:3] as c, upper(trim(race)) as d, sex || '/' || race as e,
       concat(sex, '-', race) as f, replace(zip, '0', 'o') as g, regexp_extract(zip, '^[0-9]+') as h,
       md5(zip) as i, length(zip) as j, starts_with(zip, '1') as k, contains(zip, '1') as l, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- dates
select year(born) as y, extract(quarter from born) as q, date_trunc('month', seen) as m, strftime(seen, '%Y') as f,
       dayofweek(born) as w, hour(seen) as h, cast(seen as date) as d, count(*) as n
from people tablesample bernoulli (10%)
where born >= date '1900-01-01' and born < '2020-01-01' group by all having count(*) >= 20

--- casts that cannot fail
select cast(age as bigint) as a, try_cast(zip as integer) as b, age::varchar as c, member::integer as d,
       try(age // hours) as e, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- an alias used by its neighbour
select z, y, count(*) as n
from (select left(zip, 3) as z, upper(z) as y from people tablesample bernoulli (10%)) group by z, y having count(*) >= 20

--- a recode called like its column
select left(p.zip, 3) as zip, count(*) as n from people p tablesample bernoulli (10%)
group by left(p.zip, 3) having count(*) >= 20

--- raw first: groups of raw columns, recoded and added up
with raw as (select age, sex, count(*) as c from people tablesample bernoulli (10%) group by all),
     recoded as (select case when age < 40 then 'a' else 'b' end as age, sex, c from raw)
select age, sex, cast(sum(c) as bigint) as n from recoded group by age, sex having sum(c) >= 20 order by age, sex

--- one row a person
with ranked as (
  select *, row_number() over (partition by person_id order by day desc, rowid) as rn
  from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999'),
one as (select * from ranked where rn = 1)
select ward, count(*) as n from one group by ward having count(*) >= 20 order by ward

--- one row a person, sampled last
with one as (
  select ward, person_id from (
    select *, row_number() over (partition by person_id order by day) as rn from visits) where rn <= 1)
select ward, count(*) as n from one where sha256($1 || ':u:' || person_id) < '1999'
group by ward having count(*) >= 20 order by ward

--- a table
create table out as select sex, count(*) as n from people tablesample bernoulli (10%)
group by sex having count(*) >= 20 order by sex

--- a table, replaced, in parentheses
create or replace table main.out as (
  select sex, count(*) as n from people tablesample bernoulli (10%) group by sex having count(*) >= 20 order by sex)

--- each group as often as its count says
with g as (select sex, race, count(*) as n from people tablesample bernoulli (10%) group by sex, race having n >= 20)
select sex, race from (select sex, race, unnest(range(n)) as i from g) order by sex, race

--- what is made of released groups is nobody's business
with g as (select sex, count(*) as n from people tablesample bernoulli (10%) group by sex having count(*) >= 20)
select *, n * 10 as estimate, round(n / 3.0, 1) as third, cast(sex as integer) as fails from g where sex <> 'x' order by n desc

--- a function of the count beside it
select sex, count(*) as n, n * 10 as estimate, cast(count(*) as integer) as m
from people tablesample bernoulli (10%) group by sex having n >= 20 and n % 2 = 0

--- a threshold with an upper end
select sex, count(*) as n from people tablesample bernoulli (10%) group by sex having count(*) between 20 and 1000

--- a collation pinned to bytes
select name collate "binary" as name, count(*) as n from people tablesample bernoulli (10%) group by 1 having count(*) >= 20

--- a collated column under fixed labels
select case when name = 'ann' then 'ann' else 'other' end as who, count(*) as n
from people tablesample bernoulli (10%) group by who having count(*) >= 20

--- known: a view, and a view of the view
select area, sex, count(*) as n from everyone
where sha256(? || ':u:' || cast(id as varchar)) < '1999' group by area, sex having count(*) >= 20

--- known: numbers of every kind, compared with numbers
select case when height < 150.5 then 's' when wealth < 1000 then 'm' when weight >= 80 then 'l' else 'x' end as g,
       count(*) as n
from people tablesample bernoulli (10%) group by g having count(*) >= 20

--- a hint, which is a comment
select /*+ hint('it */ sex, count(*) as n from people tablesample bernoulli (10%) group by sex having count(*) >= 20;;

--- a sample in every place for one
with a as (select * from people tablesample 10% (bernoulli)) select sex, count(*) as n from a group by sex having count(*) >= 20

--- using sample behind the groups, which DuckDB draws before them
select sex, count(*) as n from people group by sex having count(*) >= 20 using sample 10 percent (bernoulli)

--- a sampled table in parentheses
select sex, count(*) as n from (people tablesample bernoulli (10%)) group by people.sex, sex having count(*) >= 20

--- a sampled table in parentheses, under a name
select p.sex, count(*) as n from (people tablesample bernoulli (10%)) as p group by p.sex having count(*) >= 20

--- keyed by a bound of every digit
select sex, count(*) as n from people where sha256(? || ':u:' || id) <= '0fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff'
group by sex having count(*) >= 20

--- a threshold from below, denied
select sex, count(*) as n from people tablesample bernoulli (10%) group by sex having not count(*) < 20 and not 19 >= n

--- a threshold denied twice
select sex, count(*) as n from people tablesample bernoulli (10%) group by sex having not (not (count(*) > 19))

--- a threshold between whole numbers
select sex, count_star() as n from people tablesample bernoulli (10%) group by sex having count_star() >= 19.5

--- groups in parentheses
select sex, race, left(zip, 1) as z, count(*) as n from people tablesample bernoulli (10%) group by (sex, 2), z having count(*) >= 20

--- one group
select count(*) as n from people tablesample bernoulli (10%) group by () having count(*) >= 20

--- parts of dates
select date_part('year', born) as a, datepart('MONTH', seen) as b, monthname(born) as c, dayname(seen) as d,
       isoyear(seen) as e, weekday(born) as f, decade(born) as g, second(seen) as h, week(seen) as i,
       yearweek(seen) as j, century(born) as k, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- patterns
select zip similar to '9[0-9]+' as a, zip ~ '9.*' as b, zip !~ '8.*' as c, zip not similar to '7.' as d, zip glob '9*' as e,
       regexp_replace(zip, '([0-9])[0-9]{2}$', '\1xx') as f, regexp_replace(zip, '[0-9]', 'x', 'g') as g,
       regexp_matches(race, '^w', 'i') as h, regexp_full_match(zip, '9+') as i, regexp_extract(race, '(a|b)c', 1, 'i') as j, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- patterns that somebody must look at
select regexp_replace(zip, '(?i)a', 'b') as a, regexp_replace(zip, 'a', '\1') as b, count(*) as n
from people tablesample bernoulli (10%) where zip is null group by all having count(*) >= 20

--- more texts
select split_part(zip, '-', 1) as a, lpad(zip, 5, '0') as b, rpad(zip, 5, ' ') as c, reverse(zip) as d, strpos(race, 'a') as e,
       ascii(race) as g, prefix(zip, '9') as h, suffix(zip, '9') as i, trunc(age / 10) as j, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- a column recoded under its own name
select zip, age, count(*) as n from (select * exclude (name, zip), left(zip, 3) as zip from people tablesample bernoulli (10%))
group by zip, age having count(*) >= 20

--- columns replaced
select zip, age, count(*) as n from (select p.* replace (left(zip, 3) as Zip, age // 10 as age) from people as p tablesample bernoulli (10%))
group by zip, age having count(*) >= 20

--- one row a person, the rank left out
with r as (select *, row_number() over (partition by person_id order by day, rowid) as rn
  from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999'),
one as (select * exclude (rn, person_id) from r where rn = 1)
select ward, count(*) as n from one group by ward having count(*) >= 20 order by ward

--- known: numbers beside numbers that fit
select height > 150 as a, token > 5 as b, wealth > -5 as c, id > 1.555 as d, angle > cast(1 as double) as e, contains(marks, 5) as f,
       id > 0.123456789012345678 as g, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- days between dates, which are a number
select born - date '2000-01-01' as days, count(*) as n from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- thresholds of many digits
select sex, count(*) as n from people tablesample bernoulli (10%) group by sex having count(*) >= 000000000000000020 and count(*) >= 19.500001

--- texts of texts and plain values
select sex || '-' || race as a, concat(zip, sex, 'x') as b, concat_ws('-', zip, race) as c, replace(sex, 'f', 'female') as d,
       replace(zip, '99', '') as e, regexp_replace(zip, '^(9).*$', 'a long label for \1, \1 and \1') as f, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- decimals and whole numbers, divided
select height % 2 as a, age % 5 as b, wealth % 7 as c, wealth // 7 as d, floor(age) as f, round(id) as g, count(*) as n
from people tablesample bernoulli (10%) where token // 2 < 5 and token % 2.5 < 1 group by all having count(*) >= 20

--- what TRY catches
select try(age + 1) as a, try(cast(zip as integer)) as b, try(-hours) as c, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- keyed by a day
select ward, count(*) as n from visits where sha256(? || ':u:' || day) < '0ccc' group by ward having count(*) >= 20

--- a list
select marks as m, marks || marks as mm, count(*) as n from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- decades of whole numbers
select (age / 10)::int * 10 as a, cast(floor(hours / 5) as integer) as b, count(*) as n
from people tablesample bernoulli (10%) group by all having count(*) >= 20

--- a temporary table
create temp table v as select sex, count(*) as n from people tablesample bernoulli (10%) group by sex having count(*) >= 20

--- a table if there is none
create table if not exists v as select sex, count(*) as n from people tablesample bernoulli (10%) group by sex having count(*) >= 20

--- a sample of a query
select sex, count(*) as n from (select * from people) tablesample bernoulli (10%) group by sex having count(*) >= 20

--- a sample of a named query
with s as (select * from people) select sex, count(*) as n from s tablesample bernoulli (10%) group by sex having count(*) >= 20

--- using sample on a query
with s as (select * from people), t as (select * from s using sample 10% (bernoulli)) select sex, count(*) as n from t group by sex having count(*) >= 20

--- random() above a query
select sex, count(*) as n from (select * from people) where random() < 0.1 group by sex having count(*) >= 20

--- random() above a bound
select sex, count(*) as n from people where random() > 0.9 group by sex having count(*) >= 20

--- a recursive query
with recursive r as (select sex, count(*) as n from people tablesample bernoulli (10%) group by sex having count(*) >= 20) select * from r

--- known: a view sampled
select sex, count(*) as n from adults tablesample bernoulli (10%) group by sex having count(*) >= 20

--- known: a view whose columns are renamed
select a, count(*) as n from renamed where sha256(? || ':u:' || cast(b as varchar)) < '1999' group by a having count(*) >= 20

--- open: a filter on a name that is an alias or a column
select ward, count(*) as n from (select left(ward, 1) as area, ward from visits tablesample bernoulli (10%) where area = 'x') group by ward having count(*) >= 20

--- open: one row of an alias that may be a column
with r as (select ward, household as flat, row_number() over (partition by flat order by day) as rn from visits where sha256(? || ':u:' || flat) < '1999') select ward, count(*) as n from r where rn = 1 group by ward having count(*) >= 20

--- one row a person by QUALIFY
select ward, count(*) as n from (select * from visits where sha256(? || ':u:' || person_id) < '0ccc' qualify row_number() over (partition by person_id order by day) = 1) group by ward having count(*) >= 20

--- parts of one table
select sex, count(*) as n from (select sex from people where age < 30 union all select sex from people where age >= 30) tablesample bernoulli (10%) group by sex having count(*) >= 20

--- parts of one table, each sampled, and one of them by what is missing
with a as (select sex, zip from people where zip = 'a' and random() < 0.1 union all select sex, zip from people where zip <> 'a' and random() < 0.1 union all select sex, zip from people where zip is null and random() < 0.1)
select sex, left(zip, 1) as z, count(*) as n from a group by all having count(*) >= 20

--- parts under one parameter
select sex, count(*) as n from (select sex from people where age < 30 and sha256($salt || ':u:' || id) < '0ccc' union all select sex from people where age >= 30 and sha256($salt || ':u:' || id) < '0ccc') group by sex having count(*) >= 20

--- one row a person by DISTINCT ON
select ward, count(*) as n from (select distinct on (person_id) * from visits where sha256(? || ':u:' || person_id) < '0ccc' order by person_id, day) group by ward having count(*) >= 20

--- shares of what is released
select sex, count(*) as n, 100.0 * count(*) / sum(count(*)) over () as share, rank() over (order by count(*) desc) as place
from people tablesample bernoulli (10%) group by sex having count(*) >= 20

--- known: a key of the table, counted by a column that is never NULL
select ward, count(person_id) as n from stays where sha256(concat(?, ':u:', stay_id)) < '0ccc' group by ward having count(person_id) >= 20

--- random() in other spellings
select sex, count(*) as n from people where not random() >= 0.1 group by sex having count(*) >= 4 * 5

--- a threshold of a small type
select "t1"."sex", "t1"."n" from (select "t0"."sex", count(*) as "n" from "people" as "t0" where random() < cast(0.1 as double) group by 1) as "t1" where "t1"."n" >= cast(20 as tinyint)

--- a truth asked for as such
select sex, count(*) as n from people where (random() < 0.1) is true group by sex having (count(*) >= 20) is true

--- open: a constant interval
select born <= date '2026-01-01' - interval 18 year as adult, count(*) as n from people tablesample bernoulli (10%) group by 1 having count(*) >= 20

--- open: an interval as a text
select born <= date '2026-01-01' - interval '18 years' as adult, count(*) as n from people tablesample bernoulli (10%) group by 1 having count(*) >= 20

--- an escaped letter of a pattern
select zip not like '9!_%' escape '!' as west, zip ilike '%%!!%' escape '!' as odd, count(*) as n from people tablesample bernoulli (10%) group by 1, 2 having count(*) >= 20

--- a window by its name
select ward, count(*) as n from (select ward, row_number() over w as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999' window w as (partition by person_id order by day)) where rn = 1 group by ward having count(*) >= 20

--- groups of released groups
with released as (select race, sex, count(*) as n from people tablesample bernoulli (10 percent) group by race, sex having count(*) >= 20)
select sex, count(*) as groups, sum(n) as people, max(n) as largest from released group by sex having sum(n) > 100 order by sex

--- released groups, added up
select sex, sum(n) as t from (select sex, zip, count(*) as n from people tablesample bernoulli (10%) group by sex, zip having count(*) >= 20) group by sex having sum(n) >= 20

