{{ config(post_hook="grant select on {{ this }} to analyst") }}
select person_id, age, zip, name
from {{ ref('stg_people') }}
