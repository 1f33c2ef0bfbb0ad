{#- The post-hook of a release: its secret goes once its table is made, in the same transaction, so
    that no sample is drawn a second time. The text holds no secret. What was not drawn with stays: it
    was put there meanwhile, for the next run. -#}
{% macro taken(release, salts) -%}
  {%- if execute and target.name in policy_engine.release_targets() and not flags.EMPTY -%}
    {%- set name = policy_engine.salts_relation(salts) -%}
    {%- if adapter.get_relation(database=name.database, schema=name.schema, identifier=name.identifier) -%}
      delete from {{ name }} where {{ adapter.quote('release_id') }} = '{{ release | replace("'", "''") }}' and {{ adapter.quote('is_drawn') }}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}
