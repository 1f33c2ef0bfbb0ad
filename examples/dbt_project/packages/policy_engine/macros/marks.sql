{#- What is written under meta.privacy of a node. What cannot be read counts as sensitive. -#}

{% macro meta_of(node) %}
  {%- do return((node.config | default({}, true)).meta | default({}, true) or node.meta | default({}, true)) -%}
{% endmacro %}

{% macro privacy_of(node) %}
  {%- do return(policy_engine.meta_of(node).get('privacy', {})) -%}
{% endmacro %}

{#- {sensitive, columns, generated, release, cuts, findings} of a node; columns: whether some of them are
    sensitive, and not all of it. What sync did not write is no release, and cuts nothing. A release that was
    changed cuts: that it was changed is a finding, and stops the run. -#}
{% macro mark_of(node) %}
  {%- set findings = [] -%}
  {%- set privacy = policy_engine.privacy_of(node) -%}
  {%- set where = (node.original_file_path | default('', true)) ~ ": " ~ policy_engine.name_of(node) -%}
  {%- set now = namespace(sensitive=policy_engine.is_sensitive(policy_engine.meta_of(node), where, findings), columns=false) -%}
  {%- for column in (node.columns | default({}, true)).values() -%}
    {#- dbt v2 gives a column the meta of its node where it has none itself -#}
    {%- set meta = policy_engine.meta_of(column) -%}
    {%- if meta and meta.get('privacy') != privacy and policy_engine.is_sensitive(meta, where ~ "." ~ column.name, findings) -%}
      {%- set now.columns = true -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set release = privacy is mapping and privacy.get('release') == true -%}
  {%- if release -%}{%- do findings.extend(policy_engine.release_findings(node, privacy, where)) -%}{%- endif -%}
  {%- do return({
      'sensitive': now.sensitive,
      'columns': now.columns,
      'release': release,
      'generated': release and privacy.get('generated') == true,
      'cuts': release and privacy.get('generated') == true and privacy.get('text_md5', '') != '',
      'findings': findings,
  }) -%}
{% endmacro %}

{#- What is wrong with a release, as far as dbt can tell. -#}
{% macro release_findings(node, privacy, where) %}
  {%- set findings = [] -%}
  {%- set certified = privacy.get('text_md5', '') -%}
  {%- if certified and certified != policy_engine.text_md5(node) -%}
    {%- do findings.append("G24 " ~ where ~ ": the release was changed after it was generated (md5 " ~ certified ~ ", now "
        ~ policy_engine.text_md5(node) ~ "). Run 'policy-engine dbt sync'; what should be different is changed in its policy.") -%}
  {%- endif -%}
  {%- if node.config.materialized != 'incremental' or node.config.full_refresh != false -%}
    {%- do findings.append("G22 " ~ where ~ ": " ~ policy_engine.drawn_once(node.config.materialized, node.config.full_refresh)) -%}
  {%- endif -%}
  {%- do return(findings) -%}
{% endmacro %}

{#- A view or an ephemeral model would draw at every read, and a table at every run. -#}
{% macro drawn_once(materialized, full_refresh) %}
  {%- do return("a release is drawn once, as materialized='incremental' with full_refresh=false; found materialized='"
      ~ materialized ~ "' with full_refresh=" ~ full_refresh
      ~ ". Anything else draws a new sample at each run or read, and each draw costs. Take the other setting away, or run 'policy-engine dbt sync'.") -%}
{% endmacro %}

{#- Whether one mark says so, or says what nobody can read. -#}
{% macro is_sensitive(meta, where, findings) %}
  {%- set before = findings | length -%}
  {%- set privacy = meta.get('privacy', {}) -%}
  {%- for key in meta -%}
    {%- if key != 'privacy' and (key | string | trim | lower).split('.')[0] == 'privacy' -%}
      {%- do findings.append("G30 " ~ where ~ ": meta." ~ key ~ " is an unknown key; write privacy: and the marks under it. It counts as sensitive.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if privacy is not mapping -%}
    {%- do findings.append("G30 " ~ where ~ ": meta.privacy must be a mapping, found " ~ privacy ~ "; it counts as sensitive.") -%}
    {%- do return(true) -%}
  {%- endif -%}
  {%- set classes = ['sensitive', 'internal', 'public'] -%}
  {%- set flags_known = ['release', 'generated'] -%}
  {%- set known = ['classification'] + flags_known + ['policy', 'policy_digest', 'text_md5', 'certificate', 'audience'] -%}
  {%- for key, found in privacy.items() -%}
    {%- if key not in known -%}
      {%- do findings.append("G30 " ~ where ~ ": meta.privacy." ~ key ~ " is an unknown key, of " ~ known | join(", ") ~ "; it counts as sensitive.") -%}
    {%- elif key == 'classification' and found not in classes -%}
      {%- do findings.append("G30 " ~ where ~ ": meta.privacy.classification must be sensitive, internal or public, found " ~ found ~ "; it counts as sensitive.") -%}
    {%- elif key in flags_known and found is not boolean -%}
      {%- do findings.append("G30 " ~ where ~ ": meta.privacy." ~ key ~ " must be true or false, found " ~ found ~ "; it counts as sensitive.") -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(privacy.get('classification') == 'sensitive' or findings | length > before) -%}
{% endmacro %}

{#- The digest that notices a change of a model's text: the same in every version of dbt and in Python. -#}
{% macro text_md5(node) %}
  {%- do return(local_md5((node.raw_code | default('', true) | trim).replace('\r\n', '\n'))) -%}
{% endmacro %}
