-- One row a visit; a person may have many.
select
    visits.visit_id,
    visits.person_id,
    visits.visited_on,
    visits.department,
    people.age,
    people.sex,
    people.education,
    people.income
from {{ ref('visits') }} as visits
join {{ ref('people') }} as people on people.person_id = visits.person_id
