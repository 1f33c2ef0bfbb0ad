{#- What is written about the release is about this model: its text is the one that was generated,
    for this policy, and it is built once. Whether the signature and the numbers hold is not for
    dbt to say: 'policy-engine verify' does. -#}
{% test certificate_current(model, policy_digest=none, arguments={}) %}
  {%- set policy_digest = arguments.get("policy_digest", policy_digest) -%}
  {%- if policy_engine.is_testing() -%}
    {%- set wrong = policy_engine.certificate_findings(model, policy_digest) -%}
    {%- if wrong -%}
      {{ exceptions.raise_compiler_error(model ~ ": " ~ wrong | join("\n  ")) }}
    {%- endif -%}
  {%- endif -%}
  {{ policy_engine.nothing_found() }}
{% endtest %}
