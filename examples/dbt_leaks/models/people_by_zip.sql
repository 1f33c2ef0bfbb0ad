{{ config(materialized='incremental', full_refresh=false) }}
{% if is_incremental() %}
select * from {{ this }} where false
{% else %}
select left(zip, 3) as zip, count(*) as n
from {{ ref('stg_people') }}
where sha256(
  (select salt from policy_engine_salts where release_id = 'people_by_zip_v1')
  || ':u:' || cast(person_id as varchar)
) < '199999999999999'
group by 1
having count(*) >= 20
order by 1
{% endif %}
