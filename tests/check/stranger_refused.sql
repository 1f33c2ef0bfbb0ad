--- 001 system percent
-- SYSTEM samples whole blocks: neighbours share a coin. Unsound (1).
select zip, sex, count(*) as n from people tablesample system (10 percent) group by zip, sex having count(*) >= 20 order by zip, sex

--- 002 default percent
-- DuckDB's default for a percentage is SYSTEM. Unsound (1).
select zip, sex, count(*) as n from people tablesample 10% group by zip, sex having count(*) >= 20 order by zip, sex

--- 003 default percent brackets
-- the default method again, bracketed. Unsound (1).
select zip, sex, count(*) as n from people tablesample (10 percent) group by zip, sex having count(*) >= 20 order by zip, sex

--- 004 using sample default
-- USING SAMPLE 10% is SYSTEM. Unsound (1).
with s as (select * from people using sample 10%) select zip, sex, count(*) as n from s group by zip, sex having count(*) >= 20 order by zip, sex

--- 005 using sample system
-- USING SAMPLE with SYSTEM in brackets. Unsound (1).
select zip, sex, count(*) as n from people group by zip, sex having count(*) >= 20 using sample 10 percent (system) order by zip, sex

--- 006 reservoir percent
-- reservoir: a fixed size, not independent. Unsound (1): another mechanism.
select zip, sex, count(*) as n from people tablesample reservoir (10 percent) group by zip, sex having count(*) >= 20 order by zip, sex

--- 007 fixed rows
-- fixed number of rows. Unsound (1).
with s as (select * from people using sample 5000) select zip, sex, count(*) as n from s group by zip, sex having count(*) >= 20 order by zip, sex

--- 008 fixed rows reservoir
-- reservoir of rows. Unsound (1).
select zip, sex, count(*) as n from people tablesample reservoir (5000 rows) group by zip, sex having count(*) >= 20 order by zip, sex

--- 009 repeatable seed
-- REPEATABLE: the seed stands in the text, the sample is no secret. Unsound (1).
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) repeatable (42) group by zip, sex having count(*) >= 20 order by zip, sex

--- 010 seed in using sample
-- the seed as second argument. Unsound (1).
with s as (select * from people using sample 10 percent (bernoulli, 42)) select zip, sex, count(*) as n from s group by zip, sex having count(*) >= 20 order by zip, sex

--- 011 setseed in cte
-- setseed makes random() public. Unsound (1).
with seed as (select setseed(0.5)) select zip, sex, count(*) as n from people, seed where random() < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 012 setseed in where
-- setseed in the predicate. Unsound (1).
select zip, sex, count(*) as n from people where setseed(0.5) is null and random() < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 013 setseed statement
-- setseed in a statement before. Unsound (1), and two statements.
select setseed(0.5); select zip, sex, count(*) as n from people where random() < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 014 no sample
-- no sampling at all. Unsound: beta = 1 has no guarantee.
select zip, sex, count(*) as n from people group by zip, sex having count(*) >= 20 order by zip, sex

--- 015 no sample filter
-- a filter is no sample. Unsound.
select zip, sex, count(*) as n from people where age < 50 group by zip, sex having count(*) >= 20 order by zip, sex

--- 016 rate one hundred
-- 100 percent. Unsound: beta = 1.
select zip, sex, count(*) as n from people tablesample bernoulli (100 percent) group by zip, sex having count(*) >= 20 order by zip, sex

--- 017 rate zero
-- rate 0: 0 < beta is asked. Not the mechanism.
select zip, sex, count(*) as n from people tablesample bernoulli (0 percent) group by zip, sex having count(*) >= 20 order by zip, sex

--- 018 random lt one
-- random() < 1 is always true. Unsound: beta = 1.
select zip, sex, count(*) as n from people where random() < 1.0 group by zip, sex having count(*) >= 20 order by zip, sex

--- 019 random lt exponent one
-- .1e1 is one. Unsound.
select zip, sex, count(*) as n from people where random() < .1e1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 020 percent exponent hundred
-- 1000e-1 percent is all. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (1000e-1 percent) group by zip, sex having count(*) >= 20 order by zip, sex

--- 021 random lt sum one
-- 0.1 + 0.9 is one. Unsound.
select zip, sex, count(*) as n from people where random() < 0.1 + 0.9 group by zip, sex having count(*) >= 20 order by zip, sex

--- 022 random lt int cast
-- 0.6::int rounds to 1: every row. Unsound.
select zip, sex, count(*) as n from people where random() < 0.6::int group by zip, sex having count(*) >= 20 order by zip, sex

--- 023 random cast to int
-- random() rounded to an integer is 0 for half of the rows: the rate is 0.5, not 0.1. Unsound if 0.1 is certified.
select zip, sex, count(*) as n from people where cast(random() as integer) < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 024 random is not null
-- IS binds more loosely than <: (random() < 0.1) is not null keeps every row. Unsound.
select zip, sex, count(*) as n from people where random() < 0.1 is not null group by zip, sex having count(*) >= 20 order by zip, sex

--- 025 random scaled down
-- random() * 0.1 < 0.1 keeps every row. Unsound.
select zip, sex, count(*) as n from people where random() * 0.1 < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 026 random minus
-- random() - 0.9 < 0.1 keeps every row. Unsound.
select zip, sex, count(*) as n from people where random() - 0.9 < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 027 random product
-- the product of two draws is below 0.1 with probability 0.33. Unsound if 0.1 is certified.
select zip, sex, count(*) as n from people where random() * random() < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 028 random times column
-- the rate depends on the row. Unsound (1).
select zip, sex, count(*) as n from people where random() * age < 5 group by zip, sex having count(*) >= 20 order by zip, sex

--- 029 random rate column
-- the rate is a column. Unsound (1).
select zip, sex, count(*) as n from people where random() < score / 100.0 group by zip, sex having count(*) >= 20 order by zip, sex

--- 030 random rate case
-- the rate depends on sex. Unsound (1): not exactly beta for every unit.
select zip, sex, count(*) as n from people where random() < case when sex = 'Female' then 0.9 else 0.1 end group by zip, sex having count(*) >= 20 order by zip, sex

--- 031 random in case true
-- some rows are kept for certain. Unsound (1).
select zip, sex, count(*) as n from people where case when age > 60 then true else random() < 0.1 end group by zip, sex having count(*) >= 20 order by zip, sex

--- 032 random or filter
-- OR: people over 80 are always in. Unsound (1).
select zip, sex, count(*) as n from people where random() < 0.1 or age > 80 group by zip, sex having count(*) >= 20 order by zip, sex

--- 033 random or precedence
-- AND binds tighter than OR: all of NY is in. Unsound (1).
select zip, sex, count(*) as n from people where random() < 0.1 and active or state = 'NY' group by zip, sex having count(*) >= 20 order by zip, sex

--- 034 random coalesce
-- coalesce(null test, draw): rows with active known are always in. Unsound (1).
select zip, sex, count(*) as n from people where coalesce(active, random() < 0.1) group by zip, sex having count(*) >= 20 order by zip, sex

--- 035 random rate subquery
-- the rate is computed from the data. Unsound (1).
select zip, sex, count(*) as n from people where random() < (select 1000.0 / count(*) from people) group by zip, sex having count(*) >= 20 order by zip, sex

--- 036 random in having
-- draws groups, not persons. Unsound (1).
select zip, sex, count(*) as n from people group by zip, sex having count(*) >= 20 and random() < 0.1 order by zip, sex

--- 037 sample after grouping
-- samples the groups. Unsound (1).
select * from (select zip, sex, count(*) as n from people group by zip, sex having count(*) >= 20) g using sample 10 percent (bernoulli)

--- 038 tablesample on groups
-- TABLESAMPLE of a grouped CTE. Unsound (1).
with g as (select zip, sex, count(*) as n from people group by zip, sex) select zip, sex, n from g tablesample bernoulli (10 percent) where n >= 20 order by zip, sex

--- 039 random above distinct
-- DuckDB pushes random() below DISTINCT: a person with many rows is in more often (41 instead of 10 percent for 5 rows). Unsound (1).
with one as (select distinct person_id, region from visits) select region, count(*) as n from one where random() < 0.1 group by region having count(*) >= 20 order by region

--- 040 random above union distinct
-- random() is pushed below UNION. Unsound (1).
with one as (select person_id, region from visits union select person_id, region from visits) select region, count(*) as n from one where random() < 0.1 group by region having count(*) >= 20 order by region

--- 041 random above join
-- sampling above a join: rows, not persons. Unsound (1).
select v.region, count(*) as n from people p join visits v on v.person_id = p.id where random() < 0.1 group by v.region having count(*) >= 20 order by v.region

--- 042 random above limit
-- LIMIT below the sample: who is in depends on the others. Unsound (1).
with first_rows as (select sex, race from people limit 1000) select sex, race, count(*) as n from first_rows where random() < 0.5 group by sex, race having count(*) >= 20 order by sex, race

--- 043 random above ordered limit
-- the thousand best paid: who is in depends on the others. Unsound (1).
with top as (select sex, race from people order by income desc limit 1000) select sex, race, count(*) as n from top where random() < 0.5 group by sex, race having count(*) >= 20 order by sex, race

--- 044 random above window filter
-- rank over all people below the sample. Unsound (1), (2).
with r as (select sex, race, row_number() over (order by income desc) as rn from people) select sex, race, count(*) as n from r where rn <= 5000 and random() < 0.5 group by sex, race having count(*) >= 20 order by sex, race

--- 045 using sample above join
-- USING SAMPLE over a join with fan-out. Unsound (1).
select p.sex, v.region, count(*) as n from people p, visits v where v.person_id = p.id group by p.sex, v.region having count(*) >= 20 using sample 10 percent (bernoulli) order by p.sex, v.region

--- 046 sample then one row
create table visits (visit_id integer primary key, person_id integer, visit_date date, diagnosis varchar, region varchar);
--- schema above
-- rows are sampled, then one row a person is kept: a person with many visits is in more often. Unsound (1).
with s as (select * from visits tablesample bernoulli (10 percent)),
one as (select diagnosis, region, row_number() over (partition by person_id order by visit_date desc, visit_id) as rn from s)
select diagnosis, region, count(*) as n from one where rn = 1 group by diagnosis, region having count(*) >= 20 order by diagnosis, region

--- 047 random then one row
-- the same with random() beside the window. Unsound (1).
with one as (
  select diagnosis, region, row_number() over (partition by person_id order by visit_date desc) as rn
  from visits where random() < 0.1
)
select diagnosis, region, count(*) as n from one where rn = 1 group by diagnosis, region having count(*) >= 20 order by diagnosis, region

--- 048 random column twice
-- one draw as a column, compared twice in two branches of the group key: the kept rows tell the draw. Unsound: randomness used twice.
with r as (select sex, random() as u from people) select sex, u < 0.05 as half, count(*) as n from r where u < 0.1 group by sex, half having count(*) >= 20 order by sex, half

--- 049 random column released
-- the draw itself is a key. Unsound: not a function of the row.
select sex, random() < 0.5 as coin, count(*) as n from people where random() < 0.1 group by sex, coin having count(*) >= 20 order by sex, coin

--- 050 random recode
-- noise in the recode. Unsound (2): not fixed before; not the certified mechanism.
select age + cast(random() * 3 as integer) as age_noisy, count(*) as n from people tablesample bernoulli (10 percent) group by age_noisy having count(*) >= 20 order by age_noisy

--- 051 sample read twice union
-- one sample, two tables. Unsound [COMP]: the sample is used twice.
with s as materialized (select sex, race from people where random() < 0.1)
select sex as key, count(*) as n from s group by sex having count(*) >= 20
union all
select race, count(*) from s group by race having count(*) >= 20
order by 1, 2

--- 052 sample read twice total
-- the size of the sample beside the groups. Unsound: number of sampled rows leaves.
with s as materialized (select sex, race from people where random() < 0.1)
select sex, race, count(*) as n, (select count(*) from s) as total from s group by sex, race having count(*) >= 20 order by sex, race

--- 053 sample read twice semijoin
-- the sample filters itself by its own groups. Unsound: a row depends on others.
with s as materialized (select sex, race from people where random() < 0.1)
select sex, race, count(*) as n from s where race in (select race from s group by race having count(*) >= 100) group by sex, race having count(*) >= 20 order by sex, race

--- 054 sample self join
-- the sample joined with itself. Unsound.
with s as (select id, sex, race from people where random() < 0.1)
select a.sex, b.race, count(*) as n from s a join s b on a.id = b.id group by a.sex, b.race having count(*) >= 20 order by a.sex, b.race

--- 055 two marginals
-- two releases at once, over the same people. Unsound: two mechanisms, one certificate.
select 'sex' as dim, sex as val, count(*) as n from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20
union all
select 'race', race, count(*) from people tablesample bernoulli (10 percent) group by race having count(*) >= 20
order by 1, 2

