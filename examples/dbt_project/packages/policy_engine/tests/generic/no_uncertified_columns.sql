{#- The table has exactly the columns of its certificate. -#}
{% test no_uncertified_columns(model, columns=none, arguments={}) %}
  {%- set columns = arguments.get('columns', columns) -%}
  {%- if policy_engine.is_testing() -%}
    {%- set found = policy_engine.columns_of(model, quoted=false) -%}
    {%- set more = found | reject('in', columns) | list -%}
    {%- set missing = columns | reject('in', found) | list -%}
    {%- if more or missing -%}
      {{ exceptions.raise_compiler_error(model ~ ": this release has the columns " ~ columns | join(', ') ~ "; found "
          ~ (more | join(', ') ~ " besides" if more else "") ~ (" and " if more and missing else "") ~ (missing | join(', ') ~ " missing" if missing else "")
          ~ ". The table is not what was certified: take it away from its readers, and write the column into the policy, whose next version releases it.") }}
    {%- endif -%}
  {%- endif -%}
  {{ policy_engine.nothing_found() }}
{% endtest %}
