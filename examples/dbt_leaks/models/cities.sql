with cities as (

    select * from {{ source('raw', 'cities') }}

)

select cities.city, cities.zip, people.name as mayor
from cities
left join main.stg_people as people on people.person_id = cities.mayor_id
