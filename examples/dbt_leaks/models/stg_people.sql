select person_id, age, zip, name
from {{ source('raw', 'people') }}
