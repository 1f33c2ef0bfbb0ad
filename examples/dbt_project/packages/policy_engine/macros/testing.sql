{#- What the generic tests share. They raise, so that what is wrong is said in words. What a test is
    given stands under arguments; dbt before 1.11 may hand that over as one argument of this name. -#}

{% macro is_testing() %}
  {%- do return(execute and flags.WHICH in ['test', 'build', 'retry']) -%}
{% endmacro %}

{% macro nothing_found() -%}
  select 1 as finding from (select 1 as one) as nothing where 1 = 0
{%- endmacro %}

{% macro columns_of(relation, quoted=true) %}
  {%- set names = [] -%}
  {%- if execute -%}
    {%- for column in adapter.get_columns_in_relation(relation) -%}
      {%- do names.append(adapter.quote(column.name) if quoted else column.name) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(names) -%}
{% endmacro %}

{% macro certificate_findings(relation, policy_digest) %}
  {%- set findings = [] -%}
  {%- set found = [] -%}
  {#- with --empty a relation is written as a query, so that its name is asked for -#}
  {%- set name = api.Relation.create(database=relation.database, schema=relation.schema, identifier=relation.identifier) | string -%}
  {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.relation_name == name -%}
    {%- do found.append(node) -%}
  {%- endfor -%}
  {%- if not found -%}
    {%- do return(["no model of this project makes it, so that nothing is known of its certificate. Test the model itself, without a where."]) -%}
  {%- endif -%}
  {%- set node = found[0] -%}
  {%- set mark = policy_engine.mark_of(node) -%}
  {%- set privacy = policy_engine.privacy_of(node) -%}
  {%- do findings.extend(mark.findings) -%}
  {%- if not mark.release -%}
    {%- do findings.append("the model is not marked as a release (meta.privacy.release: true). Run 'policy-engine dbt sync'.") -%}
  {%- elif not privacy.get('text_md5') -%}
    {%- do findings.append("the release has no meta.privacy.text_md5: nothing says which text was certified. Run 'policy-engine dbt sync'.") -%}
  {%- elif privacy.get('policy_digest') != policy_digest -%}
    {%- do findings.append("the certificate is of the policy " ~ policy_digest ~ ", and the model of " ~ privacy.get('policy_digest') ~ ". Run 'policy-engine dbt sync'.") -%}
  {%- endif -%}
  {%- do return(findings) -%}
{% endmacro %}
