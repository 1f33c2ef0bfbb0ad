-- For the team alone: counts of single days, some of which are of one person.
select visited_on, department, count(*) as visits
from {{ ref('stg_visits') }}
group by visited_on, department
