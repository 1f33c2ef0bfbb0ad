{#- What stands in a generated release model. Nothing here computes a guarantee: the numbers are in
    the certificate, and the text that was certified is the text that runs. -#}

{#- The condition that shows somebody where the model is published, and false everywhere else, so
    that nobody is drawn there: the table is empty, with the same columns. 'dbt show' never draws.
    A unit test may put another condition in its place, which tests the recodes without any sampling.
    'waits' says whether one is drawn now. -#}
{% macro in_sample(waits) -%}
  {%- if execute -%}{{ policy_engine.built_once() }}{%- endif -%}
  {%- if policy_engine.is_released() and waits -%}{{ caller() }}{%- else -%}false{%- endif -%}
{%- endmacro %}

{#- Where every group is shown, whatever is in it: the condition that lets nobody's stand. 'word' is
    what comes before it. -#}
{% macro all_shown(waits, word) -%}
  {%- if execute -%}{{ policy_engine.built_once() }}{%- endif -%}
  {%- if not (policy_engine.is_released() and waits) -%}{{ word ~ ' false ' }}{%- endif -%}
{%- endmacro %}

{#- What else reads the secret: where nothing is released there is none to read. -#}
{% macro secret(waits) -%}
  {%- if policy_engine.is_released() and waits -%}{{ caller() }}{%- else -%}''{%- endif -%}
{%- endmacro %}

{#- The noise of a count. It is the same everywhere; a unit test may put a number in its place. -#}
{% macro noise() -%}{{ caller() }}{%- endmacro %}

{% macro is_released() %}
  {%- do return(target.name in policy_engine.release_targets() and flags.WHICH != 'show') -%}
{% endmacro %}

{#- The edition that waits to be drawn, and what of the text is its own: so many texts, all empty where
    nothing waits. What only compiles has those that stand in the model, whatever waits. -#}
{% macro edition(release, salts, values) %}
  {%- set nothing = [''] * values -%}
  {%- if not execute or not policy_engine.is_released() -%}{%- do return([''] + nothing) -%}{%- endif -%}
  {%- if flags.WHICH not in ['build', 'run', 'retry'] -%}{%- do return(['any'] + nothing) -%}{%- endif -%}
  {%- set found = policy_engine.reservations(release, salts, 'edition') -%}
  {%- do return(found[0].split('\n') if found | length == 1 and found[0] else [''] + nothing) -%}
{% endmacro %}

{#- Where dbt would draw more than once, it does not draw at all. -#}
{% macro built_once() -%}
  {%- set found = config.get('materialized') -%}
  {%- if model.resource_type != 'unit_test' and (found != 'incremental' or config.get('full_refresh') != false) -%}
    {{ exceptions.raise_compiler_error(model.original_file_path ~ ": " ~ policy_engine.drawn_once(found, config.get('full_refresh'))) }}
  {%- endif -%}
{%- endmacro %}

{#- The table of the releases' secrets: 'table', 'schema.table' or 'database.schema.table'. -#}
{% macro salts(name) -%}
  {{- policy_engine.salts_relation(name) -}}
{%- endmacro %}

{% macro salts_relation(name) %}
  {%- set parts = name.split('.') -%}
  {%- do return(api.Relation.create(
      database=(parts[0] if parts | length == 3 else target.database | default(none, true)),
      schema=(parts[-2] if parts | length > 1 else target.schema),
      identifier=parts[-1],
  )) -%}
{% endmacro %}

{#- The pre-hook of a release: before the first row is drawn, it is reserved, and for exactly the
    text that is about to run. Where nothing waits, nothing is drawn.
    Its statement says that the secret was drawn with: where a failed model takes that back, no row
    stands; where it stays, as without transactions, the secret serves no second draw. -#}
{% macro reserved(release, salts) -%}
  {%- set found = policy_engine.reservations(release, salts) if execute and target.name in policy_engine.release_targets() else [] -%}
  {%- if found -%}
    {%- set where = model.original_file_path ~ ": " ~ release -%}
    {%- if flags.EMPTY -%}
      {{ exceptions.raise_compiler_error(where ~ " is not built with --empty in the target " ~ target.name
          ~ ", where an empty table would stand as the release. Leave --empty away, or take another target.") }}
    {%- endif -%}
    {%- set text = local_md5((model.compiled_code | default('', true) | trim).replace('\r\n', '\n')) -%}
    {%- if found[0] != text -%}
      {{ exceptions.raise_compiler_error(where ~ " was reserved for another text than the one that is about to run (md5 "
          ~ found[0] ~ ", now " ~ text ~ "): the model, a macro, a variable, --defer or --sample changed it. Run 'policy-engine dbt reserve' as you run dbt, with the same target and the same options.") }}
    {%- endif -%}
    update {{ policy_engine.salts_relation(salts) }} set {{ adapter.quote('is_drawn') }} = true where {{ adapter.quote('release_id') }} = '{{ release | replace("'", "''") }}'
  {%- endif -%}
{%- endmacro %}

{#- The first hook of a release: what was drawn before goes, if another is drawn now. -#}
{% macro emptied(release, salts) -%}
  {%- if execute and target.name in policy_engine.release_targets() and is_incremental() and policy_engine.reservations(release, salts) -%}
    delete from {{ this }}
  {%- endif -%}
{%- endmacro %}

{#- The digests of the texts that a release is reserved for: one, if it is and was not drawn. Or what
    else is said of it, but never the secret. -#}
{% macro reservations(release, salts, what='text_md5') %}
  {%- set name = policy_engine.salts_relation(salts) -%}
  {%- set relation = adapter.get_relation(database=name.database, schema=name.schema, identifier=name.identifier) -%}
  {%- if not relation -%}{%- do return([]) -%}{%- endif -%}
  {%- if target.type == 'postgres' -%}{%- do policy_engine.check_own(name) -%}{%- endif -%}
  {%- set asked -%}
    select {{ adapter.quote(what) }} from {{ name }} where {{ adapter.quote('release_id') }} = '{{ release | replace("'", "''") }}' and not {{ adapter.quote('is_drawn') }}
  {%- endset -%}
  {%- do return(run_query(asked).columns[0].values() | list) -%}
{% endmacro %}

{#- What another role has made, or may read, holds no secret. -#}
{% macro check_own(name) %}
  {%- set asked -%}
    select count(*) from pg_catalog.pg_class as c
    where c.oid = pg_catalog.to_regclass('{{ name | string | replace("'", "''") }}') and c.relkind = 'r'
      and pg_catalog.pg_get_userbyid(c.relowner) = current_user
      and c.relchecks = 0 and not (c.relhasrules or c.relhastriggers or c.relrowsecurity or c.relhassubclass)
      and not exists (select from pg_catalog.pg_inherits as i where i.inhrelid = c.oid)
      and not exists (select from pg_catalog.aclexplode(c.relacl) as x where x.grantee <> c.relowner)
      and not exists (select from pg_catalog.pg_attribute as a where a.attrelid = c.oid and a.attacl is not null)
  {%- endset -%}
  {%- if run_query(asked).columns[0].values()[0] != 1 -%}
    {{ exceptions.raise_compiler_error(model.original_file_path ~ ": " ~ name ~ " is not a plain table of the role that runs dbt, or others may read it, so that its secrets are none. Take the grant or the table away, and run 'policy-engine dbt reserve'.") }}
  {%- endif -%}
{% endmacro %}
