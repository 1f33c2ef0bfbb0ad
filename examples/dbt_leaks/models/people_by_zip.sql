{{ config(materialized='incremental', full_refresh=false) }}
{% if is_incremental() %}
select * from {{ this }} where false
{% else %}
select left(zip, 3) as zip, count(*) as n
from {{ ref('stg_people') }} tablesample bernoulli (10 percent)
group by 1
having count(*) >= 20
order by 1
{% endif %}
