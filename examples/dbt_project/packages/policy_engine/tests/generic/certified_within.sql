{#- An edition of a release was certified within so many days, weeks, months or years, which 'attest' notes
    beside it. Before the first there is none to ask for: 'policy-engine dbt status' says what is due. -#}
{% test certified_within(model, count=none, period='day', arguments={}) %}
  {%- set count, period = arguments.get('count', count), arguments.get('period', period) -%}
  {%- set days = {'day': 1, 'week': 7, 'month': 31, 'year': 366} -%}
  {%- set now = namespace(last=none) -%}
  {%- if policy_engine.is_testing() -%}
    {%- set noted = adapter.get_relation(database=model.database, schema=model.schema, identifier='policy_engine_editions') -%}
    {%- if noted -%}
      {%- set name = [model.database, model.schema, model.identifier] | join('.') -%}
      {%- set now.last = run_query("select max(certified) from " ~ noted ~ " where relation = '" ~ name | replace("'", "''") ~ "'").columns[0].values()[0] -%}
    {%- endif -%}
  {%- endif -%}
  {%- set least = (modules.datetime.datetime.utcnow() - modules.datetime.timedelta(days=count * days[period])).strftime('%Y-%m-%dT%H:%M:%SZ') -%}
  {%- if now.last and now.last < least -%}
    select 'the last edition is certified since {{ now.last }}' as finding
  {%- else -%}
    {{ policy_engine.nothing_found() }}
  {%- endif -%}
{% endtest %}