--- 056 keyed no secret
-- hash of the key without a secret: everybody knows who is in. Unsound (1).
select sex, race, count(*) as n from people where sha256(cast(id as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 057 keyed literal secret
-- the secret stands in the text. Unsound (sampling.md: never a literal).
select sex, race, count(*) as n from people where sha256('d41d8cd98f00b204e9800998ecf8427e' || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 058 keyed literal secret cte
-- the secret stands in a CTE. Unsound.
with c as (select 'd41d8cd98f00b204e9800998ecf8427e' as salt)
select sex, race, count(*) as n from people where sha256((select salt from c) || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 059 keyed subquery literal
-- a scalar subquery that holds the literal. Unsound.
select sex, race, count(*) as n from people where sha256((select 'abc') || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 060 keyed secret from data
-- the "secret" is a column of the row. Unsound.
select sex, race, count(*) as n from people where sha256(name || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 061 keyed secret aggregate of data
-- the "secret" is a scalar subquery on the people. Unsound.
select sex, race, count(*) as n from people where sha256((select max(email) from people) || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 062 keyed secret from people row
-- the "secret" is one person's mail address, in the shape of the secrets relation. Unsound: it reads the data.
select sex, race, count(*) as n from people where sha256((select email from people where id = 1) || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 063 keyed secret correlated
-- the secret is looked up by a column of the row. Unsound: not one secret a release.
select sex, race, count(*) as n from people p where sha256((select salt from privacy_secrets.salts where release_id = p.city) || ':u:' || cast(p.id as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 064 keyed md5
-- md5 instead of sha256. Refused: sampling.md's list of PRFs.
select sex, race, count(*) as n from people where md5(? || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 065 keyed hash function
-- DuckDB's hash() is no PRF. Unsound (sampling.md: samples of two salts correlate).
select sex, race, count(*) as n from people where hash(? || ':u:' || cast(id as varchar)) % 10 = 0 group by sex, race having count(*) >= 20 order by sex, race

--- 066 modulo of id
-- every tenth id. Unsound (1): no randomness.
select sex, race, count(*) as n from people where id % 10 = 0 group by sex, race having count(*) >= 20 order by sex, race

--- 067 hash of id
-- hash(id) without a secret. Unsound (1).
select sex, race, count(*) as n from people where hash(id) % 10 = 0 group by sex, race having count(*) >= 20 order by sex, race

--- 068 keyed by zip
create table people (id integer primary key, zip varchar, sex varchar, race varchar);
--- schema above
-- keyed by zip, which is no key: people of one zip are in together. Unsound (1).
select sex, race, count(*) as n from people where sha256(? || ':u:' || zip) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 069 keyed by prefix
-- keyed by a recode of the key: people share a coin. Unsound (1).
select sex, race, count(*) as n from people where sha256(? || ':u:' || left(cast(id as varchar), 3)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 070 keyed by id div
-- keyed by id // 10: ten people share a coin. Unsound (1).
select sex, race, count(*) as n from people where sha256(? || ':u:' || cast(id // 10 as varchar)) < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 071 keyed by lower email
create table members (email varchar primary key, plan varchar, country varchar);
--- schema above
-- lower() merges keys: two members share a coin. Unsound (1).
select plan, country, count(*) as n from members where sha256(? || ':u:' || lower(email)) < '1999999999999' group by plan, country having count(*) >= 20 order by plan, country

--- 072 keyed by constant
-- no key in the hash: all in or all out. Unsound (1).
select sex, race, count(*) as n from people where sha256(? || ':u:' || 'x') < '1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 073 keyed by coalesced key
-- NULL keys become one key: all nobodies share a coin. Unsound (1).
with one as (select diagnosis, row_number() over (partition by person_id order by visit_id) as rn from visits where sha256(? || ':u:' || coalesce(cast(person_id as varchar), '')) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 074 keyed concat null
create table members (member_pk varchar, plan varchar, country varchar, unique (member_pk));
--- schema above
-- concat() drops NULL: all members without a key share a coin. Unsound (1).
select plan, country, count(*) as n from members where sha256(concat(?, ':u:', member_pk)) < '1999999999999' group by plan, country having count(*) >= 20 order by plan, country

--- 075 keyed composite no separator
create table visitors (site integer, visitor integer, plan varchar, country varchar, primary key (site, visitor));
--- schema above
-- (1, 12) and (11, 2) share a coin. Unsound (1): no unambiguous separator.
select plan, country, count(*) as n from visitors where sha256(? || ':u:' || cast(site as varchar) || cast(visitor as varchar)) < '1999999999999' group by plan, country having count(*) >= 20 order by plan, country

--- 076 keyed half of composite
create table visitors (site integer, visitor integer, plan varchar, country varchar, primary key (site, visitor));
--- schema above
-- keyed by half of the primary key: visitors of one site share a coin. Unsound (1).
select plan, country, count(*) as n from visitors where sha256(? || ':u:' || cast(site as varchar)) < '1999999999999' group by plan, country having count(*) >= 20 order by plan, country

--- 077 keyed float key
create table members (score_pk double primary key, plan varchar, country varchar);
--- schema above
-- a float as key: never (sampling.md), 1.0 and 1, -0 and 0. Refused.
select plan, country, count(*) as n from members where sha256(? || ':u:' || cast(score_pk as varchar)) < '1999999999999' group by plan, country having count(*) >= 20 order by plan, country

--- 078 keyed many rows
create table visits (visit_id integer primary key, person_id integer, diagnosis varchar, region varchar);
--- schema above
-- keyed by the person, every row of the person counted. Unsound (1): a person has many rows in a cell.
select diagnosis, region, count(*) as n from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999' group by diagnosis, region having count(*) >= 20 order by diagnosis, region

--- 079 keyed bound letters
-- 'z' is above every hex digit: every row is in. Unsound (1).
select sex, race, count(*) as n from people where sha256(? || ':u:' || cast(id as varchar)) < 'zzzz' group by sex, race having count(*) >= 20 order by sex, race

--- 080 keyed bound empty
-- nothing is below ''. Not the mechanism.
select sex, race, count(*) as n from people where sha256(? || ':u:' || cast(id as varchar)) < '' group by sex, race having count(*) >= 20 order by sex, race

--- 081 keyed bound upper case
-- upper-case hex: 'C' is below every lower-case letter and above every digit, the rate is 10/16, not 0xC/16. Wrong bound.
select sex, race, count(*) as n from people where sha256(? || ':u:' || cast(id as varchar)) < 'CCCCCCCCCCCCC' group by sex, race having count(*) >= 20 order by sex, race

--- 082 keyed bound blank
-- a blank in front: nothing is below. Wrong bound.
select sex, race, count(*) as n from people where sha256(? || ':u:' || cast(id as varchar)) < ' 1999999999999' group by sex, race having count(*) >= 20 order by sex, race

--- 083 keyed bound column
-- the bound is a column. Unsound (1).
select sex, race, count(*) as n from people where sha256(? || ':u:' || cast(id as varchar)) < zip group by sex, race having count(*) >= 20 order by sex, race

--- 084 keyed bound case
-- the bound depends on the row. Unsound (1).
select sex, race, count(*) as n from people where sha256(? || ':u:' || cast(id as varchar)) < case when sex = 'Male' then '1999999999999' else 'ff' end group by sex, race having count(*) >= 20 order by sex, race

--- 085 keyed or
-- OR with a filter. Unsound (1).
select sex, race, count(*) as n from people where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999' or race is null group by sex, race having count(*) >= 20 order by sex, race

--- 086 keyed sample person partition clinic
-- sampled by person, one row a clinic. Unsound: the row kept depends on other people.
with one as (select diagnosis, row_number() over (partition by clinic_id order by visit_date) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 087 keyed sample visit partition person
-- sampled by visit, one row a person: people with many visits are in more often. Unsound (1).
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date) as rn from visits where sha256(? || ':u:' || cast(visit_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 088 keyed partition person and year
-- one row a person and year: a person is in many cells. Unsound (1).
with one as (select diagnosis, year, row_number() over (partition by person_id, year order by visit_date) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, year, count(*) as n from one where rn = 1 group by diagnosis, year having count(*) >= 20 order by diagnosis, year

--- 089 keyed rank one
-- rank() = 1 keeps all ties: many rows a person. Unsound (1).
with one as (select diagnosis, rank() over (partition by person_id order by visit_date desc) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 090 keyed two rows
-- rn <= 2 keeps two rows a person. Unsound (1).
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date desc) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn <= 2 group by diagnosis having count(*) >= 20 order by diagnosis

--- 091 keyed rn unused
-- the row number is computed and never asked for. Unsound (1): all rows of a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date desc) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn >= 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 092 keyed rn or
-- rn = 1 or cheap: many rows a person. Unsound (1).
with one as (select diagnosis, cost, row_number() over (partition by person_id order by visit_date desc) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 or cost < 100 group by diagnosis having count(*) >= 20 order by diagnosis

--- 093 keyed no partition
-- row_number over all: one row of the table. Unsound.
with one as (select diagnosis, row_number() over (order by visit_date desc) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn <= 1000 group by diagnosis having count(*) >= 20 order by diagnosis

--- 094 secret released
-- the secret is a released column: the sample can be re-derived. Unsound.
select sex, getvariable('salt') as release_id, count(*) as n from people where sha256(getvariable('salt') || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, release_id having count(*) >= 20 order by sex, release_id

--- 095 secret param released
-- the same with a named parameter. Unsound.
select sex, $salt as k, count(*) as n from people where sha256($salt || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, k having count(*) >= 20 order by sex, k

--- 096 secret in recode
-- the secret hash of the zip is released: the secret is used for something else than the sample, a dictionary attack needs only it. Refused.
select sex, sha256($salt || ':u:' || zip) as pseudonym, count(*) as n from people where sha256($salt || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, pseudonym having count(*) >= 20 order by sex, pseudonym

--- 097 ticket released
-- the ticket of the sample is a key of the release. Unsound: randomness used twice.
select sex, left(sha256(? || ':u:' || cast(id as varchar)), 1) as t, count(*) as n from people where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999' group by sex, t having count(*) >= 20 order by sex, t

--- 098 any value column
-- any_value(zip) leaves outside the grouping. Unsound (3).
select sex, any_value(zip) as example_zip, count(*) as n from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20 order by sex

--- 099 min max columns
-- extremes are single persons. Unsound (3).
select sex, min(age) as youngest, max(age) as oldest, count(*) as n from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20 order by sex

--- 100 first column
-- first(). Unsound (3).
select race, first(name) as name, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 101 string agg column
-- string_agg lists the persons. Unsound (3).
select race, string_agg(name, ', ') as names, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 102 list column
-- list(). Unsound (3).
select race, list(age order by age) as ages, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 103 avg column
-- avg(income) without noise. Unsound (3).
select race, avg(income) as income, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 104 sum column
-- sum(salary). Unsound (3).
select race, sum(salary) as payroll, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 105 median mode
-- median and mode. Unsound (3).
select race, median(age) as m, mode(zip) as z, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 106 count distinct column
-- count(distinct zip): shows a single person's zip. Unsound (3).
select race, count(distinct zip) as zips, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 107 count filter column
-- count(*) filter (…): counts below k appear. Unsound (3).
select race, count(*) filter (where sex = 'Female') as women, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 108 sum case column
-- sum(case …): a count of a sub-group without threshold. Unsound (3).
select race, sum(case when sex = 'Female' then 1 else 0 end) as women, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 109 countif column
-- countif, the same. Unsound (3).
select race, countif(age < 18) as minors, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 110 count col column
-- count(income) tells how many NULLs a group has. Unsound (3).
select race, count(income) as with_income, count(*) as n from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 111 share of women
-- a share inside the group. Unsound (3).
select race, count(*) as n, round(avg((sex = 'Female')::int), 3) as women from people tablesample bernoulli (10 percent) group by race having count(*) >= 20 order by race

--- 112 grouping by less min by
-- arg_max. Unsound (3).
select sex, max_by(occupation, income) as best_job, count(*) as n from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20 order by sex

--- 113 threshold count column
-- the threshold is on count(age), not on the persons: whether the group shows depends on NULLs. Not the mechanism (3).
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(age) >= 20 order by zip, sex

--- 114 threshold count distinct
-- the threshold is on distinct values. Unsound (3).
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(distinct age) >= 20 order by zip, sex

--- 115 threshold sum
-- the threshold is on a sum: one person of 40 is enough. Unsound (3).
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having sum(age) >= 20 order by zip, sex

--- 116 threshold max
-- the threshold is on a maximum. Unsound (3).
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having max(age) >= 20 order by zip, sex

--- 117 threshold one
-- k = 1: every group shows. Unsound (3).
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 1 order by zip, sex

--- 118 threshold gt zero
-- > 0 is k = 1. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) > 0 order by zip, sex

--- 119 threshold minus
-- a negative bound. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= -20 order by zip, sex

--- 120 threshold missing
-- no threshold. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex order by zip, sex

--- 121 threshold reversed
-- 20 >= count(*): only the small groups show. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having 20 >= count(*) order by zip, sex

--- 122 threshold below
-- only the small groups. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) <= 20 order by zip, sex

--- 123 threshold not equal
-- count(*) <> 20. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) <> 20 order by zip, sex

--- 124 threshold or key
-- OR: groups of men always show. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20 or sex = 'Male' order by zip, sex

--- 125 threshold or small
-- the HAVING lets groups of one through. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20 or count(*) = 1 order by zip, sex

--- 126 threshold is not null
-- (count(*) >= 20) is not null is always true. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20 is not null order by zip, sex

--- 127 threshold bit and
-- 20 & 0 is 0: k = 0. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20 & 0 order by zip, sex

--- 128 threshold modulo
-- 20 % 19 is 1. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20 % 19 order by zip, sex

--- 129 threshold minus const
-- 20 - 19 is 1. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20 - 19 order by zip, sex

--- 130 threshold count plus
-- count(*) + 19 >= 20 is k = 1. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) + 19 >= 20 order by zip, sex

--- 131 threshold scaled count
-- the threshold on the estimate n * 10: k = 2, not 20. Unsound if 20 is certified.
select zip, n from (select zip, count(*) * 10 as n from people tablesample bernoulli (10 percent) group by zip) where n >= 20 order by zip

--- 132 threshold case
-- the threshold depends on the key: 1 for women. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= case when sex = 'Female' then 1 else 20 end order by zip, sex

--- 133 threshold key column
-- the threshold is a key of the group: the group of age 1 needs one person. Unsound.
select age, count(*) as n from people tablesample bernoulli (10 percent) group by age having count(*) >= age order by age

--- 134 threshold subquery
-- the threshold is computed from the data. Unsound.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= (select count(*) / 1000 from people) order by zip

--- 135 threshold parameter
-- the threshold is a parameter: nothing proves it to be at least 2. Unsound.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= $k order by zip

--- 136 threshold and avg
-- a second condition on an average. Unsound: shows whether avg(age) > 30.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20 and avg(age) > 30 order by zip

--- 137 threshold and distinct
-- l-diversity beside the threshold: a single person decides. Unsound.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20 and count(distinct occupation) >= 2 order by zip

--- 138 threshold and exists
-- a second condition on the data. Unsound.
select p.zip, count(*) as n from people p tablesample bernoulli (10 percent) group by p.zip having count(*) >= 20 and p.zip in (select zip from regions) order by p.zip

--- 139 threshold window count
-- the threshold is on a window count of the zip, released by zip and sex. Unsound (3): cells of one person.
select distinct zip, sex, n from (select zip, sex, count(*) over (partition by zip) as n from people tablesample bernoulli (10 percent)) where n >= 20 order by zip, sex

--- 140 rows with window count
-- rows of groups that are large enough, with columns outside the grouping. Unsound (3).
select zip, sex, age from (select zip, sex, age, count(*) over (partition by zip, sex) as n from people tablesample bernoulli (10 percent)) where n >= 20 order by zip, sex, age

--- 141 qualify window threshold
-- threshold by QUALIFY on a coarser window. Unsound.
select zip, sex, age from people tablesample bernoulli (10 percent) qualify count(*) over (partition by zip) >= 20 order by zip, sex, age

--- 142 threshold on coarser group
-- the cells are zip and sex, the threshold is on the zip's total. Unsound (3).
with g as (select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex)
select zip, sex, n from (select *, sum(n) over (partition by zip) as total from g) where total >= 20 order by zip, sex

--- 143 threshold wrong column
-- the outer threshold is on the age, which the sub-select names n. Unsound.
select g, n, c from (select sex as g, age as n, count(*) as c from people tablesample bernoulli (10 percent) group by sex, age) where n >= 20 order by g, n

--- 144 threshold swapped list
-- the column list swaps count and age: the threshold is on the age. Unsound.
select t.g, t.n, t.a from (select sex, age, count(*) from people tablesample bernoulli (10 percent) group by sex, age) as t(g, n, a) where t.n >= 20 order by t.g, t.n

--- 145 threshold swapped cte list
-- the same in a CTE's column list. Unsound.
with t(g, n, a) as (select sex, age, count(*) from people tablesample bernoulli (10 percent) group by sex, age) select g, n, a from t where n >= 20 order by g, n

--- 146 threshold replaced star
-- * REPLACE puts the age where the count was. Unsound.
with t as (select age, sex, count(*) as n from people tablesample bernoulli (10 percent) group by age, sex),
u as (select * replace (age as n), n as c from t)
select sex, n, c from u where n >= 20 order by sex, n

--- 147 threshold column named count
create table people (id integer primary key, zip varchar, "count(*)" integer);
--- schema above
-- "count(*)" is a column of the table. Unsound: no threshold.
select zip, "count(*)", count(*) as n from people tablesample bernoulli (10 percent) group by zip, "count(*)" having "count(*)" >= 20 order by zip, "count(*)"

--- 148 having alias hidden by key
create table people (id integer primary key, zip varchar, n integer);
--- schema above
-- HAVING n: n is a grouped column of the table as well as the count's alias; which one is meant must be refused or resolved as DuckDB does.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip, people.n having people.n >= 20 order by zip

--- 149 group by alias hidden count
-- counts raw groups, not people: the threshold is on distinct ages. Unsound (3).
with raw as (select age, zip, sex from people tablesample bernoulli (10 percent) group by age, zip, sex)
select zip, sex, count(*) as n from raw group by zip, sex having count(*) >= 20 order by zip, sex

--- 150 two level count of groups
-- the outer count counts raw groups. Unsound: not persons.
with raw as (select age, zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by age, zip, sex)
select zip, sex, sum(n) as n from raw group by zip, sex having count(*) >= 20 order by zip, sex

--- 151 two level sum distinct
-- sum(distinct n). Unsound.
with raw as (select age, sex, count(*) as n from people tablesample bernoulli (10 percent) group by age, sex)
select sex, sum(distinct n) as n from raw group by sex having sum(distinct n) >= 20 order by sex

--- 152 two level max
-- max(n) over the raw groups. Unsound.
with raw as (select age, sex, count(*) as n from people tablesample bernoulli (10 percent) group by age, sex)
select sex, sum(n) as n, max(n) as largest from raw group by sex having sum(n) >= 20 order by sex

--- 153 two level inner count col
-- the inner count is count(income). Unsound: NULLs are not counted, the count is of something else.
with raw as (select age, sex, count(income) as n, count(*) as c from people tablesample bernoulli (10 percent) group by age, sex)
select sex, sum(n) as with_income, sum(c) as n from raw group by sex having sum(c) >= 20 order by sex

--- 154 two level group by count
-- the raw group's count becomes a key: the recode depends on the others. Unsound (2).
with raw as (select age, zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by age, zip, sex)
select sex, n as size_of_cell, sum(n) as total from raw group by sex, n having sum(n) >= 20 order by sex, n

--- 155 two level case on count
-- unique people are told apart from others: the recode depends on the others. Unsound (2).
with raw as (select age, zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by age, zip, sex)
select sex, case when n = 1 then 'unique' else 'shared' end as kind, sum(n) as n from raw group by sex, kind having sum(n) >= 20 order by sex, kind

--- 156 two level other
-- small groups are put together as 'other': whether a person is in zip or in other depends on the others. Unsound (2).
with g as (select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip)
select case when n < 20 then 'other' else zip end as zip, sum(n) as n from g group by 1 having sum(n) >= 20 order by 1

--- 157 two level filter on count
-- raw groups of fewer than 2 are dropped between the levels: the sum is not the count of the cell. Not k = 20.
with raw as (select age, sex, count(*) as n from people tablesample bernoulli (10 percent) group by age, sex)
select sex, sum(n) as n from raw where n < 15 group by sex having sum(n) >= 20 order by sex

--- 158 two level order first
-- a raw value chosen by the count. Unsound.
with raw as (select age, sex, count(*) as n from people tablesample bernoulli (10 percent) group by age, sex)
select sex, arg_max(age, n) as commonest_age, sum(n) as n from raw group by sex having sum(n) >= 20 order by sex

--- 159 grouping sets
-- GROUPING SETS: marginals and the total show what was suppressed. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by grouping sets ((zip, sex), (zip), ()) having count(*) >= 20 order by zip, sex

--- 160 rollup
-- ROLLUP. Unsound: totals hold suppressed groups.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by rollup (zip, sex) having count(*) >= 20 order by zip, sex

--- 161 cube
-- CUBE. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by cube (zip, sex) having count(*) >= 20 order by zip, sex

--- 162 total row
-- a total row over the unsuppressed groups. Unsound.
with g as (select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip)
select zip, n from g where n >= 20 union all select 'total', sum(n) from g order by 1, 2

--- 163 suppressed row
-- the number of suppressed rows. Unsound.
with g as (select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip)
select zip, n from g where n >= 20 union all select 'suppressed', sum(n) from g where n < 20 order by 1, 2

--- 164 share of sample
-- the window sees the suppressed groups: the total of the sample leaves. Unsound.
with g as (select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex),
t as (select *, sum(n) over () as total from g)
select zip, sex, n, n / total as share from t where n >= 20 order by zip, sex

--- 165 share window before where
-- the same in one SELECT; the threshold stands outside. Unsound.
select * from (select zip, sex, count(*) as n, count(*) / sum(count(*)) over () as share from people tablesample bernoulli (10 percent) group by zip, sex) where n >= 20 order by zip, sex

--- 166 number before threshold
-- groups numbered before the suppression: the gaps tell of suppressed groups. Unsound.
with g as (select zip, sex, count(*) as n, row_number() over (order by zip, sex) as nr from people tablesample bernoulli (10 percent) group by zip, sex)
select nr, zip, sex, n from g where n >= 20 order by nr

--- 167 rank before threshold
-- dense_rank of the key over all groups. Unsound.
with g as (select zip, count(*) as n from people where random() < 0.1 group by zip), r as (select zip, n, dense_rank() over (order by zip) as r from g)
select r, zip, n from r where n >= 20 order by r

--- 168 lag before threshold
-- lag(n) shows the neighbour group's count, suppressed or not. Unsound.
with g as (select age, count(*) as n from people where random() < 0.1 group by age), r as (select age, n, lag(n) over (order by age) as before from g)
select age, n, n - before as change from r where n >= 20 order by age

--- 169 share of source
-- the number of source rows leaves. Unsound.
select zip, count(*) as n, count(*) / (select count(*) from people) as share from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20 order by zip

--- 170 share of sampled cte
-- the number of sampled rows leaves. Unsound.
with s as materialized (select zip from people where random() < 0.1), t as (select count(*) as total from s)
select zip, count(*) as n, any_value(total) as total from s, t group by zip having count(*) >= 20 order by zip

--- 171 released join people
-- released groups joined with the raw people. Unsound.
with r as (select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20)
select r.zip, r.n, p.name from r join people p on p.zip = r.zip order by r.zip, r.n, p.name

--- 172 released left join all keys
-- every zip of the data with 0 for suppressed ones. Unsound: the list of zips leaves.
with r as (select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20)
select z.zip, coalesce(r.n, 0) as n from (select distinct zip from people) z left join r on r.zip = z.zip order by z.zip, n

--- 173 order by average
-- the order tells of the incomes. Unsound: order of rows.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20 order by avg(income)

--- 174 order by min id
-- the order of first appearance. Unsound.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20 order by min(id), zip

--- 175 order by count other
-- ordered by another count. Unsound.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20 order by count(income) desc, zip

--- 176 order by subquery
-- the order depends on the raw data. Unsound.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20 order by (select count(*) from people p where p.zip = people.zip), zip

--- 177 order by hidden sum
-- order by a column of the grouped query that is not shown and not a key. Unsound.
with g as (select zip, count(*) as n, sum(income) as s from people tablesample bernoulli (10 percent) group by zip)
select zip, n from g where n >= 20 order by s

--- 178 recode ntile
-- ntile: the recode is a rank among the others. Unsound (2).
with r as (select sex, ntile(4) over (order by income) as quartile from people where random() < 0.1)
select sex, quartile, count(*) as n from r group by sex, quartile having count(*) >= 20 order by sex, quartile

--- 179 recode quantile subquery
-- bins at an observed quantile. Unsound (2).
select case when income < (select quantile_cont(income, 0.5) from people) then 'low' else 'high' end as half, count(*) as n from people tablesample bernoulli (10 percent) group by half having count(*) >= 20 order by half

--- 180 recode above average
-- compared with the average of the data. Unsound (2).
select case when age > (select avg(age) from people) then 'above' else 'below' end as cmp, count(*) as n from people tablesample bernoulli (10 percent) group by cmp having count(*) >= 20 order by cmp

--- 181 recode min based bins
-- bins that start at the observed minimum. Unsound (2).
select (age - (select min(age) from people)) // 10 as bin, count(*) as n from people tablesample bernoulli (10 percent) group by bin having count(*) >= 20 order by bin

--- 182 recode window min
-- the same by a window. Unsound (2).
with r as (select sex, age - min(age) over (partition by sex) as above_min from people where random() < 0.1)
select sex, above_min // 10 as d, count(*) as n from r group by sex, d having count(*) >= 20 order by sex, d

--- 183 recode window count
-- rare zips become 'other' by their count in the data. Unsound (2).
with r as (select sex, case when count(*) over (partition by zip) < 100 then 'other' else zip end as zip2 from people where random() < 0.1)
select sex, zip2, count(*) as n from r group by sex, zip2 having count(*) >= 20 order by sex, zip2

--- 184 recode percent rank
-- percent_rank. Unsound (2).
with r as (select percent_rank() over (order by salary) < 0.5 as lower_half, sex from people tablesample bernoulli (10 percent))
select lower_half, sex, count(*) as n from r group by all having count(*) >= 20 order by all

--- 185 recode lag
-- lag(): the neighbour's value. Unsound (2).
with r as (select sex, lag(sex) over (order by id) as previous from people where random() < 0.1)
select sex, previous, count(*) as n from r group by sex, previous having count(*) >= 20 order by sex, previous

--- 186 recode top values
-- the ten commonest jobs of the data stay, the rest is 'other'. Unsound (2).
with top as (select occupation from people group by occupation order by count(*) desc limit 10)
select case when occupation in (select occupation from top) then occupation else 'other' end as job, count(*) as n
from people tablesample bernoulli (10 percent) group by job having count(*) >= 20 order by job

--- 187 recode lookup scalar
-- a correlated lookup in a table. Unsound (2): the data can change the table.
select (select max(r.region) from regions r where r.zip = p.zip) as region, count(*) as n from people p tablesample bernoulli (10 percent) group by region having count(*) >= 20 order by region

--- 188 join lookup inner
-- inner join with a table that nothing declares public. Unsound (2), fan-out.
select r.region, p.sex, count(*) as n from people p join regions r on r.zip = p.zip where random() < 0.1 group by r.region, p.sex having count(*) >= 20 order by r.region, p.sex

--- 189 join lookup left after sample
-- left join after the sample: a zip twice in regions doubles its people. Unsound.
with s as (select zip, sex from people where random() < 0.1)
select r.region, s.sex, count(*) as n from s left join regions r using (zip) group by r.region, s.sex having count(*) >= 20 order by r.region, s.sex

--- 190 join comma
-- comma join. Unsound.
select r.region, p.sex, count(*) as n from people p, regions r where p.zip = r.zip and random() < 0.1 group by 1, 2 having count(*) >= 20 order by 1, 2

--- 191 join cross
-- cross join: every person is counted many times. Unsound.
with s as (select sex from people where random() < 0.1) select s.sex, count(*) as n from s cross join (values (1), (2), (3)) as t(i) group by s.sex having count(*) >= 20 order by s.sex

--- 192 join natural
-- natural join. Unsound.
with s as (select zip, sex from people where random() < 0.1) select region, sex, count(*) as n from s natural join regions group by region, sex having count(*) >= 20 order by region, sex

--- 193 join positional
-- positional join: the row depends on the others' places. Unsound.
with s as (select sex from people where random() < 0.1) select s.sex, r.region, count(*) as n from s positional join regions r group by s.sex, r.region having count(*) >= 20 order by s.sex, r.region

--- 194 join asof
-- asof join. Unsound.
select p.sex, v.region, count(*) as n from (select * from people where random() < 0.1) p asof join visits v on p.birth_date >= v.visit_date group by p.sex, v.region having count(*) >= 20 order by p.sex, v.region

--- 195 join semi
-- semi join with other data. Unsound (2).
with s as (select id, sex, race from people where random() < 0.1) select sex, race, count(*) as n from s semi join visits v on v.person_id = s.id group by sex, race having count(*) >= 20 order by sex, race

--- 196 join anti
-- anti join. Unsound.
with s as (select id, sex, race from people where random() < 0.1) select sex, race, count(*) as n from s anti join visits v on v.person_id = s.id group by sex, race having count(*) >= 20 order by sex, race

--- 197 filter in subquery
-- filter by membership in another table. Unsound (2).
select sex, race, count(*) as n from people where zip in (select zip from regions) and random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 198 filter exists
-- correlated EXISTS. Unsound (2).
select sex, race, count(*) as n from people p where exists (select 1 from visits v where v.person_id = p.id) and random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 199 filter above average
-- filter on the average of the data. Unsound (2).
select sex, race, count(*) as n from people where salary > (select avg(salary) from people) and random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 200 filter unique people
-- only people who are alone in their cell: the filter depends on the others. Unsound (2).
select sex, race, count(*) as n from people p where random() < 0.1 and (select count(*) from people q where q.zip = p.zip and q.age = p.age) = 1 group by sex, race having count(*) >= 20 order by sex, race

--- 201 filter rowid
-- the first rows by rowid: places depend on the others. Unsound (2).
select sex, race, count(*) as n from people where rowid < 10000 and random() < 0.5 group by sex, race having count(*) >= 20 order by sex, race

--- 202 recode rowid
-- rowid as a recode: the place of a row depends on the rows before. Unsound (2).
select rowid // 1000 as block, sex, count(*) as n from people tablesample bernoulli (50 percent) group by block, sex having count(*) >= 20 order by block, sex

--- 203 unnest fan out
-- unnest: a person becomes several rows. Unsound.
with s as (select sex, unnest(string_split(occupation, '-')) as word from people where random() < 0.1) select sex, word, count(*) as n from s group by sex, word having count(*) >= 20 order by sex, word

--- 204 unnest constant list
-- unnest of a constant list: every person twice, k is 10. Unsound.
with s as (select sex, race, unnest([1, 2]) as copy from people where random() < 0.1) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 205 lateral unnest
-- lateral unnest. Unsound.
select p.sex, u.w, count(*) as n from people p, lateral (select unnest(string_split(p.occupation, '-')) as w) u where random() < 0.1 group by p.sex, u.w having count(*) >= 20 order by p.sex, u.w

--- 206 generate series fan out
-- range() in the select list of the sampled CTE. Unsound.
with s as (select sex, unnest(range(3)) as i from people where random() < 0.1) select sex, i, count(*) as n from s group by sex, i having count(*) >= 20 order by sex, i

--- 207 unpivot fan out
-- UNPIVOT: a person becomes a row a column. Unsound.
with s as (select sex, race, education from people where random() < 0.1),
u as (select * from s unpivot (value for attribute in (sex, race, education)))
select attribute, value, count(*) as n from u group by attribute, value having count(*) >= 20 order by attribute, value

--- 208 pivot output
-- PIVOT: counts without threshold in the cells. Unsound.
select * from (pivot (select sex, race from people tablesample bernoulli (10 percent)) on sex using count(*) group by race) order by all

--- 209 recursive cte
-- recursion doubles the rows. Unsound.
with recursive r as (
  select sex, race, 0 as lvl from people where random() < 0.1
  union all
  select sex, race, lvl + 1 from r where lvl < 1
)
select sex, race, count(*) as n from r group by sex, race having count(*) >= 20 order by sex, race

--- 210 union same table twice
-- the same people twice. Unsound: two rows a person.
with u as (select sex, race from people union all select sex, race from people) select sex, race, count(*) as n from u where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 211 union sampled twice
-- the sample added to itself: k is 10. Unsound.
with s as materialized (select sex, race from people where random() < 0.1), u as (select * from s union all select * from s) select sex, race, count(*) as n from u group by sex, race having count(*) >= 20 order by sex, race

--- 212 union two samples
-- two samples of everybody: a person may be counted twice. Unsound.
with u as (select sex, race from people tablesample bernoulli (10 percent) union all select sex, race from people tablesample bernoulli (10 percent)) select sex, race, count(*) as n from u group by sex, race having count(*) >= 20 order by sex, race

--- 213 union overlap equal
-- people of 30 are in both parts. Unsound.
with u as (select sex, race from people where age <= 30 union all select sex, race from people where age >= 30) select sex, race, count(*) as n from u where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 214 union overlap between
-- BETWEEN holds both ends: 30 is in both parts. Unsound.
with u as (select sex, race from people where age between 0 and 30 union all select sex, race from people where age between 30 and 60) select sex, race, count(*) as n from u where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 215 union overlap null
-- NULL ages are in both parts. Unsound.
with u as (select sex, race from people where coalesce(age, 0) < 30 union all select sex, race from people where age >= 30 or age is null) select sex, race, count(*) as n from u where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 216 union overlap is distinct
-- IS DISTINCT FROM holds NULL, and so does IS NULL. Unsound.
with u as (select race from people where sex is distinct from 'Male' union all select race from people where sex is null) select race, count(*) as n from u where random() < 0.1 group by race having count(*) >= 20 order by race

--- 217 union overlap in
-- CA is in both lists. Unsound.
with u as (select sex from people where state in ('NY', 'CA') union all select sex from people where state in ('CA', 'TX')) select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 218 union overlap not equal
-- year = 2023 and year <> 2024 overlap. Unsound.
with u as (select sex from people where year = 2023 union all select sex from people where year <> 2024) select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 219 union overlap other columns
-- conditions on two columns are not disjoint. Unsound.
with u as (select sex from people where year = 2023 union all select sex from people where state = 'NY') select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 220 union overlap or
-- one part has an OR. Unsound.
with u as (select sex, race from people where year = 2023 union all select sex, race from people where year = 2024 or age > 50) select sex, race, count(*) as n from u where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 221 union overlap like
-- every name with AB begins with A. Unsound.
with u as (select sex from people where state like 'N%' union all select sex from people where state like 'NY%') select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 222 union overlap spelling
-- 2023 and 2023.0 are the same number. Unsound.
with u as (select sex from people where year = 2023 union all select sex from people where year = 2023.0) select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 223 union overlap text number
-- 2023 and '2023': an integer column compares both as numbers. Unsound.
with u as (select sex from people where year = 2023 union all select sex from people where year = '2023') select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 224 union overlap text forms
-- '2023' and '02023' are one integer. Unsound on an integer column.
with u as (select sex from people where year = '2023' union all select sex from people where year = '02023') select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 225 union overlap date forms
-- '1990-01-01' and '1990-1-1' are one date. Unsound on a date column.
with u as (select sex from people where birth_date >= '1990-01-01' union all select sex from people where birth_date = '1990-1-1' or birth_date < '1990-01-01') select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 226 union overlap date equal forms
create table events (event_id integer primary key, country varchar, day date);
--- schema above
-- two spellings of the same day. Unsound.
with u as (select country from events where day = '1990-01-01' union all select country from events where day = '1990-1-1' union all select country from events where day > '1990-01-01') select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 227 union overlap bool forms
create table members (member_pk integer primary key, country varchar, active boolean);
--- schema above
-- active = 'true' and active = 't' are the same people. Unsound.
with u as (select country from members where active = 'true' union all select country from members where active = 't') select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 228 union overlap number text column
create table members (member_pk integer primary key, country varchar, code varchar);
--- schema above
-- code = 1 compares as numbers: '01' is 1 as well. Unsound on a text column.
with u as (select country from members where code = 1 union all select country from members where code = '01') select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 229 union overlap collation
create table members (member_pk integer primary key, country varchar, gender varchar collate nocase);
--- schema above
-- under NOCASE 'm' and 'M' are the same people. Unsound.
with u as (select country from members where gender = 'm' union all select country from members where gender = 'M') select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 230 union overlap decimal rounding
create table members (member_pk integer primary key, country varchar, ratio float);
--- schema above
-- 0.1 and 0.10000000149 are one FLOAT. Unsound.
with u as (select country from members where ratio = 0.1::float union all select country from members where ratio = 0.10000000149::float) select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 231 union overlap redefined column
-- in the second part "year" is a constant under the column's name: everybody is in it. Unsound.
with b as (select 2024 as year, sex, race from people),
u as (select sex, race from people where year = 2023 union all select sex, race from b where year = 2024)
select sex, race, count(*) as n from u where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 232 union overlap shifted column
-- year + 1 under the name year: the same people in both parts. Unsound.
with b as (select year + 1 as year, sex, race from people)
select sex, race, count(*) as n from (select sex, race from people where year = 2023 union all select sex, race from b where year = 2024) u
where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 233 union overlap swapped list
-- the second part's column list swaps year and score. Unsound.
with b(score, year, sex) as (select year, score, sex from people)
select sex, count(*) as n from (select sex from people where year = 2023 union all select sex from b where year = 50) u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 234 union random split
-- two draws, one for each part: a person can be in both. Unsound.
with u as (select sex, race from people where random() < 0.05 union all select sex, race from people where random() >= 0.95) select sex, race, count(*) as n from u group by sex, race having count(*) >= 20 order by sex, race

--- 235 union distinct parts
-- UNION removes duplicates: a person's row vanishes if another's is equal. Unsound.
with u as (select sex, race, age from people where year = 2023 union select sex, race, age from people where year = 2024) select sex, race, count(*) as n from u where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 236 union two tables
-- two tables: one person may be in both. Unsound.
with u as (select region as g from visits union all select sex as g from people) select g, count(*) as n from u where random() < 0.1 group by g having count(*) >= 20 order by g

--- 237 union fake rows
-- constant rows are added to the sample: a cell of one person passes the threshold of 3. Unsound: the effective k is 1.
with u as (select sex, race from people where random() < 0.1 union all select * from (values ('Female', 'Asian'), ('Female', 'Asian')) v(sex, race)) select sex, race, count(*) as n from u group by sex, race having count(*) >= 3 order by sex, race

--- 238 union fake select rows
-- the same with SELECT of constants. Unsound.
with u as (select sex, race from people where random() < 0.1 union all select 'Female', 'Asian') select sex, race, count(*) as n from u group by sex, race having count(*) >= 2 order by sex, race

--- 239 union parts of visits by year
-- one row a person in each year's part: a person of both years is counted twice. Unsound: unit person_id.
with a as (select diagnosis, row_number() over (partition by person_id order by visit_date) as rn from visits where year = 2023 and sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'),
b as (select diagnosis, row_number() over (partition by person_id order by visit_date) as rn from visits where year = 2024 and sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'),
u as (select diagnosis from a where rn = 1 union all select diagnosis from b where rn = 1)
select diagnosis, count(*) as n from u group by diagnosis having count(*) >= 20 order by diagnosis

--- 240 union by name twice
-- UNION ALL BY NAME of everybody twice. Unsound.
with u as (select sex, race from people union all by name select race, sex from people) select sex, race, count(*) as n from u where random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 241 union different rates
-- parts drawn at 10 and 90 percent: not one beta for every unit. Unsound if 0.1 is certified.
with u as (select sex from people tablesample bernoulli (10 percent) where year = 2023 union all select sex from people tablesample bernoulli (90 percent) where year = 2024) select sex, count(*) as n from u group by sex having count(*) >= 20 order by sex

--- 242 union one part not sampled
-- only one part is sampled. Unsound.
with u as (select sex from people where year = 2023 and random() < 0.1 union all select sex from people where year = 2024) select sex, count(*) as n from u group by sex having count(*) >= 20 order by sex

--- 243 union one part no threshold
-- two parts grouped apart; only one has a threshold. Unsound.
select 2023 as yr, zip, count(*) as n from people tablesample bernoulli (10 percent) where year = 2023 group by zip having count(*) >= 20
union all
select 2024, zip, count(*) from people tablesample bernoulli (10 percent) where year = 2024 group by zip
order by 1, 2, 3

--- 244 intersect query
-- INTERSECT with raw data. Unsound.
with s as (select sex, race from people where random() < 0.1 intersect all select sex, race from people where age > 30) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 245 except query
-- EXCEPT: the keys of the suppressed groups. Unsound.
select zip from people except select zip from (select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20) order by zip

--- 246 limit no order
-- LIMIT without an order: which groups show depends on the engine's order. Unsound: order of rows.
select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex having count(*) >= 20 limit 5

--- 247 limit in sample
-- at most 5000 of the sampled rows. Unsound (1): a row depends on the others.
with s as (select sex, race from people where random() < 0.5 limit 5000) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 248 offset in sample
-- OFFSET in the sample. Unsound.
with s as (select sex, race from people where random() < 0.5 order by id offset 10) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 249 limit percent in sample
-- LIMIT 10% as a sample. Unsound.
with s as (select sex, race from people order by random() limit 10%) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 250 order by random limit
-- a fixed number of random rows. Unsound (1).
with s as (select sex, race from people order by random() limit 5000) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 251 limit before threshold
-- the first hundred groups before the suppression. Unsound.
with g as (select zip, sex, count(*) as n from people tablesample bernoulli (10 percent) group by zip, sex order by zip, sex limit 5) select zip, sex, n from g where n >= 20 order by zip, sex

--- 252 distinct rows
-- DISTINCT persons: a row vanishes if another is equal. Unsound.
with s as (select distinct sex, race, age, zip from people where random() < 0.1) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 253 distinct on zip
-- one row a zip: the row depends on the others. Unsound.
with s as (select distinct on (zip, age) sex, race, zip, age from people where random() < 0.1 order by zip, age, id) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 254 qualify top
-- QUALIFY keeps the oldest of each zip. Unsound.
with s as (select sex, race from people where random() < 0.5 qualify row_number() over (partition by zip order by age desc) <= 500) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20 order by sex, race

--- 255 raw rows with limit
-- raw rows. Unsound.
select name, zip, age from people tablesample bernoulli (10 percent) order by name limit 100

--- 256 raw sampled rows
-- the sampled rows themselves, no grouping. Unsound (3).
select zip, sex, age from people tablesample bernoulli (10 percent) order by zip, sex, age

--- 257 count of groups
-- how many groups have been suppressed. Unsound.
with g as (select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age) select count(*) as suppressed from g where n < 20

--- 258 count over everything
-- count(*) over () of the groups before the suppression. Unsound.
select * from (select zip, sex, count(*) as n, count(*) over () as groups from people tablesample bernoulli (10 percent) group by zip, sex) where n >= 20 order by zip, sex

--- 259 hash of data
-- a digest of the source. Unsound: confirms the last tuple.
with d as (select bit_xor(hash(id, zip, age)) as digest from people) select p.sex, d.digest, count(*) as n from people p tablesample bernoulli (10 percent), d group by p.sex, d.digest having count(*) >= 20 order by p.sex, d.digest

--- 260 group hash
-- a digest of the group's members. Unsound (3).
select sex, race, bit_xor(hash(id)) as digest, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 261 recode today
-- the age of today: the recode reads a clock. Refused: not fixed before.
select date_diff('year', birth_date, current_date) // 10 as decade, count(*) as n from people tablesample bernoulli (10 percent) group by decade having count(*) >= 20 order by decade

--- 262 recode age function
-- age(x) with one argument reads the clock. Refused.
select extract(year from age(birth_date)) // 10 as decade, count(*) as n from people tablesample bernoulli (10 percent) group by decade having count(*) >= 20 order by decade

--- 263 filter now
-- a filter that reads the clock. Refused.
select sex, race, count(*) as n from people where created_at > now() - interval 10 year and random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 264 filter current timestamp
-- current_timestamp without brackets. Refused.
select sex, race, count(*) as n from people tablesample bernoulli (10 percent) where created_at < current_timestamp::timestamp group by sex, race having count(*) >= 20 order by sex, race

--- 265 column localtimestamp
-- localtimestamp in a recode. Refused.
select case when created_at < localtimestamp then 'past' else 'future' end as t, count(*) as n from people tablesample bernoulli (10 percent) group by t having count(*) >= 20 order by t

--- 266 recode uuid
-- uuid() in a key. Refused.
select left(uuid()::varchar, 1) as u, sex, count(*) as n from people tablesample bernoulli (50 percent) group by u, sex having count(*) >= 20 order by u, sex

--- 267 recode current setting
-- a setting as a key. Refused.
select current_setting('threads') as t, sex, count(*) as n from people tablesample bernoulli (10 percent) group by t, sex having count(*) >= 20 order by t, sex

--- 268 recode nondet user
-- the session's user. Refused: an unknown function.
select current_user as u, sex, count(*) as n from people tablesample bernoulli (10 percent) group by u, sex having count(*) >= 20 order by u, sex

--- 269 recode write log
-- write_log() writes every raw value to the log. Unsound: a side channel.
select sex, race, count(*) as n from people where write_log(name) is null and random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 270 recode error text
-- error() quotes a person's name. Unsound: error text.
select sex, race, count(*) as n from people where case when name = 'Nobody' then error('found ' || name) else true end and random() < 0.1 group by sex, race having count(*) >= 20 order by sex, race

--- 271 timezone day
create table orders (order_id integer primary key, country varchar, ordered_at timestamp with time zone);
--- schema above
-- the day of a timestamptz depends on the session's zone. Refused: pin the zone.
select country, date_trunc('day', ordered_at) as day, count(*) as n from orders tablesample bernoulli (10 percent) group by country, day having count(*) >= 20 order by country, day

--- 272 timezone cast
create table orders (order_id integer primary key, country varchar, ordered_at timestamp with time zone);
--- schema above
-- cast of a timestamptz to date depends on the session's zone. Refused.
select country, ordered_at::date as day, count(*) as n from orders tablesample bernoulli (10 percent) group by country, day having count(*) >= 2 order by country, day

--- 273 float key
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- a float as a key: -0 and 0 are one group, shown as whichever came first. Unsound: order of rows.
select income, sex, count(*) as n from people tablesample bernoulli (50 percent) group by income, sex having count(*) >= 2 order by income, sex

--- 274 float key rounded
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- round() of a float gives -0 for -0.3: still a float key. Unsound.
select round(income, -3) as income_k, sex, count(*) as n from people tablesample bernoulli (50 percent) group by income_k, sex having count(*) >= 2 order by income_k, sex

--- 275 float key floor
create table people (id integer primary key, sex varchar, income float);
--- schema above
-- floor() of a float keeps -0 and NaN. Unsound.
select floor(income / 1000) * 1000 as income_k, sex, count(*) as n from people tablesample bernoulli (50 percent) group by income_k, sex having count(*) >= 2 order by income_k, sex

--- 276 float key in list
create table people (id integer primary key, sex varchar, marks double[]);
--- schema above
-- a list of floats as a key. Unsound: as floats.
select marks, sex, count(*) as n from people tablesample bernoulli (50 percent) group by marks, sex having count(*) >= 2 order by marks, sex

--- 277 float key in struct
create table people (id integer primary key, sex varchar, pos struct(x double, y double));
--- schema above
-- a struct of floats as a key. Unsound: as floats.
select pos, sex, count(*) as n from people tablesample bernoulli (50 percent) group by pos, sex having count(*) >= 2 order by pos, sex

--- 278 interval key
create table people (id integer primary key, sex varchar, tenure interval);
--- schema above
-- '30 days' and '1 month' are one group, shown as whichever came first. Unsound: order of rows.
select tenure, sex, count(*) as n from people tablesample bernoulli (50 percent) group by tenure, sex having count(*) >= 2 order by tenure, sex

--- 279 collated key
create table people (id integer primary key, sex varchar, zip varchar collate nocase);
--- schema above
-- a NOCASE column: 'a' and 'A' are one group, shown as whichever came first. Unsound: order of rows.
select zip, sex, count(*) as n from people tablesample bernoulli (50 percent) group by zip, sex having count(*) >= 2 order by zip, sex

--- 280 collate in text
-- COLLATE in the key. Unsound: as above.
select city collate nocase as c, sex, count(*) as n from people tablesample bernoulli (50 percent) group by c, sex having count(*) >= 2 order by c, sex

--- 281 collate noaccent group
-- COLLATE in GROUP BY. Unsound.
select city collate nocase.noaccent as c, count(*) as n from people tablesample bernoulli (50 percent) group by city collate nocase.noaccent having count(*) >= 2 order by 1

--- 282 collated case
create table people (id integer primary key, name varchar, sex varchar collate noaccent);
--- schema above
-- the collated column is concatenated: still collated. Unsound.
select sex || '' as s, count(*) as n from people tablesample bernoulli (50 percent) group by s having count(*) >= 2 order by s

--- 283 cast text to int
create table people (id integer primary key, sex varchar, zip varchar);
--- schema above
-- the cast fails for one person's text and prints it. Unsound: error text.
select try_cast(zip as integer) as z, case when sex = 'x' then cast(zip as integer) end as y, count(*) as n from people tablesample bernoulli (10 percent) group by z, y having count(*) >= 2 order by z, y

--- 284 cast text to date
create table people (id integer primary key, sex varchar, born varchar);
--- schema above
-- a cast of text to date fails for one person's text. Unsound: error text.
select case when sex = 'none' then year(born::date) end as y, sex, count(*) as n from people tablesample bernoulli (10 percent) group by y, sex having count(*) >= 2 order by y, sex

--- 285 implicit cast text number
create table people (id integer primary key, sex varchar, zip varchar);
--- schema above
-- zip::integer inside a condition fails at 'SW1A'. Unsound: error text.
select case when sex = 'none' and zip::integer < 5000 then 'a' else 'b' end as half, sex, count(*) as n from people tablesample bernoulli (10 percent) group by half, sex having count(*) >= 2 order by half, sex

--- 286 overflow multiplication
create table people (id integer primary key, sex varchar, score integer);
--- schema above
-- score * 20000000 overflows at 108 and the error says so. Unsound: error text.
select score * 20000000 as s, sex, count(*) as n from people tablesample bernoulli (10 percent) group by s, sex having count(*) >= 2 order by s, sex

--- 287 overflow tinyint
create table people (id integer primary key, sex varchar, age integer);
--- schema above
-- cast(age as tinyint) fails at 128. Unsound: error text.
select cast(age as tinyint) as a, sex, count(*) as n from people tablesample bernoulli (10 percent) group by a, sex having count(*) >= 2 order by a, sex

--- 288 overflow shift
create table people (id integer primary key, sex varchar, age integer);
--- schema above
-- 1 << age fails at 64. Unsound: error text (guarded here so that the fixture runs).
select case when age < 30 then 1 << age else 0 end as a, case when age > 1000 then 1 << age end as b, sex, count(*) as n from people tablesample bernoulli (50 percent) group by a, b, sex having count(*) >= 2 order by a, b, sex

--- 289 strptime error
create table people (id integer primary key, sex varchar, born varchar);
--- schema above
-- strptime fails for one person's text. Unsound: error text.
select case when sex = 'none' then strptime(born, '%Y-%m-%d') end as y, sex, count(*) as n from people tablesample bernoulli (50 percent) group by y, sex having count(*) >= 2 order by y, sex

--- 290 make date error
create table people (id integer primary key, sex varchar, y integer, m integer);
--- schema above
-- make_date fails at month 13. Unsound: error text.
select case when m between 1 and 12 then make_date(2000, m, 1) end as d, case when sex = 'none' then make_date(y, m, 1) end as e, count(*) as n from people tablesample bernoulli (50 percent) group by d, e having count(*) >= 2 order by d, e

--- 291 regexp pattern column
-- the pattern is a column: a broken pattern is an error. Unsound: error text.
select regexp_matches(city, state) as m, sex, count(*) as n from people tablesample bernoulli (10 percent) group by m, sex having count(*) >= 20 order by m, sex

--- 292 factorial error
create table people (id integer primary key, sex varchar, age integer);
--- schema above
-- factorial(age) fails above 33. Unsound: error text.
select case when age < 20 then factorial(age) else 0 end as f, sex, count(*) as n from people tablesample bernoulli (50 percent) group by f, sex having count(*) >= 2 order by f, sex

--- 293 repeat memory
-- repeat(…, age) makes the time and memory of the query depend on a person. Refused: not a recode the kernel knows to be harmless.
select repeat(sex, age * 10) as r, count(*) as n from people tablesample bernoulli (50 percent) group by r having count(*) >= 2 order by r

--- 294 json error
create table people (id integer primary key, sex varchar, doc varchar);
--- schema above
-- json functions fail on a text that is no JSON. Unsound: error text.
select case when sex = 'none' then json_extract_string(doc, '$.a') end as a, sex, count(*) as n from people tablesample bernoulli (50 percent) group by a, sex having count(*) >= 2 order by a, sex

--- 295 multi statement
-- a second statement releases the raw rows. Unsound.
select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race; select * from people

--- 296 multi statement create
-- a statement before replaces the table. Unsound.
create temp table p2 as select * from people; select sex, count(*) as n from p2 where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 297 macro random
-- a macro makes random() zero. Unsound.
create temp macro random() as 0.0; select sex, count(*) as n from people where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 298 macro call
-- create macro, then call it. Unsound: two statements, unknown function.
create or replace temp macro band(a) as a // 10; select band(age) as b, count(*) as n from people tablesample bernoulli (10 percent) group by b having count(*) >= 20 order by b

--- 299 table function range
-- a table function as source. Refused.
select range // 10 as r, count(*) as n from range(10000) where random() < 0.5 group by r having count(*) >= 2 order by r

--- 300 table function query
-- query() runs a text. Refused.
select sex, count(*) as n from query('select sex from people union all select sex from people') where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 301 table function query table
-- query_table() with a list reads tables twice. Unsound.
select sex, count(*) as n from query_table(['people', 'people']) where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 302 information schema source
-- the catalog as source. Refused: not a base table of persons; its rows depend on the data.
select table_schema, count(*) as n from information_schema.columns where random() < 0.9 group by table_schema having count(*) >= 2 order by table_schema

--- 303 duckdb storage source
-- storage statistics of the table. Unsound.
select segment_type, count(*) as n from pragma_storage_info('people') where random() < 0.9 group by segment_type having count(*) >= 2 order by segment_type

--- 304 summarize statement
-- SUMMARIZE. Unsound.
summarize people

--- 305 explain analyze
-- EXPLAIN ANALYZE prints the row counts of every operator. Unsound: number of source, sampled and suppressed rows.
explain analyze select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 306 create view release
-- a view draws at every read: 200 reads average the noise away. Unsound (sampling.md).
create view public_people as select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 307 create macro release
-- a table macro draws at every call. Unsound.
create macro public_people() as table select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 308 create table over source
-- the release replaces its own source. Unsound: the data are lost and read next time.
create or replace table people as select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 309 delete returning
-- DELETE … RETURNING. Unsound.
delete from people where random() < 0.1 returning sex, race

--- 310 view that samples
create table people (id integer primary key, sex varchar, race varchar);
create view sampled as select sex, race from people where random() < 0.1;
--- schema above
-- the view is read twice: two draws, and no secret of one release. Unsound.
select a.sex, count(*) as n from sampled a where a.race in (select race from sampled) group by a.sex having count(*) >= 20 order by a.sex

--- 311 view distinct
create table visits (visit_id integer primary key, person_id integer, region varchar);
create view persons as select distinct person_id, region from visits;
--- schema above
-- the view has DISTINCT; DuckDB pushes random() below it. Unsound.
select region, count(*) as n from persons where random() < 0.1 group by region having count(*) >= 20 order by region

--- 312 view group
create table visits (visit_id integer primary key, person_id integer, region varchar);
create view persons as select region, count(*) as visits from visits group by region, person_id;
--- schema above
-- the view aggregates. Unsound: the number of a person's visits is a sum over rows, the unit is unknown.
select region, visits, count(*) as n from persons where random() < 0.1 group by region, visits having count(*) >= 20 order by region, visits

--- 313 view join
create table people (id integer primary key, zip varchar, sex varchar);
create table regions (zip varchar, region varchar);
create view v as select p.id, p.sex, r.region from people p join regions r on r.zip = p.zip;
--- schema above
-- the view joins with fan-out. Unsound.
select sex, region, count(*) as n from v where random() < 0.1 group by sex, region having count(*) >= 20 order by sex, region

--- 314 view window
create table people (id integer primary key, sex varchar, age integer);
create view v as select sex, ntile(10) over (order by age) as decile from people;
--- schema above
-- the view ranks. Unsound (2).
select sex, decile, count(*) as n from v where random() < 0.1 group by sex, decile having count(*) >= 20 order by sex, decile

--- 315 view limit
create table people (id integer primary key, sex varchar, age integer);
create view v as select sex, age from people order by age desc limit 5000;
--- schema above
-- the view has a LIMIT. Unsound.
select sex, count(*) as n from v where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 316 view union twice
create table people (id integer primary key, sex varchar, age integer);
create view v as select sex from people where age <= 50 union all select sex from people where age >= 50;
--- schema above
-- the view's parts overlap at 50. Unsound.
select sex, count(*) as n from v where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 317 view unnest
create table people (id integer primary key, sex varchar, tags varchar[]);
create view v as select sex, unnest(coalesce(tags, ['a', 'b'])) as tag from people;
--- schema above
-- the view unnests. Unsound: several rows a person.
select sex, tag, count(*) as n from v where random() < 0.1 group by sex, tag having count(*) >= 20 order by sex, tag

--- 318 view clock
create table people (id integer primary key, sex varchar, birth_date date);
create view v as select sex, date_diff('year', birth_date, current_date) as age from people;
--- schema above
-- the view reads the clock. Refused.
select sex, age // 10 as d, count(*) as n from v where random() < 0.1 group by sex, d having count(*) >= 20 order by sex, d

--- 319 view lookup subquery
create table people (id integer primary key, sex varchar, zip varchar);
create table vip (zip varchar);
create view v as select sex, zip in (select zip from vip) as is_vip from people;
--- schema above
-- the view looks up in another table. Unsound (2).
select sex, is_vip, count(*) as n from v where random() < 0.1 group by sex, is_vip having count(*) >= 20 order by sex, is_vip

--- 320 view swapped columns
create table people (id integer primary key, zip integer, sex varchar);
create view v (zip, id, sex) as select id, zip, sex from people;
--- schema above
-- the view's column list swaps id and zip: keyed by the zip. Unsound.
select sex, count(*) as n from v where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999' group by sex having count(*) >= 20 order by sex

--- 321 view of view distinct
create table people (id integer primary key, zip varchar, sex varchar);
create view a as select distinct zip, sex from people;
create view b as select zip, sex from a;
create view c as select left(zip, 3) as z, sex from b;
--- schema above
-- DISTINCT three views down. Unsound.
select z, sex, count(*) as n from c where random() < 0.9 group by z, sex having count(*) >= 2 order by z, sex

--- 322 view in other schema
create table main.people (id integer primary key, sex varchar);
create schema analytics;
create view analytics.people as select sex from main.people union all select sex from main.people;
--- schema above
-- analytics.people is a view of everybody twice; main.people is the base table. Unsound.
select sex, count(*) as n from analytics.people where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 323 cte shadows table
-- the CTE named people is a DISTINCT of the people. Unsound.
with people as (select distinct zip, sex, age from main.people) select zip, sex, count(*) as n from people where random() < 0.5 group by zip, sex having count(*) >= 20 order by zip, sex

--- 324 cte shadows inner
-- the inner CTE s hides the sampled s: the groups are of everybody. Unsound.
with s as (select sex, race from people where random() < 0.1)
select * from (with s as (select sex, race from people) select sex, race, count(*) as n from s group by sex, race having count(*) >= 20) t order by sex, race

--- 325 cte case shadow
-- names are case-insensitive: PEOPLE is the CTE. Unsound.
with PEOPLE as (select sex from main.people union all select sex from main.people) select sex, count(*) as n from people where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 326 generated random column
create table people (id integer primary key, sex varchar, age integer, bucket integer generated always as (age % 10));
--- schema above
-- a bucket of the age is no random sample. Unsound (1).
select sex, count(*) as n from people where bucket < 1 group by sex having count(*) >= 20 order by sex

--- 327 star leak
-- p.* beside the groups: raw columns through a join back. Unsound.
with g as (select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(*) >= 20) select p.*, g.n from g, people p where p.zip = g.zip order by all

--- 328 group by constant ordinal
-- GROUP BY 1 groups by the first column only; the second is any_value. Unsound (3).
select sex, any_value(race) as race, count(*) as n from people tablesample bernoulli (10 percent) group by 1 having count(*) >= 20 order by 1

--- 329 subquery in select
-- a scalar subquery as a column of the release. Unsound.
select sex, (select max(income) from people) as top_income, count(*) as n from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20 order by sex

--- 330 correlated subquery column
-- the raw count of the zip beside the sampled one. Unsound.
select p.zip, count(*) as n, (select count(*) from people q where q.zip = p.zip) as true_n from people p tablesample bernoulli (10 percent) group by p.zip having count(*) >= 20 order by p.zip

--- 331 list aggregate in recode
-- an aggregate in the inner query under a harmless name. Unsound.
with s as (select sex, max(age) over () as oldest from people where random() < 0.1) select sex, oldest, count(*) as n from s group by sex, oldest having count(*) >= 20 order by sex, oldest

--- 332 second count of all
-- sum over a two-level without filter and a count over () beside it. Unsound: the total leaves.
with raw as (select age, sex, count(*) as c from people tablesample bernoulli (10 percent) group by age, sex), t as (select *, sum(c) over () as total from raw)
select sex, total, sum(c) as n from t group by sex, total having sum(c) >= 20 order by sex, total

--- 333 exists release flag
-- shows whether anything was suppressed. Unsound.
with g as (select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip)
select zip, n, exists (select 1 from g where n < 20) as some_suppressed from g where n >= 20 order by zip

--- 334 nested comment or
-- DuckDB's comments nest: the OR stands outside. Unsound: k = 0.
select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 /* /* */ -- */ or true
order by sex, race

--- 335 nested comment where
-- nested comment hides the draw in a parser that nests. Unsound: no sample.
select sex, race, count(*) as n from people /* outer /* inner */ where random() < 0.1 -- */
group by sex, race having count(*) >= 20 order by sex, race

--- 336 comment ends at cr
-- a carriage return ends DuckDB's line comment: the OR is live. Unsound.
select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 -- k
 or true
order by sex, race

--- 337 comment cr hides sample
-- a carriage return inside a comment, the text behind it is live: a filter with OR. Unsound.
select sex, race, count(*) as n from people where random() < 0.1 -- draw
or true
group by sex, race having count(*) >= 20 order by sex, race

--- 338 comment vertical tab
-- vertical tab and form feed do not end a comment: the draw is commented out. Unsound: no sample.
select sex, race, count(*) as n from people -- where random() < 0.1
group by sex, race having count(*) >= 20 order by sex, race

--- 339 comment line separator
-- U+2028 does not end a comment: the draw is commented out. Unsound.
select sex, race, count(*) as n from people --   where random() < 0.1
group by sex, race having count(*) >= 20 order by sex, race

--- 340 comment next line
-- U+0085 does not end a comment: the threshold is commented out. Unsound.
select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race --  having count(*) >= 20
order by sex, race

--- 341 nbsp or
-- no-break spaces are spaces to DuckDB. Unsound: OR.
select sex, race, count(*) as n from people where random() < 0.1 or true group by sex, race having count(*) >= 20 order by sex, race

--- 342 backslash string
-- a backslash is no escape in DuckDB: the draw stands inside a string. Unsound: no sample.
select sex, race, count(*) as n from people where city <> '\' or state <> ' and random() < 0.1 and city <> '' -- '
group by sex, race having count(*) >= 20 order by sex, race

--- 343 e string escape
-- in an E-string the backslash escapes: the draw stands inside the string. Unsound: no sample.
select sex, race, count(*) as n from people where city <> E'\' and random() < 0.1 -- '
group by sex, race having count(*) >= 20 order by sex, race

--- 344 dollar quote hides sample
-- the draw stands inside a dollar-quoted string. Unsound: no sample.
select sex, race, count(*) as n from people where city <> $x$ and random() < 0.1 and state <> $x$ group by sex, race having count(*) >= 20 order by sex, race

--- 345 dollar quote apostrophe
-- an apostrophe inside a dollar-quoted string; the OR is live. Unsound.
select sex, race, count(*) as n from people where random() < 0.1 and city <> $$ ' $$ or true -- '
group by sex, race having count(*) >= 20 order by sex, race

--- 346 quoted identifier not string
-- "Male" is an identifier, here the alias of a raw aggregate. Unsound.
select sex, race, count(*) as n, max(age) as "count(*)" from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 347 zero width name
-- count with a zero-width space is another column: the threshold is on it. Unsound.
with g as (select sex, race, count(*) as n, 99 as n​ from people tablesample bernoulli (10 percent) group by sex, race) select sex, race, n from g where n​ >= 20 order by sex, race

--- 348 homoglyph name
-- a Cyrillic letter: the threshold is on another column. Unsound.
with g as (select sex, race, count(*) as cnt, 99 as сnt from people tablesample bernoulli (10 percent) group by sex, race) select sex, race, cnt from g where сnt >= 20 order by sex, race

--- 349 constant named n
-- n is a constant. Unsound: no threshold.
with g as (select sex, race, count(*) as c, 99 as n from people tablesample bernoulli (10 percent) group by sex, race) select sex, race, c from g where n >= 20 order by sex, race

--- 350 string literal threshold
-- the count as text: '3' >= '20' is true. Unsound.
select sex, race, n from (select sex, race, count(*)::varchar as n from people tablesample bernoulli (10 percent) group by sex, race) where n >= '20' order by sex, race

--- 351 string concat lines
-- string literals on two lines are one: no trick works, but the draw is inside it. Unsound: no sample.
select sex, race, count(*) as n from people where city <> 'a'
' and random() < 0.1 and city <> '
group by sex, race having count(*) >= 20 order by sex, race

--- 352 operator precedence not
-- NOT binds more loosely than AND's parts: not random() >= .1 is sampled, but the OR is not. Unsound.
select sex, race, count(*) as n from people where not random() >= 0.1 and active or not active group by sex, race having count(*) >= 20 order by sex, race

--- 353 having in comment
-- the threshold is in a comment. Unsound.
select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race /* having count(*) >= 20 */ order by sex, race

--- 354 jinja left over
-- an unrendered template would be a struct of a set. Refused.
select sex, race, count(*) as n, {'a': {'b': max(age)}} as extra from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 355 columns expression
-- COLUMNS(*) with an aggregate. Unsound (3).
select sex, max(columns('age|income')), count(*) as n from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20 order by sex

--- 356 lambda count
-- list functions with lambdas over a list of the group. Unsound (3).
select sex, list_sum(list_transform(list(age), lambda x: x)) as s, count(*) as n from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20 order by sex

--- 357 group by all with aggregate
-- GROUP BY ALL leaves aggregates outside the grouping. Unsound (3).
from people tablesample bernoulli (10 percent) select sex, median(age) as m, count(*) as n group by all having n >= 20 order by all

--- 358 struct pack rows
-- the whole rows of the group as a list of structs. Unsound (3).
select sex, list(people) as rows, count(*) as n from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20 order by sex

--- 359 tablesample on cte read twice
-- a sampled CTE read twice, once for the threshold. Unsound: two draws.
with s as (select sex, race from people tablesample bernoulli (10 percent)), big as (select race from s group by race having count(*) >= 20)
select s.sex, s.race, count(*) as n from s where s.race in (select race from big) group by s.sex, s.race having count(*) >= 20 order by s.sex, s.race

--- 360 alias hides column in where
-- WHERE sees the column, not the alias: the sampled filter is on the raw column n of the sub-select, which is the age. Unsound.
select g, c from (select sex as g, count(*) as c, age as n from people tablesample bernoulli (10 percent) group by sex, age) where n >= 20 order by g, c

--- 361 order by partial
-- groups of one sex come in the engine's order. The order of rows leaves; refused (theory.md: not the order of rows).
select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2 order by sex

--- 362 insert into public
-- the release is appended to a table that holds an earlier release of the same people. Refused: not the statement of one release.
insert into regions select sex, race from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20

--- 363 prepare statement
-- PREPARE: re-executed it is another release each time. Refused.
prepare r as select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 364 attach in text
-- a pragma before the release. Refused: two statements.
set threads = 1; select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 365 default collation
-- a statement that changes the default collation first. Unsound.
set default_collation = 'nocase'; select sex, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, race having count(*) >= 20 order by sex, race

--- 366 having n is a raw column
create table people (id integer primary key, zip varchar, n integer);
--- schema above
-- n is grouped and a column of the table: DuckDB's HAVING means the column. Unsound: no threshold.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip, n having n >= 20 order by zip

--- 367 having n is a raw column no schema
-- GROUP BY n can only mean a column n (an aggregate cannot be grouped), so HAVING n is that column. Unsound.
select sex, count(*) as age from people tablesample bernoulli (10 percent) group by sex, age having age >= 20 order by sex

--- 368 having alias hidden qualified
-- HAVING on the raw column, whose name is the count's alias. Unsound.
select sex, count(*) as score from people p tablesample bernoulli (10 percent) group by sex, p.score having p.score >= 20 order by sex

--- 369 outer where alias hidden
-- WHERE means the sub-select's column n (the age), not the alias n of the count. Unsound.
select g, c as n from (select sex as g, age as n, count(*) as c from people tablesample bernoulli (10 percent) group by sex, age) t where n >= 20 order by g, n

--- 370 qualify rn is a column
create table visits (visit_id integer primary key, person_id integer, diagnosis varchar, rn integer);
--- schema above
-- the table has a column rn, and QUALIFY means it: all rows of a person. Unsound (1).
with one as (
  select diagnosis, row_number() over (partition by person_id order by visit_id) as rn from visits
  where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'
  qualify rn = 1
)
select diagnosis, count(*) as n from one group by diagnosis having count(*) >= 2 order by diagnosis

--- 371 rn redefined
-- rn is replaced by a constant before it is asked for. Unsound: all rows of a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'),
two as (select diagnosis, 1 as rn from one)
select diagnosis, count(*) as n from two where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 372 named window other partition
-- the named window partitions by clinic. Unsound.
with one as (select diagnosis, row_number() over w as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999' window w as (partition by clinic_id order by visit_id))
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 373 distinct on other key
-- one row a clinic. Unsound: the row depends on others.
with one as (select distinct on (clinic_id) clinic_id, diagnosis from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999' order by clinic_id, visit_id)
select diagnosis, count(*) as n from one group by diagnosis having count(*) >= 2 order by diagnosis

--- 374 distinct on ordinal
-- DISTINCT ON (1) is the first output column, here the clinic. Unsound.
with one as (select distinct on (1) clinic_id, person_id, diagnosis from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999' order by clinic_id, visit_id)
select diagnosis, count(*) as n from one group by diagnosis having count(*) >= 2 order by diagnosis

--- 375 distinct on person and more
-- one row a person and diagnosis. Unsound: several rows a person.
with one as (select distinct on (person_id, region) person_id, diagnosis from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999' order by person_id, region, visit_id)
select diagnosis, count(*) as n from one group by diagnosis having count(*) >= 2 order by diagnosis

--- 376 distinct on renamed key
-- person_id is an alias of the clinic in this SELECT. DISTINCT ON takes the alias or the column? Either way it must be refused.
with one as (select distinct on (person_id) clinic_id as person_id, diagnosis from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999' order by person_id, visit_id)
select diagnosis, count(*) as n from one group by diagnosis having count(*) >= 2 order by diagnosis

--- 377 partition by redefined key
-- person_id is the clinic under another name. Unsound: the key is no person.
with v as (select clinic_id as person_id, visit_id, diagnosis from visits),
one as (select diagnosis, row_number() over (partition by person_id // 2 order by visit_id) as rn from v where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 2 order by diagnosis

--- 378 rn partition coarser
-- the partition is a recode of the person: one row of ten persons. Unsound.
with one as (select diagnosis, row_number() over (partition by person_id // 10 order by visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 2 order by diagnosis

--- 379 rn order by other window
-- the order inside the person depends on a rank over all. Unsound.
with r as (select person_id, visit_id, diagnosis, rank() over (order by cost) as place from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999'),
one as (select diagnosis, row_number() over (partition by person_id order by place % 7, visit_id) as rn from r)
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 2 order by diagnosis

--- 380 union alias constant
-- part is no column but the constant alias, and DuckDB lets WHERE see it: both branches hold everybody. Unsound.
with u as (
  select sex, 2023 as part from people where part = 2023
  union all
  select sex, 2024 as part from people where part = 2024
)
select sex, part, count(*) as n from u where random() < 0.1 group by sex, part having count(*) >= 20 order by sex, part

--- 381 union alias constant dropped
-- the same, and the label is dropped: every person counts twice. Unsound.
with u as (
  select sex, 1 as part from people where part = 1
  union all
  select sex, 2 as part from people where part = 2
)
select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 382 union alias computed
-- two computed aliases with one name. Unsound: the branches overlap.
with u as (
  select sex, age // 10 as band from people where band = 3
  union all
  select sex, score // 10 as band from people where band = 4
)
select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 383 union text order dates
-- as text '2024-10-01' is before '2024-9-01'; as dates September is in both parts. Unsound on a date column.
with u as (
  select sex from people where birth_date <= '1964-10-01'
  union all
  select sex from people where birth_date >= '1964-9-01'
)
select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 384 union text order dates schema
create table events (event_id integer primary key, country varchar, day date);
--- schema above
-- the same with the schema's DATE. Unsound.
with u as (select country from events where day <= '1964-10-01' union all select country from events where day >= '1964-9-01') select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 385 union text order numbers
-- as text '10' is before '9'; as numbers 9 and 10 are in both parts. Unsound on an integer column.
with u as (select sex from people where age <= '10' union all select sex from people where age >= '9') select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 386 union text order numbers schema
create table people (id integer primary key, sex varchar, age integer);
--- schema above
-- the same with the schema's INTEGER. Unsound.
with u as (select sex from people where age <= '10' union all select sex from people where age >= '9') select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 387 union date two spellings
-- one day in two spellings, no schema. Unsound on a date column.
with u as (select sex from people where birth_date = '1990-01-01' union all select sex from people where birth_date = '1990-1-1') select sex, count(*) as n from u where random() < 0.9 group by sex having count(*) >= 2 order by sex

--- 388 union bool two spellings
-- one truth value in two spellings, no schema. Unsound on a boolean column.
with u as (select sex from people where active = 'true' union all select sex from people where active = 't') select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 389 union uuid two spellings
create table members (member_id uuid, plan varchar);
--- schema above
-- a uuid in upper and lower case is one uuid. Unsound.
with u as (select plan from members where member_id = 'ABCDEF00-0000-0000-0000-000000000001' union all select plan from members where member_id = 'abcdef00-0000-0000-0000-000000000001') select plan, count(*) as n from u where random() < 0.1 group by plan having count(*) >= 20 order by plan

--- 390 union timestamp spellings
create table events (event_id integer primary key, country varchar, seen timestamp);
--- schema above
-- 'T' and a blank between date and time. Unsound.
with u as (select country from events where seen = '2020-01-01 00:00:00' union all select country from events where seen = '2020-01-01T00:00:00') select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 391 union float neighbours
create table events (event_id integer primary key, country varchar, ratio float);
--- schema above
-- 16777216 and 16777217 are one FLOAT. Unsound: the parts meet.
with u as (select country from events where ratio <= 16777216 union all select country from events where ratio >= 16777217) select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 392 union float decimals
create table events (event_id integer primary key, country varchar, ratio float);
--- schema above
-- 0.1 and 0.10000000149 are one FLOAT. Unsound.
with u as (select country from events where ratio = 0.1 union all select country from events where ratio = 0.10000000149) select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 393 union double big integers
create table events (event_id integer primary key, country varchar, amount double);
--- schema above
-- 9007199254740992 and 9007199254740993 are one DOUBLE. Unsound.
with u as (select country from events where amount <= 9007199254740992 union all select country from events where amount >= 9007199254740993) select country, count(*) as n from u where random() < 0.1 group by country having count(*) >= 20 order by country

--- 394 union nocase ranges
create table members (member_pk integer primary key, country varchar collate nocase, plan varchar);
--- schema above
-- under NOCASE 'a' is below 'B': the parts of byte order overlap. Unsound.
with u as (select plan from members where country < 'Z' union all select plan from members where country >= 'a') select plan, count(*) as n from u where random() < 0.1 group by plan having count(*) >= 20 order by plan

--- 395 union not null safe
-- not (x is distinct from y) and x is null meet at NULL. Unsound.
with u as (select sex from people where race is not distinct from null union all select sex from people where race is null) select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 396 union case else
-- the CASEs are two functions; both hold people of 20. Unsound.
with u as (
  select sex from people where case when age < 30 then 1 else 2 end = 1
  union all
  select sex from people where case when age < 20 then 1 else 2 end = 2
)
select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 397 union left prefixes
-- '1' and '10' are prefixes of two lengths. Unsound.
with u as (select sex from people where left(zip, 1) = '1' union all select sex from people where left(zip, 2) = '10') select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 398 union two aliases of table
-- a.year and b.year are the same column, but the second filter is on another one. Unsound.
with u as (select a.sex from people a where a.year = 2023 union all select b.sex from people b where b.age = 30) select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 399 union parts then count whole
-- three parts; the first and the third are the same. Unsound.
with u as (
  select sex from people where year = 2023
  union all select sex from people where year = 2024
  union all select sex from people where year = 2023
)
select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 400 union nested overlap
-- a union of unions; two leaves overlap. Unsound.
with a as (select sex, year from people where year = 2023 union all select sex, year from people where year = 2024),
u as (select sex from a where year = 2023 union all select sex from people where year in (2023, 2025))
select sex, count(*) as n from u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 401 union columns swapped
-- the branches name year and age crosswise; the second "year" is an age. Unsound.
with b as (select sex, age as year from people)
select sex, count(*) as n from (select sex from people where year = 2023 union all select sex from b where year = 30) u where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 402 released row number no order
-- row_number() over () numbers the groups in the engine's order: the order leaves as a column. Unsound.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, row_number() over () as nr from r order by sex, zip, race

--- 403 released row number ties
-- numbered by the count: ties are broken by the engine's order. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, row_number() over (order by n desc) as nr from r order by sex, zip, race

--- 404 released running sum rows
-- a running sum by ROWS over ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, sum(n) over (order by n rows between unbounded preceding and current row) as running from r order by sex, zip, race

--- 405 released first value
-- first_value without an order. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, first_value(zip) over (partition by sex) as some_zip from r order by sex, zip, race

--- 406 released lag ties
-- lag over ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, lag(zip) over (order by n) as before from r order by sex, zip, race

--- 407 released ntile ties
-- ntile over ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, ntile(4) over (order by n) as quarter from r order by sex, zip, race

--- 408 window total between thresholds
-- the total is taken over groups of at least 2, the rows shown have at least 20. Unsound if k = 20 is certified (k = 2 is true).
with r as (select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= 1),
t as (select zip, age, n, sum(n) over () as total from r)
select zip, age, n, total from t where n >= 20 order by zip, age

--- 409 window rank between thresholds
-- ranks over all groups, in the same SELECT as the grouping; the threshold stands outside. Unsound.
select * from (select zip, age, count(*) as n, rank() over (order by count(*) desc) as place from people tablesample bernoulli (10 percent) group by zip, age) where n >= 20 order by zip, age

--- 410 sum five
-- sum(5) >= 20 is four rows. Unsound if k = 20 is certified.
select zip, sum(5) as n from people tablesample bernoulli (10 percent) group by zip having sum(5) >= 20 order by zip

--- 411 sum one of groups
-- sum(1) over the raw groups counts groups, not persons. Unsound.
with raw as (select age, zip, sex, count(*) as c from people tablesample bernoulli (10 percent) group by age, zip, sex)
select sex, sum(1) as n from raw group by sex having sum(1) >= 20 order by sex

--- 412 count null
-- count(null) is 0; >= 0 is no threshold. Unsound.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(null) >= 0 order by zip

--- 413 count distinct constant
-- count(distinct 1) is 1. Unsound.
select zip, count(*) as n from people tablesample bernoulli (10 percent) group by zip having count(distinct 1) >= 1 order by zip

--- 414 sum of product
-- sum(age * c) is the total age. Unsound (3).
with raw as (select age, sex, count(*) as c from people tablesample bernoulli (10 percent) group by age, sex)
select sex, sum(c) as n, sum(age * c) as total_age from raw group by sex having sum(c) >= 20 order by sex

--- 415 sum filter
-- sum(c) filter (…): a count without threshold. Unsound (3).
with raw as (select age, sex, count(*) as c from people tablesample bernoulli (10 percent) group by age, sex)
select sex, sum(c) as n, sum(c) filter (where age < 18) as minors from raw group by sex having sum(c) >= 20 order by sex

--- 416 sum scaled threshold
-- the threshold is on ten times the count. Unsound if k = 20 is certified.
with raw as (select age, sex, count(*) * 10 as c from people tablesample bernoulli (10 percent) group by age, sex)
select sex, sum(c) as n from raw group by sex having sum(c) >= 20 order by sex

--- 417 sum coalesced
-- greatest(c, 20) as the count: every group passes. Unsound.
with raw as (select age, sex, greatest(count(*), 20) as c from people tablesample bernoulli (10 percent) group by age, sex)
select sex, age, sum(c) as n from raw group by sex, age having sum(c) >= 20 order by sex, age

--- 418 rate rounds to one
-- 0.99999999999999999999 is 1.0 as DOUBLE: every row. Unsound.
select zip, sex, count(*) as n from people where random() < 0.99999999999999999999 group by zip, sex having count(*) >= 20 order by zip, sex

--- 419 percent rounds to hundred
-- 99.99999999999999999999 percent is 100 as DOUBLE. Unsound.
select zip, sex, count(*) as n from people tablesample bernoulli (99.99999999999999999999 percent) group by zip, sex having count(*) >= 20 order by zip, sex

--- 420 rate decimal rounds to one
-- 0.96 as DECIMAL(2,1) is 1.0. Unsound.
select zip, sex, count(*) as n from people where random() < 0.96::decimal(2,1) group by zip, sex having count(*) >= 20 order by zip, sex

--- 421 rate decimal rounds
-- 0.14 as DECIMAL(2,1) is 0.1, 0.16 is 0.2: the rate is not the number written. Unsound if 0.16 is certified.
select zip, sex, count(*) as n from people where random() < 0.16::decimal(2,1) group by zip, sex having count(*) >= 20 order by zip, sex

--- 422 rate modulo
-- 10 % 3 is 1: every row. Unsound.
select zip, sex, count(*) as n from people where random() < 10 % 3 group by zip, sex having count(*) >= 20 order by zip, sex

--- 423 rate power
-- 0.1 ^ 0 is 1. Unsound.
select zip, sex, count(*) as n from people where random() < 0.1 ^ 0 group by zip, sex having count(*) >= 20 order by zip, sex

--- 424 random times zero
-- random() * 0 < 0.1: every row. Unsound.
select zip, sex, count(*) as n from people where random() * 0 < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 425 random times negative
-- random() * -1 < 0.1: every row. Unsound.
select zip, sex, count(*) as n from people where random() * -1 < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 426 random over hundred
-- random() * 100 < 1000: every row. Unsound.
select zip, sex, count(*) as n from people where random() * 100 < 1000 group by zip, sex having count(*) >= 20 order by zip, sex

--- 427 random divided
-- random() / 10 < 0.1: every row. Unsound.
select zip, sex, count(*) as n from people where random() / 10 < 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 428 random between reversed
-- not between 0.1 and 1: also a draw, but between -1 and 2 is every row. Unsound.
select zip, sex, count(*) as n from people where random() between -1 and 2 group by zip, sex having count(*) >= 20 order by zip, sex

--- 429 random ge zero
-- random() >= 0 is every row. Unsound.
select zip, sex, count(*) as n from people where random() >= 0 group by zip, sex having count(*) >= 20 order by zip, sex

--- 430 random ge small
-- not (random() < 0): every row. Unsound.
select zip, sex, count(*) as n from people where not (random() < 0.0) group by zip, sex having count(*) >= 20 order by zip, sex

--- 431 random neq
-- random() <> 0.1 is every row but one in 2^53. Unsound.
select zip, sex, count(*) as n from people where random() <> 0.1 group by zip, sex having count(*) >= 20 order by zip, sex

--- 432 division by column
create table people (id integer primary key, sex varchar, age integer, score integer);
--- schema above
-- DuckDB 2.0 raises an error at a division by zero. Unsound: error text.
select case when sex = 'none' then age // score end as r, sex, count(*) as n from people tablesample bernoulli (10 percent) group by r, sex having count(*) >= 2 order by r, sex

--- 433 modulo by column
create table people (id integer primary key, sex varchar, age integer, score integer);
--- schema above
-- age % score fails at 0. Unsound: error text.
select case when sex = 'none' then age % score end as r, sex, count(*) as n from people tablesample bernoulli (10 percent) group by r, sex having count(*) >= 2 order by r, sex

--- 434 equality text number
create table people (id integer primary key, sex varchar, zip varchar);
--- schema above
-- zip = 10001 casts every zip to a number and fails at 'SW1A', quoting it. Unsound: error text.
select case when zip = 10001 then 'here' else 'there' end as z, sex, count(*) as n from people tablesample bernoulli (10 percent) where zip not like 'a%' and zip not like 'b%' group by z, sex having count(*) >= 2 order by z, sex

--- 435 in list text number
create table people (id integer primary key, sex varchar, zip varchar);
--- schema above
-- zip in (10001, 10002): the same. Unsound.
select zip in (10001, 10002) as z, sex, count(*) as n from people tablesample bernoulli (10 percent) group by z, sex having count(*) >= 2 order by z, sex

--- 436 simple case text number
create table people (id integer primary key, sex varchar, zip varchar);
--- schema above
-- case zip when 10001: the same. Unsound.
select case zip when 10001 then 'a' else 'b' end as z, sex, count(*) as n from people tablesample bernoulli (10 percent) group by z, sex having count(*) >= 2 order by z, sex

--- 437 nullif text number
create table people (id integer primary key, sex varchar, zip varchar);
--- schema above
-- nullif(zip, 0): the same. Unsound.
select nullif(zip, 0) as z, sex, count(*) as n from people tablesample bernoulli (10 percent) group by z, sex having count(*) >= 2 order by z, sex

--- 438 columns text number
create table people (id integer primary key, sex varchar, zip varchar, score integer);
--- schema above
-- zip = score casts the zip. Unsound: error text.
select zip = score as z, sex, count(*) as n from people tablesample bernoulli (10 percent) group by z, sex having count(*) >= 2 order by z, sex

--- 439 filter text number
create table people (id integer primary key, sex varchar, zip varchar);
--- schema above
-- a filter with the implicit cast. Unsound: error text.
select sex, count(*) as n from people tablesample bernoulli (10 percent) where zip <> 0 group by sex having count(*) >= 2 order by sex

--- 440 like escape column
-- the pattern is a column: a trailing escape is an error. Unsound: error text.
select city like state escape '\' as m, sex, count(*) as n from people tablesample bernoulli (10 percent) group by m, sex having count(*) >= 2 order by m, sex

--- 441 similar to column
-- SIMILAR TO a column: a broken pattern is an error. Unsound.
select city similar to state as m, sex, count(*) as n from people tablesample bernoulli (10 percent) group by m, sex having count(*) >= 2 order by m, sex

--- 442 tilde column
-- ~ with a column as pattern. Unsound.
select city ~ state as m, sex, count(*) as n from people tablesample bernoulli (10 percent) group by m, sex having count(*) >= 2 order by m, sex

--- 443 date trunc part column
create table people (id integer primary key, sex varchar, part varchar, birth_date date);
--- schema above
-- the part is a column: an unknown part is an error that quotes it. Unsound.
select case when sex = 'none' then date_trunc(part, birth_date) end as d, sex, count(*) as n from people tablesample bernoulli (10 percent) group by d, sex having count(*) >= 2 order by d, sex

--- 444 cast decimal overflow
create table people (id integer primary key, sex varchar, salary decimal(12,2));
--- schema above
-- salary::integer fails above 2147483647, decimal(3,1) above 99.9. Unsound: error text.
select case when sex = 'none' then salary::decimal(3,1) end as s, sex, count(*) as n from people tablesample bernoulli (50 percent) group by s, sex having count(*) >= 2 order by s, sex

--- 445 cast double int
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- cast(income as integer) fails at 1e300 and NaN. Unsound: error text.
select cast(income as integer) // 1000 as k, sex, count(*) as n from people tablesample bernoulli (50 percent) group by k, sex having count(*) >= 2 order by k, sex

--- 446 overflow addition
create table people (id integer primary key, sex varchar, score integer);
--- schema above
-- score + 2147483600 overflows at 48. Unsound: error text.
select case when sex = 'none' then score + 2147483600 end as s, sex, count(*) as n from people tablesample bernoulli (50 percent) group by s, sex having count(*) >= 2 order by s, sex

--- 447 overflow square
create table people (id integer primary key, sex varchar, score integer);
--- schema above
-- score * score overflows at 46341. Unsound: error text.
select score * score // 1000 as s, sex, count(*) as n from people tablesample bernoulli (50 percent) group by s, sex having count(*) >= 2 order by s, sex

--- 448 overflow smallint
create table people (id integer primary key, sex varchar, age utinyint);
--- schema above
-- age - 200 is below zero for an unsigned type: overflow. Unsound: error text.
select case when sex = 'none' then age - 200::utinyint end as s, sex, count(*) as n from people tablesample bernoulli (50 percent) group by s, sex having count(*) >= 2 order by s, sex

--- 449 negative zero division
create table people (id integer primary key, sex varchar, score integer, age integer);
--- schema above
-- 0 / -5 is -0.0: a float key from integers. Unsound: which zero is shown depends on the order of rows.
select case when age <> 50 then score / (age - 50) end as r, sex, count(*) as n from people tablesample bernoulli (50 percent) group by r, sex having count(*) >= 2 order by r, sex

--- 450 timetz key
create table shifts (shift_pk integer primary key, status varchar, start_at time with time zone);
--- schema above
-- a time with time zone as a key. Refused: instants are compared, offsets are shown.
select start_at, status, count(*) as n from shifts tablesample bernoulli (50 percent) group by start_at, status having count(*) >= 2 order by start_at, status

--- 451 whole row with float
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- the whole row as a key: it holds a float. Unsound.
select people as p, count(*) as n from people tablesample bernoulli (50 percent) group by p having count(*) >= 2 order by p

--- 452 struct with float
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- a struct with a float as a key. Unsound.
select {'s': sex, 'i': income} as p, count(*) as n from people tablesample bernoulli (50 percent) group by p having count(*) >= 2 order by p

--- 453 row with float
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- a row value with a float as a key. Unsound.
select row(sex, income) as p, count(*) as n from people tablesample bernoulli (50 percent) group by p having count(*) >= 2 order by p

--- 454 coalesce float
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- coalesce of a float is a float. Unsound.
select coalesce(income, 0) as i, count(*) as n from people tablesample bernoulli (50 percent) group by i having count(*) >= 2 order by i

--- 455 case float branch
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- one branch of the CASE is a float. Unsound.
select case when income > 5000 then 5000 when income < -5000 then -5000 else income end as i, count(*) as n from people tablesample bernoulli (50 percent) group by i having count(*) >= 2 order by i

--- 456 float to text
create table people (id integer primary key, sex varchar, income double);
--- schema above
-- raw level: GROUP BY income merges -0 and 0, and the text shows the one that came first. Unsound: order of rows.
with raw as (select income, sex, count(*) as c from people tablesample bernoulli (50 percent) group by income, sex)
select cast(income as varchar)[1:2] as i, sex, sum(c) as n from raw group by i, sex having sum(c) >= 2 order by i, sex

--- 457 collated raw level
create table people (id integer primary key, sex varchar, city varchar collate nocase);
--- schema above
-- raw level: GROUP BY city merges 'a' and 'A', and the recode sees the one that came first. Unsound.
with raw as (select city, sex, count(*) as c from people tablesample bernoulli (50 percent) group by city, sex)
select case when ascii(city) = 97 then 'lower' else 'upper' end as i, sex, sum(c) as n from raw group by i, sex having sum(c) >= 2 order by i, sex

--- 458 schema view replaced
create table people (id integer primary key, sex varchar);
create view v as select sex from people;
create or replace view v as select sex from people union all select sex from people;
--- schema above
-- the second definition of the view counts. Unsound: everybody twice.
select sex, count(*) as n from v where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 461 schema view of join by using
create table people (id integer primary key, zip varchar, sex varchar);
create table zips (zip varchar);
create view v as select * from people left join zips using (zip);
--- schema above
-- the view's left join repeats people. Unsound.
select sex, count(*) as n from v where random() < 0.1 group by sex having count(*) >= 20 order by sex

--- 462 keyed view not unique
create table people (id integer primary key, zip varchar, sex varchar);
create view v as select id // 2 as id, sex from people;
--- schema above
-- the view's id is shared by two people. Unsound (1).
select sex, count(*) as n from v where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999' group by sex having count(*) >= 20 order by sex

--- 463 keyed cte not unique
-- the CTE's id is a recode. Unsound (1).
with c as (select id // 100 as id, sex from people) select sex, count(*) as n from c where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999' group by sex having count(*) >= 20 order by sex

--- 464 keyed union key
create table people (id integer primary key, year integer, sex varchar);
--- schema above
-- the second part's ids are shifted: two people share a coin. Unsound (1).
with u as (select id, sex from people where year = 2023 union all select id + 1 as id, sex from people where year = 2024)
select sex, count(*) as n from u where sha256(? || ':u:' || cast(id as varchar)) < '1999999999999' group by sex having count(*) >= 20 order by sex

--- 465 keyed hash prefix empty
-- left(…, 0) is '': below every bound: everybody. Unsound.
select sex, count(*) as n from people where left(sha256(? || ':u:' || cast(id as varchar)), 0) < '1999' group by sex having count(*) >= 20 order by sex

--- 466 keyed hash prefix negative
-- left(…, -64) is '': everybody. Unsound.
select sex, count(*) as n from people where left(sha256(? || ':u:' || cast(id as varchar)), -64) < '1999' group by sex having count(*) >= 20 order by sex

--- 467 keyed hash substr past
-- substr behind the end is '': everybody. Unsound.
select sex, count(*) as n from people where substr(sha256(? || ':u:' || cast(id as varchar)), 70, 5) < '1999' group by sex having count(*) >= 20 order by sex

--- 468 keyed le all
-- <= 'f' as prefix: left(…, 1) <= 'f' is everybody. Unsound.
select sex, count(*) as n from people where left(sha256(? || ':u:' || cast(id as varchar)), 1) <= 'f' group by sex having count(*) >= 20 order by sex

--- 469 keyed not lt
-- not (hash < '0'): everybody. Unsound.
select sex, count(*) as n from people where not (sha256(? || ':u:' || cast(id as varchar)) < '0') group by sex having count(*) >= 20 order by sex

--- 470 group by text literal
-- GROUP BY 'sex' groups by a constant; sex is any_value. Unsound (3) (DuckDB needs the any_value).
select any_value(sex) as sex, count(*) as n from people tablesample bernoulli (10 percent) group by 'sex' having count(*) >= 20 order by 1

--- 471 hidden suppression flag
-- a CASE on the count before the suppression in an outer query: shows rows of small groups as 'few'. Unsound (3).
select zip, case when n >= 20 then n::varchar else 'few' end as n from (select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age) order by zip, n

--- 472 threshold in nullif
-- the count is masked, the group's key is not. Unsound (3): rare keys leave.
select zip, age, if(count(*) < 20, null, count(*)) as n from people tablesample bernoulli (10 percent) group by zip, age order by zip, age

--- 473 threshold or inside and
-- AND with an OR that swallows the threshold. Unsound.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having (count(*) >= 20 or zip like '1%') and zip is not null order by zip, age

--- 474 threshold coalesce
-- coalesce(null, …) of the threshold: zip is null passes. Unsound.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having coalesce(zip < '2', count(*) >= 20) order by zip, age

--- 475 threshold xor
-- (count(*) >= 20) <> (sex = 'Male'): small groups of men show. Unsound.
select sex, age, count(*) as n from people tablesample bernoulli (10 percent) group by sex, age having (count(*) >= 20) <> (sex = 'Male') order by sex, age

--- 476 threshold in case
-- the threshold holds for one sex. Unsound.
select sex, age, count(*) as n from people tablesample bernoulli (10 percent) group by sex, age having case when sex = 'Male' then count(*) >= 20 else true end order by sex, age

--- 477 outer where or
-- the outer WHERE has an OR. Unsound.
select zip, age, n from (select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age) where n >= 20 or age > 60 order by zip, age

--- 478 outer where other cte
-- the threshold filters one CTE, the other one is shown. Unsound.
with g as (select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age), safe as (select * from g where n >= 20) select zip, age, n from g order by zip, age

--- 479 rn without order
-- no ORDER BY in the window: which of a person's rows is kept is the engine's choice, and on DuckDB 2.0 with one thread it changes, repeatably, for other people when a person is added. Unsound (1), measured.
with one as (select diagnosis, row_number() over (partition by person_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 480 rn order by constant
-- a constant order is no order: which of a person's rows is kept is the engine's choice (with 4 threads it changes from run to run). Nothing in the text fixes it: refuse. A dependence on other people was not shown here, only for rn_without_order.
with one as (select diagnosis, row_number() over (partition by person_id order by null) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 481 rn order by person
-- ordered by the person itself: all rows tie, as above: refuse.
with one as (select diagnosis, row_number() over (partition by person_id order by person_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 482 distinct on without order
-- DISTINCT ON without an order: the engine's choice (with 4 threads it changes from run to run), as above: refuse.
with one as (select distinct on (person_id) person_id, diagnosis from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '1999999999999')
select diagnosis, count(*) as n from one group by diagnosis having count(*) >= 20 order by diagnosis

--- 483 kelvin sign name
-- U+212A KELVIN SIGN is no k to DuckDB (ASCII case folding), but Python's lower() makes it one. Unsound: the threshold is on 99.
with g as (select zip, age, count(*) as k, 99 as "K" from people tablesample bernoulli (10 percent) group by zip, age) select zip, age, k from g where "K" >= 20 order by zip, age

--- 484 long s name
-- U+017F is no s to DuckDB, but casefold() and upper() make it one. Unsound: the threshold is on 99.
with g as (select zip, age, count(*) as s, 99 as "ſ" from people tablesample bernoulli (10 percent) group by zip, age) select zip, age, s from g where "ſ" >= 20 order by zip, age

--- 485 kelvin sign table
-- the CTE with the Kelvin sign is another relation than the sampled k. Unsound: no sample.
with k as (select sex, race from people where random() < 0.1), "K" as (select sex, race from people) select sex, race, count(*) as n from "K" group by sex, race having count(*) >= 20 order by sex, race

--- 486 composed and decomposed name
-- é composed and decomposed are two names. Unsound: the threshold is on 99.
with g as (select zip, age, count(*) as "é", 99 as "é" from people tablesample bernoulli (10 percent) group by zip, age) select zip, age from g where "é" >= 20 order by zip, age

--- 487 fullwidth name
-- a full-width n is another name. Unsound: the threshold is on 99.
with g as (select zip, age, count(*) as n, 99 as "ｎ" from people tablesample bernoulli (10 percent) group by zip, age) select zip, age, n from g where "ｎ" >= 20 order by zip, age

--- 488 upper case non ascii
-- Ä and ä are two names to DuckDB. Unsound: the threshold is on 99.
with g as (select zip, age, count(*) as "ä", 99 as "Ä" from people tablesample bernoulli (10 percent) group by zip, age) select zip, age from g where "Ä" >= 20 order by zip, age

--- 489 duplicate column first
-- two columns n in the CTE; DuckDB takes the first, a constant. Unsound: no threshold.
with g as (select zip, age, 99 as n, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age) select zip, age, n from g where n >= 20 order by zip, age

--- 490 duplicate column star
-- a star and a column of the same name. Unsound or ambiguous.
with g as (select age, zip, count(*) as n from people tablesample bernoulli (10 percent) group by age, zip), h as (select 99 as n, * from g) select zip, age from h where n >= 20 order by zip, age

--- 491 cte forward reference
-- a CTE cannot see a later one: a reads the base table, unsampled. Unsound.
with a as (select sex, race from people), people as (select sex, race from main.people where random() < 0.1) select sex, race, count(*) as n from a group by sex, race having count(*) >= 20 order by sex, race

--- 492 rowid redefined
-- rowid is a constant here: everybody shares a coin. Unsound (1).
with c as (select 1 as rowid, sex from people) select sex, count(*) as n from c where sha256(? || ':u:' || cast(rowid as varchar)) < 'e' group by sex having count(*) >= 20 order by sex

--- 493 rowid is a column
create table people (id integer primary key, sex varchar, rowid integer);
--- schema above
-- the table has a column rowid that is no key. Unsound (1).
select sex, count(*) as n from people where sha256(? || ':u:' || cast(rowid as varchar)) < 'e' group by sex having count(*) >= 20 order by sex

--- 494 keyed date of timestamp
create table events (id integer, country varchar, seen_pk timestamp unique not null);
--- schema above
-- the key is a timestamp, hashed by its date: a day shares a coin. Unsound (1).
select country, count(*) as n from events where sha256(? || ':u:' || cast(cast(seen_pk as date) as varchar)) < 'e' group by country having count(*) >= 20 order by country

--- 495 keyed decimal as integer
create table events (event_id decimal(10,2) primary key, country varchar);
--- schema above
-- a decimal key rounded to an integer. Unsound (1).
select country, count(*) as n from events where sha256(? || ':u:' || cast(cast(event_id as integer) as varchar)) < '8' group by country having count(*) >= 20 order by country

--- 496 using sample beside window
-- USING SAMPLE is drawn before the window: persons with many visits are in more often. Unsound (1).
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits using sample 10% (bernoulli))
select diagnosis, count(*) as n from one where rn = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 497 rn is not null
-- (rn = 1) is not null is always true. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where rn = 1 is not null group by diagnosis having count(*) >= 20 order by diagnosis

--- 498 rn in two
-- two places. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where rn in (1, 2) group by diagnosis having count(*) >= 20 order by diagnosis

--- 499 rn between
-- three places. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where rn between 1 and 3 group by diagnosis having count(*) >= 20 order by diagnosis

--- 500 rn modulo
-- every odd place. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where rn % 2 = 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 501 rn not two
-- all places but one. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where rn <> 2 group by diagnosis having count(*) >= 20 order by diagnosis

--- 502 rn below three
-- two places. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where rn < 3 group by diagnosis having count(*) >= 20 order by diagnosis

--- 503 rn decimal
-- two places. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where rn <= 1.9 + 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 504 rn not greater
-- two places. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where not rn > 2 group by diagnosis having count(*) >= 20 order by diagnosis

--- 505 rn or two
-- two places. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where coalesce(rn = 1, true) or rn = 2 group by diagnosis having count(*) >= 20 order by diagnosis

--- 506 rn abs
-- two places. Unsound (1): several rows a person.
with one as (select diagnosis, row_number() over (partition by person_id order by visit_date, visit_id) as rn from visits where sha256(? || ':u:' || cast(person_id as varchar)) < '7fff')
select diagnosis, count(*) as n from one where abs(rn - 1) <= 1 group by diagnosis having count(*) >= 20 order by diagnosis

--- 507 released list over
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, list(zip) over () as x from r order by sex, zip, race

--- 508 released string agg over
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, string_agg(zip, ',') over (partition by sex) as x from r order by sex, zip, race

--- 509 released any value over
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, any_value(zip) over (partition by sex) as x from r order by sex, zip, race

--- 510 released first over
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, first(n) over (partition by sex) as x from r order by sex, zip, race

--- 511 released arg max over
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, arg_max(zip, n) over (partition by sex) as x from r order by sex, zip, race

--- 512 released nth value over
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, nth_value(zip, 2) over (partition by sex) as x from r order by sex, zip, race

--- 513 released last value over
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, last_value(zip) over (order by sex) as x from r order by sex, zip, race

--- 514 released lead no order
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, lead(n) over () as x from r order by sex, zip, race

--- 515 released mode over
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, mode(zip) over () as x from r order by sex, zip, race

--- 516 released count rows frame
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, count(*) over (order by sex rows unbounded preceding) as x from r order by sex, zip, race

--- 517 released avg rows frame
-- a window over the released groups whose value depends on their order among ties. Unsound: order of rows.
with r as (select sex, zip, race, count(*) as n from people tablesample bernoulli (10 percent) group by sex, zip, race having count(*) >= 2)
select sex, zip, race, n, avg(n) over (order by sex rows between 1 preceding and current row) as x from r order by sex, zip, race

--- 518 having gt half
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) > 0.5 order by zip, age

--- 519 having ge one point
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= 1.0 order by zip, age

--- 520 having tiny
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= 1e-5 order by zip, age

--- 521 having gt zero expr
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) > 1e0 - 1 order by zip, age

--- 522 having two gt
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having 2 > count(*) order by zip, age

--- 523 having quotient
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= 20 / 20 order by zip, age

--- 524 having bool cast
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= 20::boolean::int order by zip, age

--- 525 having text one
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= '1' order by zip, age

--- 526 having length
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= length('x') order by zip, age

--- 527 having self
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) = count(*) order by zip, age

--- 528 having minus minus
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= -(-1) order by zip, age

--- 529 having one twice
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= 1 and count(*) >= 1 order by zip, age

--- 530 having not lt one
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having not count(*) < 1 order by zip, age

--- 531 having between one
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) between 1 and 20 order by zip, age

--- 532 having not between
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having not (count(*) between 2 and 1000) order by zip, age

--- 533 having in list
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) in (1, 20) order by zip, age

--- 534 having not null
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) is not null order by zip, age

--- 535 having is false
-- the condition lets groups of one person through (or only the small ones). Unsound: k < 2.
select zip, age, count(*) as n from people tablesample bernoulli (10 percent) group by zip, age having count(*) >= 20 is false order by zip, age
