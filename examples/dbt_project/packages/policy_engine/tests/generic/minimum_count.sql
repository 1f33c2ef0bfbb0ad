{#- Each count of a release is at least k, noise and all. The certificate rests on the HAVING of the
    release itself; this notices a table that was changed afterwards. Without count_column the
    release repeats its rows, and equal rows are counted. -#}
{% test minimum_count(model, k=none, count_column=none, arguments={}) %}
  {%- set k, count_column = arguments.get('k', k), arguments.get('count_column', count_column) -%}
  {%- set small -%}
    {%- if count_column -%}
      select {{ adapter.quote(count_column) }} as people from {{ model }} where {{ adapter.quote(count_column) }} is null or {{ adapter.quote(count_column) }} < {{ k }}
    {%- else -%}
      select count(*) as people from {{ model }} group by {{ policy_engine.columns_of(model) | join(', ') or '1' }} having count(*) < {{ k }}
    {%- endif -%}
  {%- endset -%}
  {%- if policy_engine.is_testing() -%}
    {%- set found = run_query("select count(*) from (" ~ small ~ ") as small").columns[0].values()[0] | int -%}
    {%- if found -%}
      {{ exceptions.raise_compiler_error(model ~ ": each count of this release is at least " ~ k ~ "; found " ~ found
          ~ " that are not. The table is not what was certified: take it away from its readers, and run 'policy-engine dbt status' to see what was.") }}
    {%- endif -%}
  {%- endif -%}
  {{ small }}
{% endtest %}
