select person_id, age, zip, name
from {{ ref('stg_people') }}
