{#- The targets that releases are made in. 'policy-engine dbt sync' writes them here, out of
    dbt.release_targets of policy-engine.yaml, so that another one changes no model. -#}
{% macro release_targets() %}
  {%- do return([]) -%}
{% endmacro %}
