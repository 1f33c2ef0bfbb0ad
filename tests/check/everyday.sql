--- decades of age
select floor(age / 10) * 10 as decade, count(*) as n
from people tablesample bernoulli (10 percent) group by 1 having count(*) >= 20 order by 1
--- decades by a remainder, and a filter
select age - mod(age, 10) as decade, sex, count(*) as n
from people tablesample bernoulli (10 percent) where age between 0 and 120 group by 1, 2 having count(*) >= 20
--- decades by whole division below
with a as (select age // 10 as d, sex from people where random() < 0.1)
select d * 10 as decade, sex, count(*) as n from a group by d, sex having count(*) >= 20
--- decades as text
select cast(floor(age / 10) * 10 as integer) as decade, count(*) as n
from people tablesample bernoulli (5 percent) group by 1 having count(*) >= 15
--- age groups of people
select case when age < 18 then 'minor' when age < 65 then 'adult' when age is null then null else 'senior' end as life,
  sex, count(*) as n
from people group by all having n >= 20 using sample 10% (bernoulli)
--- age groups from numbers
select case when age between 0 and 17 then '0-17' when age between 18 and 34 then '18-34' when age >= 35 then '35+' end as g,
  count(*) as n
from people where random() < 0.1 group by g having count(*) >= 20
--- month of birth
select date_trunc('month', birth_date) as m, count(*) as n
from people tablesample bernoulli (10 percent) where birth_date is not null group by 1 having count(*) >= 20
--- year of birth
select extract(year from birth_date) as y, sex, count(*) as n
from people tablesample bernoulli (10 percent) group by y, sex having count(*) >= 20
--- year of birth, as a function and in text
select year(birth_date) as y, strftime(birth_date, '%Y') as t, count(*) as n
from people tablesample bernoulli (10 percent) group by 1, 2 having count(*) >= 20
--- year and month as text
select strftime(created_at, '%Y-%m') as month, count(*) as n
from people tablesample bernoulli (10 percent) group by month having count(*) >= 20
--- the day of a moment
select created_at::date as day, count(*) as n
from people tablesample bernoulli (10 percent) group by 1 having count(*) >= 20
--- the week of a moment
select date_trunc('week', created_at) as week, sex, count(*) as n
from people tablesample bernoulli (10 percent) group by 1, 2 having count(*) >= 20
--- prefixes of zip codes
select substr(zip, 1, 3) as zip3, count(*) as n from people where random() < .1 group by zip3 having count(*) > 19
--- prefixes with stars
select left(zip, 3) || '**' as zip3, sex, count(*) as n
from people tablesample bernoulli (10 percent) group by zip3, sex having count(*) >= 20
--- unknown is a value
select coalesce(sex, 'unknown') as sex, coalesce(race, 'unknown') as race, count(*) as n
from people tablesample bernoulli (10 percent) group by 1, 2 having count(*) >= 20
--- one value is none
select case when race = '' then null when race in ('Black', 'White') then race else 'other' end as r, count(*) as n
from people tablesample bernoulli (10 percent) group by r having count(*) >= 20
--- if
select if(age >= 18, 'adult', 'minor') as a, count(*) as n
from people tablesample bernoulli (10 percent) group by a having count(*) >= 20
--- a simple case
select case sex when 'Male' then 'm' when 'Female' then 'f' else 'x' end as s, count(*) as n
from people tablesample bernoulli (10 percent) group by s having count(*) >= 20
--- a filter of states
select sex, count(*) as n from people tablesample bernoulli (10 percent)
where state in ('CA', 'NY', 'TX') and age >= 18 group by sex having count(*) >= 20
--- not in, and not null
select education, count(*) as n from people tablesample bernoulli (10 percent)
where state not in ('CA', 'NY') and education is not null group by education having count(*) >= 20
--- shares
select sex, count(*) as n, round(100.0 * count(*) / sum(count(*)) over (), 1) as pct
from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20 order by n desc
--- estimates
select sex, count(*) * 10 as estimate from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20
--- ranks
select state, count(*) as n, rank() over (order by count(*) desc) as place
from people tablesample bernoulli (10 percent) group by state having count(*) >= 20
--- the largest groups
select state, count(*) as n from people tablesample bernoulli (10 percent)
group by state having count(*) >= 20 order by n desc, state limit 5
--- a limit below and an order above
select * from (
  select state, sex, count(*) as n from people tablesample bernoulli (10 percent) group by 1, 2 having count(*) >= 20
) order by n desc, state, sex limit 10
--- sums of groups
with g as (select state, sex, count(*) as n from people where random() < 0.1 group by state, sex having count(*) >= 20)
select state, sum(n) as people, count(*) as groups from g group by state
--- groups beside their total
with g as (select state, count(*) as n from people where random() < 0.1 group by state having count(*) >= 20)
select g.state, g.n, g.n * 1.0 / t.total as share from g cross join (select sum(n) as total from g) t
--- wide
with g as (select state, sex, count(*) as n from people where random() < 0.1 group by state, sex having count(*) >= 20)
select state, max(case when sex = 'Male' then n end) as men, max(case when sex = 'Female' then n end) as women from g group by state
--- grouped and not shown
select count(*) as n from people tablesample bernoulli (10 percent) group by state having count(*) >= 20
--- a label of two groups
select coalesce(state, '?') || ': ' || coalesce(sex, '?') as label, count(*) as n
from people tablesample bernoulli (10 percent) group by state, sex having count(*) >= 20
--- groups of middling size
select state, count(*) as n from people tablesample bernoulli (10 percent) group by state having count(*) between 20 and 500
--- an even number
select state, count(*) as n from people tablesample bernoulli (10 percent)
group by state having count(*) >= 20 and count(*) < 400
--- only how many
select state from people tablesample bernoulli (10 percent) group by state having count(*) >= 20
--- years in parts
select sex, age_group, count(*) as n from (
  select sex, 'young' as age_group from people where age < 30
  union all select sex, 'middle' from people where age >= 30 and age < 60
  union all select sex, 'old' from people where age >= 60
) p where random() < 0.1 group by sex, age_group having count(*) >= 20
--- two years
with y23 as (select state, sex from people where year = 2023), y24 as (select state, sex from people where year = 2024),
years as (select * from y23 union all select * from y24)
select state, sex, count(*) as n from years where random() < 0.1 group by state, sex having count(*) >= 20
--- steps
with base as (select age, sex, state from people where age is not null),
     cleaned as (select least(age, 200) as age, sex, state from base),
     sampled as (select sex, state from cleaned where random() < 0.1),
     counted as (select sex, state, count(*) as n from sampled group by sex, state)
select sex, state, n from counted where n >= 20 order by sex, state
--- counts in bands
select state, case when count(*) < 50 then '20-49' when count(*) < 100 then '50-99' else '100+' end as size
from people tablesample bernoulli (10 percent) group by state having count(*) >= 20
--- rounded counts
select state, round(count(*), -1) as about from people tablesample bernoulli (10 percent) group by state having count(*) >= 20
--- everybody
select count(*) as n from people tablesample bernoulli (10 percent) having count(*) >= 20
--- a table of shares
create table shares as
select sex, count(*) * 1.0 / sum(count(*)) over () as share
from people tablesample bernoulli (10 percent) group by sex having count(*) >= 20
--- half decades of hours
select cast(hours_per_week / 5 as integer) * 5 as hours, count(*) as n
from people tablesample bernoulli (10 percent) group by 1 having count(*) >= 20
--- thousands of income
select trunc(income / 1000) * 1000 as income, count(*) as n
from people tablesample bernoulli (10 percent) group by 1 having count(*) >= 20
--- numbered decades
select floor(age / 10) as decade, count(*) as n
from people tablesample bernoulli (10 percent) group by decade having count(*) >= 20
--- the decade of a year
select year // 10 * 10 as decade, count(*) as n
from people tablesample bernoulli (10 percent) group by decade having count(*) >= 20
