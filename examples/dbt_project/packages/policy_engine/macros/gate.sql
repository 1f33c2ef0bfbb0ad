{#- The second layer of the gate: before anything runs, no sensitive data may reach a public model
    or an exposure but through a release. The third layer is 'policy-engine dbt gate', which reads
    what was compiled and certifies the releases; so what only compiles is let be. The codes are its. -#}
{% macro gate() -%}
  {%- if execute and flags.WHICH not in ['compile', 'docs', 'generate', 'list', 'ls', 'parse', 'show'] -%}
    {%- set findings = policy_engine.gate_findings() -%}
    {%- if findings -%}
      {{ exceptions.raise_compiler_error("policy-engine's gate: " ~ findings | length ~ " finding" ~ ("s" if findings | length > 1 else "")
          ~ ", and nothing was run.\n  " ~ findings | join("\n  ")) }}
    {%- endif -%}
  {%- endif -%}
{%- endmacro %}

{#- All that is wrong, in words. -#}
{% macro gate_findings() %}
  {%- set findings = [] -%}
  {%- set nodes = policy_engine.gate_nodes() -%}
  {#- reached: what holds sensitive data, and the node that it is from; '' for a beginning -#}
  {%- set reached = {} -%}
  {%- set cut = {} -%}
  {%- set drawn = [] -%}
  {%- set parts = [] -%}
  {%- set children = {} -%}
  {%- for id, node in nodes.items() -%}
    {%- set mark = policy_engine.mark_of(node) -%}
    {%- do findings.extend(mark.findings) -%}
    {%- if mark.sensitive -%}{%- do reached.update({id: ''}) -%}{%- endif -%}
    {%- if mark.columns -%}{%- do parts.append(id) -%}{%- endif -%}
    {%- if mark.cuts -%}{%- do cut.update({id: true}) -%}{%- endif -%}
    {%- for parent in (node.depends_on | default({}, true)).nodes | default([], true) -%}
      {%- if parent not in children -%}{%- do children.update({parent: []}) -%}{%- endif -%}
      {%- do children[parent].append(id) -%}
      {%- if mark.generated -%}{%- do drawn.append(parent) -%}{%- endif -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do policy_engine.spread(reached.keys() | list, reached, children, cut) -%}
  {#- a marked column goes where it is selected, which 'policy-engine dbt gate' reads: here, what shows its node -#}
  {%- for id in parts -%}
    {%- if id not in reached -%}{%- do reached.update({id: ''}) -%}{%- endif -%}
    {%- for child in children.get(id, []) -%}
      {%- if nodes[child].resource_type == 'exposure' and child not in reached -%}{%- do reached.update({child: id}) -%}{%- endif -%}
    {%- endfor -%}
  {%- endfor -%}
  {#- what a policy releases is sensitive, marked or not -#}
  {%- set more = [] -%}
  {%- for id in drawn -%}
    {%- if id in nodes and id not in reached and id not in cut -%}
      {%- do reached.update({id: ''}) -%}
      {%- do more.append(id) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do policy_engine.spread(more, reached, children, cut) -%}

  {%- for id in reached | sort -%}
    {%- set what = policy_engine.shown_as(nodes[id]) -%}
    {%- if what -%}
      {%- do findings.append(what ~ " holds sensitive data: " ~ policy_engine.path_to(id, reached, nodes)
          ~ ". " ~ policy_engine.remedy_of(nodes[id])) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(findings) -%}
{% endmacro %}

{#- All that holds data or shows it, by id. -#}
{% macro gate_nodes() %}
  {%- set nodes = {} -%}
  {%- for node in graph.nodes.values() -%}
    {%- if node.resource_type in ['model', 'seed', 'snapshot'] -%}{%- do nodes.update({node.unique_id: node}) -%}{%- endif -%}
  {%- endfor -%}
  {%- for node in graph.sources.values() -%}{%- do nodes.update({node.unique_id: node}) -%}{%- endfor -%}
  {%- for node in graph.exposures.values() -%}{%- do nodes.update({node.unique_id: node}) -%}{%- endfor -%}
  {%- do return(nodes) -%}
{% endmacro %}

{#- Reach all that reads what is reached, but through a release. (dbt v2 filters a loop before it
    begins, so that what changes meanwhile is asked for inside.) -#}
{% macro spread(front, reached, children, cut) %}
  {%- set now = namespace(front=front) -%}
  {%- for step in range(children | length + 1) -%}
    {%- set next = [] -%}
    {%- for parent in now.front -%}
      {%- for child in children.get(parent, []) -%}
        {%- if child not in reached and child not in cut -%}
          {%- do reached.update({child: parent}) -%}
          {%- do next.append(child) -%}
        {%- endif -%}
      {%- endfor -%}
    {%- endfor -%}
    {%- set now.front = next -%}
  {%- endfor -%}
{% endmacro %}

{#- How others see a node, in words; '' if they do not. The third layer asks who reviewed an audience. -#}
{% macro shown_as(node) %}
  {%- set privacy = policy_engine.privacy_of(node) -%}
  {%- if node.resource_type == 'exposure' -%}
    {%- do return('' if privacy is mapping and privacy.get('audience') else "G01 the exposure " ~ node.name) -%}
  {%- endif -%}
  {%- if node.access | default('', true) == 'public' or (privacy is mapping and privacy.get('classification') == 'public') -%}
    {%- do return("G02 " ~ node.original_file_path ~ ": the public " ~ node.resource_type ~ " " ~ policy_engine.name_of(node)) -%}
  {%- endif -%}
  {%- do return('') -%}
{% endmacro %}

{% macro remedy_of(node) %}
  {%- set privacy = policy_engine.privacy_of(node) -%}
  {%- if privacy is mapping and privacy.get('release') == true -%}
    {%- do return("It is marked as a release and 'policy-engine dbt sync' did not write it: 'policy-engine dbt adopt " ~ node.name
        ~ "' writes its policy from what is understood of it, and then sync writes the model.") -%}
  {%- endif -%}
  {%- do return("Let it read a certified release ('policy-engine dbt init' starts one), or do not show it.") -%}
{% endmacro %}

{% macro name_of(node) %}
  {%- if node.resource_type == 'source' -%}{%- do return(node.source_name ~ "." ~ node.name) -%}{%- endif -%}
  {%- set version = node.version | default('', true) -%}
  {%- do return(node.name ~ (".v" ~ version if version else "")) -%}
{% endmacro %}

{#- From where the sensitive data is to what shows it. -#}
{% macro path_to(id, reached, nodes) %}
  {%- set now = namespace(id=id, names=[]) -%}
  {%- for step in range(nodes | length) -%}
    {%- if now.id -%}
      {%- set now.names = [policy_engine.name_of(nodes[now.id])] + now.names -%}
      {%- set now.id = reached[now.id] -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(now.names | join(" -> ")) -%}
{% endmacro %}
