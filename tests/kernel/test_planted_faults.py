"""Faults planted in a copy of the templates: each is caught, by name, and its clean twin passes.

A fault is caught where a text that it changes gives other rows than the claim means, or fails.
"""

from __future__ import annotations

import os
import shutil

import pytest
from running import DuckDB
from suite import (
    edges,
    loaded,
    of_joins,
    of_long_people,
    of_many_rows,
    of_public_keys,
    of_public_values,
    of_quantiles,
    of_spans,
    outcome,
    printable,
    thresholds,
)

from policy_engine.kernel import printing

MECHANISM, UNITS = "mechanisms/sampled_suppression", "mechanisms/units"
NOISE, DRAWN = "mechanisms/noisy_counts", "mechanisms/noise"
CHOSEN = "mechanisms/quantiles"
ANSWERS, TUPLES = "mechanisms/randomised_response", "mechanisms/ab_insertion"
STANDARD, DUCKDB, POSTGRES = "engines/standard", "engines/duckdb", "engines/postgres"
MARIADB, CLICKHOUSE = "engines/mariadb", "engines/clickhouse"
#: A fault of each template is caught by a third of the claims that catch all faults.
FEWER = 1 if os.environ.get("EVIDENCE") else 3
HERE = "{% set here = period is not none and not together %}"
#: By name: the engine that catches it, the template, what stands there, and what the fault makes.
FAULTS = {
    "a cut is in the lower bin": (
        "duckdb", "recodes", "{% endif %} < {{ literal(v", "{% endif %} <= {{ literal(v"),
    "bins without IS NULL": ("duckdb", "recodes", "WHEN {{ x }} IS NULL", "WHEN FALSE"),
    "NaN is a number": ("duckdb", "recodes", "{{ e.is_nan(e.double(x)) }}", "FALSE"),
    "the last bin has the first label": (
        "duckdb", "recodes", "label(s.last)", "label(s.cuts[0][1])"),
    "map without IS NULL": ("duckdb", "recodes", "WHEN {{ t }} IS NULL", "WHEN FALSE"),
    "what is no key is NULL": ("duckdb", "recodes", "{{ label(s.other) }}", "NULL"),
    "a key stands for all others": ("duckdb", "recodes", "{{ t }} IN (", "{{ t }} NOT IN ("),
    "prefix keeps the text": (
        "duckdb", "recodes", "{{ e.first(as_text(s, x), s.length) }}", "{{ as_text(s, x) }}"),
    "one character too few": (
        "duckdb", STANDARD, "LEFT({{ x }}, {{ n }})", "LEFT({{ x }}, {{ n }} - 1)"),
    "round by CEIL": ("duckdb", "recodes", "FLOOR({{ q }}) + CASE", "CEIL({{ q }}) + CASE"),
    "a half goes down": ("duckdb", "engines/duckdb", "ROUND({{ q }})", "CEIL({{ q }} - 0.5)"),
    "a half goes down (by FLOOR)": ("postgres", "engines/standard", ">= 0.5", "> 0.5"),
    "a value's half goes down": (
        "duckdb", "engines/duckdb", "ROUND({{ d }} / {{ a.step.number }})",
        "CEIL({{ d }} / {{ a.step.number }} - 0.5)"),
    "a value is held by one end": (
        "duckdb", "engines/duckdb", "GREATEST({{ a.least }}, LEAST({{ a.most }}, {{ x }}))",
        "LEAST({{ a.most }}, {{ x }})"),
    "a missing value is an end": (
        "duckdb", "engines/duckdb", "CASE WHEN {{ x }} IS NULL THEN {{ absent }} ELSE CAST(",
        "CASE WHEN FALSE THEN {{ absent }} ELSE CAST("),
    "a set of another number": (
        "duckdb", "mechanisms/noisy_counts", "WHEN {{ without }} THEN {{ g }}",
        "WHEN {{ without }} THEN 3 - {{ g }}"),
    "a set has another's column": (
        "duckdb", "mechanisms/noisy_counts",
        "({% for s in columns if g in s.groupings %}{% if not loop.first %}",
        "({% for s in columns %}{% if not loop.first %}"),
    "round forgets the sign": ("duckdb", "recodes", "{{ d }} < 0", "FALSE"),
    "round down is towards zero": (
        "duckdb", "recodes", "{{ d }} < 0 AND {{ q }} > FLOOR", "FALSE AND {{ q }} > FLOOR"),
    "next to nothing is not rounded down": (
        "duckdb", "recodes", "WHEN {{ d }} < 0 AND ABS({{ d }}) < {{ s.tenth }}", "WHEN FALSE"),
    "towards zero is to the nearest": (
        "duckdb", "recodes", "{% if s.way == 'nearest' %}", "{% if s.way != 'down' %}"),
    "round has no end": ("duckdb", "recodes", "WHEN ABS({{ d }}) < {{ s.below }}", "WHEN TRUE"),
    "the end is rounded": (
        "duckdb", "recodes", "ABS({{ d }}) < {{ s.below }}", "ABS({{ d }}) <= {{ s.below }}"),
    "each unit is a month": ("duckdb", STANDARD, "({{ unit.text }}", "('month'"),
    "a text is cast whatever it is": (
        "duckdb", "recodes", "e.integer(matched(x, whole))", "e.integer(x)"),
    "a whole number has a point": ("duckdb", "recodes", "[+-]?[0-9]{1,18}", "[+-]?[0-9.]{1,18}"),
    "a number has nineteen digits": ("duckdb", "recodes", "[0-9]{1,18}", "[0-9]{1,19}"),
    "a year has three digits": (
        "duckdb", "recodes", "([1-9][0-9]{3}-{{", "([0-9]{4}-{{"),
    "every February has 29 days": (
        "duckdb", "recodes", "1[0-9]|2[0-8]))", "1[0-9]|2[0-9]))"),
    "an offset is dropped": (
        "duckdb", STANDARD, "CAST({{ x }} AS TIMESTAMP WITH TIME ZONE)",
        "TIMEZONE('UTC', CAST({{ x }} AS TIMESTAMP))"),
    "what is true is false": ("duckdb", "recodes", "'T', '1') THEN TRUE", "'T', '1') THEN FALSE"),
    "an offset is added (MariaDB)": ("mariadb", MARIADB, "DATE_SUB(CAST(REG", "DATE_ADD(CAST(REG"),
    "a line ends behind a text (MariaDB)": ("mariadb", MARIADB, "(?!.)'", "$'"),
    "a wide number is sorted as one": (
        "duckdb", "recodes", "s.of.kind == 'label' or s.of.kind == 'wide_integer'",
        "s.of.kind == 'label'"),
    "another zone": ("duckdb", STANDARD, "AT TIME ZONE 'UTC'", "AT TIME ZONE 'Europe/Berlin'"),
    "decimals without places": (
        "duckdb", STANDARD, "CAST({{ number }} AS DECIMAL({{ digits }}, {{ scale }}))",
        "CAST({{ number }} AS DECIMAL({{ digits }}, 0))"),
    "COLLATE dropped": ("duckdb", DUCKDB, ' COLLATE "binary"', ""),
    "the second row": ("duckdb", UNITS, "policy_engine_rank = 1", "policy_engine_rank = 2"),
    "every row": ("duckdb", UNITS, "policy_engine_rank = 1", "policy_engine_rank >= 1"),
    "columns of a key run together": ("duckdb", STANDARD, " || '~:' || ", " || "),
    "a key with a part that is NULL": (
        "duckdb", UNITS, "{{ c.name }} IS NOT NULL", "COALESCE({{ c.name }}, '') IS NOT NULL"),
    "one row in all": ("duckdb", UNITS, "PARTITION BY {{ key.name }} ", ""),
    "the order's way ignored": ("duckdb", STANDARD, "{% if down %} DESC{% endif %}", ""),
    "the order ignored": (
        "duckdb", UNITS, "ORDER BY {{ first_by(order) }}", "ORDER BY NULL"),
    "k is one more": ("duckdb", MECHANISM, ">= {{ k }}", "> {{ k }}"),
    "k is one less": ("duckdb", MECHANISM, ">= {{ k }}", ">= {{ k }} - 1"),
    "HAVING missing": ("duckdb", MECHANISM, "HAVING {{ e.total(how) }} >= {{ k }}", ""),
    "a column is not grouped by": (
        "duckdb", MECHANISM, "GROUP BY {{ units.listed(columns) }}",
        "GROUP BY {% for s in columns %}{% if loop.first %}{{ s.name }}{% endif %}{% endfor %}"),
    "counted rows are not summed": (
        "duckdb", STANDARD, "{% set sum %}SUM({{ x }})", "{% set sum %}COUNT({{ x }})"),
    "counted rows count once for k": (
        "duckdb", STANDARD, "{% if how == 'SUM' %}SUM(policy_engine_count)",
        "{% if how == 'SUM' %}COUNT(*)"),
    "a row too many": ("duckdb", DUCKDB, "RANGE(policy_engine_n)", "RANGE(policy_engine_n + 1)"),
    "the release is not sorted": ("duckdb", MECHANISM, "ORDER BY {{ units.sorted(columns) }}", ""),
    "the release is sorted by its first column": (
        "duckdb", UNITS, "{% for s in columns %}{{ e.ordered(s.name, false, s.kind) }}",
        "{% for s in columns %}{% if loop.first %}{{ e.ordered(s.name, false, s.kind) }}"
        "{% else %}NULL{% endif %}"),
    "the sample takes its threshold": (
        "duckdb", DUCKDB, "{{ e.keyed(salt, unit, false) }} <",
        "LEFT({{ e.keyed(salt, unit, false) }}, 15) <="),
    "56 bits are compared": ("duckdb", DUCKDB, "}} < {{ bound }}", "}} < LEFT({{ bound }}, 14)"),
    "':u:' dropped": ("duckdb", STANDARD, "':u:'", "''"),
    "another release's secret": (
        "duckdb", STANDARD, "release_id = {{ release }}", "release_id <> {{ release }}"),
    "everybody is in": ("duckdb", DUCKDB, "{{ e.keyed(salt, unit, false) }}", "''"),
    "what is filtered out is shown": (
        "duckdb", UNITS, "}} = {{ e.label(kept) }}", "}} <> {{ e.label(kept) }}"),
    "one condition is enough": (
        "duckdb", UNITS, "{% if not loop.last %} AND{% endif %}\n\n{% endfor %}\n)",
        "{% if not loop.last %} OR{% endif %}\n\n{% endfor %}\n)"),
    "the filter forgets which row is kept": (
        "duckdb", UNITS, "WHERE {% if order %}policy_engine_rank = 1 AND {% endif %}",
        "WHERE "),
    "what is filtered is not read": (
        "duckdb", UNITS, "{% if filter %}kept{% elif draws %}", "{% if draws %}"),
    "the filter is of any row": (
        "duckdb", UNITS, "policy_engine_rank = 1 AND {% endif %}",
        "policy_engine_rank >= 1 AND {% endif %}"),
    "every period is counted": ("duckdb", UNITS, HERE, "{% set here = false %}"),
    "a sample is of every period": ("duckdb", MECHANISM, HERE, "{% set here = false %}"),
    "a key of columns has every period": (
        "duckdb", UNITS, "{% if period is not none %} AND", "{% if false %} AND"),
    "the period is a filter of the row that is kept": (
        "duckdb", MECHANISM, HERE,
        "{% set here = false %}{% set filter = [period] if period else filter %}"),
    "what has no date is in every period": (
        "duckdb", UNITS, "}} = {{ e.label(kept) }}{% endmacro", "}} IS DISTINCT FROM 'dropped'"
        "{% endmacro"),
    "a row is drawn without a secret": ("duckdb", DUCKDB, "$salt{% endif %}", "'x'{% endif %}"),
    "a row is drawn by the sample's hash": ("duckdb", STANDARD, "':o:'", "':u:'"),
    "all persons' rows are drawn alike": (
        "duckdb", DUCKDB, "|| CAST({{ unit }} AS VARCHAR)",
        "|| {% if placed %}'x'{% else %}CAST({{ unit }} AS VARCHAR){% endif %}"),
    "the first row is drawn": (
        "duckdb", DUCKDB, "|| ':' || CAST(policy_engine_place AS VARCHAR)", ""),
    "the greatest hash is drawn": (
        "duckdb", UNITS, ", policy_engine_place) AS", " DESC, policy_engine_place) AS"),
    "one row in all is drawn": (
        "duckdb", UNITS, "OVER (PARTITION BY {{ key.name }} ORDER BY {{ e.keyed", "OVER (ORDER BY"
        " {{ e.keyed"),
    "what is drawn is not read": (
        "duckdb", UNITS, "{% elif draws %}chosen{% else %}",
        "{% elif draws %}{{ first }}{% else %}"),
    "a row is drawn by bytes of another text (PostgreSQL)": (
        "postgres", POSTGRES, "{% if placed %} || ':' ||", "{% if placed %} || ' ' ||"),
    "the first row is drawn (MariaDB)": (
        "mariadb", MARIADB, "CAST(policy_engine_place AS CHAR CHARACTER SET utf8mb4)", "''"),
    "who has a group too many has the first ones": (
        "mariadb", NOISE, "policy_engine_groups > {{ most_groups }}",
        "policy_engine_groups > {{ most_groups }} + 1"),
    "a group of one less is shown": (
        "duckdb", NOISE, "policy_engine_n >= {{ least_shown }}",
        "policy_engine_n > {{ least_shown }} - 2"),
    "true counts decide what is shown": (
        "duckdb", NOISE, "WHERE policy_engine_n >=", "WHERE policy_engine_people >="),
    "all groups have one noise": (
        "duckdb", NOISE, "ROW_NUMBER() OVER (ORDER BY {{ in_order }})", "1"),
    "groups are numbered in another order": (
        "duckdb", NOISE, "OVER (ORDER BY {{ in_order }})", "OVER (ORDER BY 1 DESC)"),
    "the noise of another claim": (
        "duckdb", NOISE, "e.keyed(salt, number, false, streams[0])",
        "e.keyed(salt, number, false)"),
    "the noise has no secret": (
        "duckdb", DUCKDB, "{% else %}$salt{% endif %}", "{% else %}''{% endif %}"),
    "the noise is taken away": ("duckdb", NOISE, "{% if is_open %}-", "{% if true %}-"),
    "a place is added": ("duckdb", NOISE, "{% if is_open %}-", "{% if false %}-"),
    "beyond the table is shown": ("duckdb", STANDARD, "{%+ if last is none %}ELSE NULL", "{%+ if"
                                  " last is none %}ELSE 0"),
    "a block is left out": (
        "duckdb", DRAWN, "{% for bound, bytes, cases, last, digits in z.blocks %}",
        "{% for bound, bytes, cases, last, digits in [] %}"),
    "a block starts at its end": (
        "duckdb", DUCKDB, "{{ cases[0][2] }} + LEN(", "{{ last }} + LEN("),
    "a block counts what is above": ("duckdb", DUCKDB, "entry <= {{ hash }}", "entry > {{ hash }}"),
    "who has no key counts": (
        "duckdb", UNITS, "WHERE {{ key.name }} IS NOT NULL", "WHERE TRUE"),
    "noise of rows that were not counted": (
        "duckdb", NOISE, "{{ e.whole(how) }} AS policy_engine_people",
        "{{ e.count() }} AS policy_engine_people"),
    "a column is not grouped by before the noise": (
        "clickhouse", NOISE, "FROM recoded\n  GROUP BY {{ units.listed(columns) }}\n",
        "FROM recoded\n  GROUP BY {% for s in columns %}{% if loop.first %}{{ s.name }}{% endif %}"
        "{% endfor %}\n"),
    "sums and counts share their noise": (
        "duckdb", NOISE, "streams[loop.index]", "streams[0]"),
    "a sum of raw values": (
        "duckdb", "recodes", "WHEN {{ d }} >= {{ a.at_most }} THEN {{ a.most }}",
        "WHEN {{ d }} >= {{ a.at_most }} THEN 1000 * {{ a.most }}"),
    "a sum has no lower end": (
        "duckdb", "recodes", "WHEN {{ d }} <= {{ a.at_least }} THEN {{ a.least }}",
        "WHEN {{ d }} <= {{ a.at_least }} THEN {{ a.least }} - 1"),
    "who has no value counts with one": (
        "duckdb", "recodes", "{% endif %} THEN {{ absent }}", "{% endif %} THEN 1"),
    "who has no value is in the divisor": (
        "duckdb", NOISE, "COUNT({{ q.value }}){% endif %}{% endmacro %}\n{% macro with_value_again",
        "COUNT(*){% endif %}{% endmacro %}\n{% macro with_value_again"),
    "who has no value is in the divisor of a grouping": (
        "clickhouse", NOISE, "COUNT({{ a.value }}) AS {{ a.many }}{% endfor %}",
        "COUNT(*) AS {{ a.many }}{% endfor %}"),
    "a row without a value is in the divisor": (
        "duckdb", NOISE, "COUNT({{ x }}) AS {{ a.many }}", "COUNT(*) AS {{ a.many }}"),
    "a person without a value is in the divisor": (
        "duckdb", NOISE, "{% else %}COUNT({{ q.value }}){% endif %}{% endmacro %}\n{# What one",
        "{% else %}COUNT(*){% endif %}{% endmacro %}\n{# What one"),
    "a row more than the most": (
        "duckdb", NOISE, "policy_engine_rank <= {{ most_rows }}",
        "policy_engine_rank <= {{ most_rows }} + 1"),
    "who has a row more than the most has all of them": (
        "duckdb", NOISE, "WHERE policy_engine_rows > {{ most_rows }}\n  GROUP BY",
        "WHERE policy_engine_rows > {{ most_rows }} + 1\n  GROUP BY"),
    "who has more rows than the most has those as well": (
        "duckdb", NOISE, "    WHERE policy_engine_rows <= {{ most_rows }}\n", ""),
    "rows are taken by their values": (
        "duckdb", NOISE, "ORDER BY {{ e.keyed(salt, unit, true, row_tag) }}, policy_engine_place",
        "ORDER BY policy_engine_place"),
    "rows are chosen as groups are": (
        "duckdb", NOISE, "{% set row_tag %}':r:'", "{% set row_tag %}':o:'"),
    "rows are counted without an end": (
        "duckdb", NOISE, "CASE WHEN {{ e.count() }} > {{ most_rows }} THEN {{ most_rows }} ELSE"
        " {{ e.count() }} END", "{{ e.count() }}"),
    "a person's mean is their total": (
        "duckdb", NOISE, "{% set divisor %}(2 * CASE WHEN {{ many }} = 0 THEN 1 ELSE {{ many }}"
        " END)", "{% set divisor %}(2)"),
    "a group without values has no sum": (
        "duckdb", NOISE, "COALESCE({{ e.whole_sum(q.value) }}, 0)", "{{ e.whole_sum(q.value) }}"),
    "a sum without its center": (
        "duckdb", NOISE, " + {{ m.center }} * {{ m.over }})", ")"),
    "a mean of nobody is an end": (
        "duckdb", NOISE, "CASE WHEN {{ m.over }} < 1 THEN NULL WHEN", "CASE WHEN"),
    "a person's rows are not clipped together": (
        "duckdb", NOISE, "THEN {{ a.high }} ELSE {{ e.whole_sum",
        "THEN {{ e.whole_sum(a.value) }} ELSE {{ e.whole_sum"),
    "a mean is of values as they are": (
        "duckdb", NOISE, " - {{ q.center }} * {{ many }}", ""),
    "a sum is not cut": (
        "duckdb", NOISE, " - {{ e.rest(q.total, q.grain) }}", ""),
    "a sum's noise has another grain": (
        "duckdb", NOISE, "{{ e.integer(q.grain) }} * ", ""),
    "a mean beyond its ends": (
        "duckdb", NOISE, "< 0 THEN 0 WHEN", "< 0 THEN -1000 WHEN"),
    "a mean is cut off": ("duckdb", NOISE, "{{ m.above }} + {{ m.divisor }})",
                          "{{ m.above }})"),
    "a mean of the true count": (
        "duckdb", NOISE, "SELECT {{ keys }}{{ group }}, policy_engine_people {% if is_open %}",
        "SELECT {{ keys }}{{ group }}, 0 * policy_engine_people {% if is_open %}"),
    "a cut is told exactly": (
        "duckdb", NOISE, "{{ c.cut }} + {{ noise.drawn(c.hash, cut_table) }}", "{{ c.cut }}"),
    "who is cut has a draw a row": (
        "duckdb", NOISE, "{{ c.cut }} + {{ noise.drawn(c.hash, cut_table) }}",
        "{{ c.cut }} + {{ noise.drawn(hash, cut_table) }}{% set of_row %}policy_engine_hash"
        "{% endset %}"),
    "all cuts have one draw": (
        "duckdb", NOISE, "first_group, false, c.stream", "first_group, false, streams[0]"),
    "rows are counted in place of people who are cut": (
        "duckdb", NOISE, "MAX(CASE WHEN {{ v.bent }} = 1 THEN 1 ELSE 0 END)",
        "SUM(CASE WHEN {{ v.bent }} = 1 THEN 1 ELSE 0 END)"),
    "groups are counted in place of people who are cut": (
        "duckdb", NOISE, "MAX({{ c.cut }})", "SUM({{ c.cut }})"),
    "who is cut is of the groups that are counted": (
        "duckdb", NOISE, "{% if cuts %}gathered{% elif shares %}found{% else %}placed{% endif %}",
        "{% if cuts %}gathered{% elif shares %}found{% else %}placed{% endif %}"
        " WHERE policy_engine_unit NOT IN (SELECT policy_engine_many FROM"
        " {% if shares %}beyond{% else %}placed{% endif %})"),
    "who is as often in groups as count is cut": (
        "duckdb", NOISE, "CASE WHEN COUNT(*) > {{ most_groups }} THEN 1",
        "CASE WHEN COUNT(*) >= {{ most_groups }} THEN 1"),
    "who has as many rows as count is cut": (
        "duckdb", NOISE, "MAX(policy_engine_rows) > {{ most_rows }}",
        "MAX(policy_engine_rows) >= {{ most_rows }}"),
    "a value that is missing is cut": (
        "duckdb", "recodes", "{{ e.or_nan(x) }}{% endif %} THEN 2", "{{ e.or_nan(x) }}{% endif %}"
        " THEN 1"),
    "a total at its end is cut": (
        "duckdb", NOISE, "< {{ v.low }}{{ times }} OR", "<= {{ v.low }}{{ times }} OR"),
    "a mean is cut as a total is": (
        "duckdb", NOISE, "{% if v.per == 'mean' %} *", "{% if false %} *"),
    "whoever is in more groups than count is in all of them": (
        "duckdb", NOISE, "WHERE policy_engine_many IS NULL", ""),
    "whoever is in one group more than count is in all of them": (
        "duckdb", NOISE, "HAVING COUNT(*) > {{ most_groups }}",
        "HAVING COUNT(*) > {{ most_groups }} + 1"),
    "whoever is in more groups than count is in none of them": (
        "duckdb", NOISE, "found JOIN beyond ON policy_engine_many = policy",
        "found JOIN beyond ON policy_engine_many <> policy"),
    "a grouping that reads the people groups by a column of another": (
        "postgres", NOISE, "GROUP BY {% for s in columns if g in s.groupings %}",
        "GROUP BY {% for s in columns %}"),
    "a grouping that reads the people shows a column less": (
        "postgres", NOISE, "{% if g in s.groupings %}{{ s.name }}",
        "{% if g in s.groupings and not loop.last %}{{ s.name }}"),
    "groupings that read the people have one number": (
        "postgres", NOISE, "SELECT {{ g }}, {%", "SELECT 1, {%"),
    "a grouping has another's column": (
        "clickhouse", NOISE, "CASE WHEN {{ by }} IN (", "CASE WHEN 1 = 1 OR {{ by }} IN ("),
    "groupings are one group": (
        "duckdb", NOISE, "{% set keys %}{% if groupings %}{{ by }}, {% endif %}", "{% set keys %}"
        "{% if groupings %}1 AS {{ by }}, {% endif %}"),
    "a grouping has another's noise": (
        "duckdb", NOISE, "{% if own_tables %}CASE{% for own in own_tables %} WHEN {{ by }} = "
        "{{ own.number }} THEN {{ noise", "{% if own_tables %}CASE{% for own in own_tables %} WHEN"
        " {{ by }} <> {{ own.number }} THEN {{ noise"),
    "everybody is in every part": (
        "duckdb", UNITS, " AND {% if loop.first %}NOT (", " OR {% if loop.first %}NOT ("),
    "a part has the one before it": (
        "duckdb", UNITS, "{% if loop.first %}NOT (", "{% if loop.first %}("),
    "parts are drawn by the whole secret": (
        "duckdb", DUCKDB, "LEFT({% if salt %}{{ salt }}{% else %}$salt{% endif %}, 32)",
        "{% if salt %}{{ salt }}{% else %}$salt{% endif %}"),
    "a grouping's sum has the noise of its count": (
        "duckdb", NOISE, "own.draws[place]", "own.draws[0]"),
    "a grouping has another's threshold": (
        "duckdb", NOISE, "{% for own in own_tables %} WHEN {{ by }} = {{ own.number }} THEN"
        " {{ own.shown }}", "{% for own in own_tables %} WHEN {{ by }} = {{ own.number }} THEN 0"),
    "rest of a quotient (ClickHouse)": (
        "clickhouse", CLICKHOUSE, "intDiv({{ x }}, {{ y }})", "1 + intDiv({{ x }}, {{ y }})"),
    "all rows have one draw": (
        "duckdb", ANSWERS, "ROW_NUMBER() OVER (ORDER BY {{ units.sorted(columns) }})", "1"),
    "rows are numbered in another order": (
        "duckdb", ANSWERS, "ROW_NUMBER() OVER (ORDER BY {{ units.sorted(columns) }})",
        "COUNT(*) OVER () - ROW_NUMBER() OVER (ORDER BY {{ units.sorted(columns) }}) + 1"),
    "all columns have one draw": ("duckdb", ANSWERS, "streams[loop.index]", "streams[1]"),
    "a column answers by another's draw": (
        "duckdb", ANSWERS, "hash = hashes[loop.index0]", "hash = hashes[0]"),
    "the own value is told": (
        "duckdb", ANSWERS, "THEN {{ recodes.label(label) }}", "THEN {{ s.name }}"),
    "answers are not counted by a column": (
        "duckdb", ANSWERS, "FROM answered", "FROM drawn"),
    "answers stand in another order": (
        "duckdb", ANSWERS, "{% endif %}\nORDER BY {{ units.sorted(columns) }}",
        "{% endif %}\nORDER BY RANDOM()"),
    "who has no key answers": (
        "duckdb", UNITS, "WHERE {{ key.name }} IS NOT NULL", "WHERE TRUE"),
    "nobody's tuples are not shown": (
        "duckdb", TUPLES, "{{ e.below(hash, inserted[0], inserted[1]) }} OR ", ""),
    "every tuple that is there is shown": (
        "duckdb", TUPLES, "policy_engine_there = 1 AND {{ e.below(hash, shown[0], shown[1]) }}",
        "policy_engine_there = 1"),
    "tuples that are there are not told apart": (
        "duckdb", TUPLES, "policy_engine_there = 1 AND", "TRUE AND"),
    "tuples are numbered among those that are there": (
        "duckdb", TUPLES, "    SELECT {{ units.listed(columns) }}, 0 AS policy_engine_there FROM"
        " domain\n    UNION ALL\n", ""),
    "a tuple is there if nobody has it": ("duckdb", TUPLES, "MAX(", "MIN("),
    "a value is not in the domain": (
        "duckdb", UNITS, "{% for row in part %}", "{% for row in part[1:] %}"),
    "all tuples have one draw": (
        "duckdb", TUPLES, "ROW_NUMBER() OVER (ORDER BY {{ units.sorted(columns) }})", "1"),
    "a column of a file's folder": (
        "duckdb", DUCKDB, ", hive_partitioning = FALSE", ", hive_partitioning = TRUE"),
    "a file that is not loaded": ("duckdb", DUCKDB, '"temp"."main".', '"memory"."main".'),
    "a table's rows are numbered as a file's": (
        "duckdb", DUCKDB, "{% if is_file %}file_row_number{% else %}rowid{% endif %}",
        "file_row_number"),
    "a row's bit is the next one's": (
        "duckdb", DUCKDB, "CAST({{ row }} % 4096", "CAST(({{ row }} + 1) % 4096"),
    "who is not drawn is in": (
        "duckdb", DUCKDB, "% 4096 AS INTEGER)) = 1", "% 4096 AS INTEGER)) = 0"),
    "a row of each of its key's rows is there": (
        "duckdb", UNITS, "  WHERE policy_engine_rank = 1\n){% endfor %}", "){% endfor %}"),
    "beside a row is another key's row": (
        "duckdb", UNITS, "{{ canonical(on.own, on.is_whole) }} = ",
        "{{ canonical(on.own, on.is_whole) }} >= "),
    "what is joined sees every period": (
        "duckdb", UNITS, "{% elif joins.period is not none %}", "{% elif false %}"),
    "of a person with a row beside the row of every period is chosen": (
        "duckdb", UNITS, "{% if joins.period is not none %}", "{% if false %}"),
    "each row of a person with a row beside counts": (
        "duckdb", UNITS, "policy_engine_own\n  WHERE policy_engine_rank = 1",
        "policy_engine_own\n  WHERE policy_engine_rank >= 1"),
    "of a person with a row beside any row is chosen": (
        "duckdb", UNITS, "{{ place(key, joins.order) }}",
        "ROW_NUMBER() OVER (PARTITION BY {{ key.name }} ORDER BY NULL)"),
    "a year has eleven months": ("duckdb", "recodes", "%}1200{%", "%}1100{%"),
    "who is born after the visit has an age": (
        "duckdb", "recodes", " AND {{ s.since.day }} <= {{ s.until.day }}", ""),
    "a key's row is chosen above the join": (
        "duckdb", UNITS, "{% endfor %}{% endfor %}\n\n){% if joins.spans",
        "{% endfor %}{% endfor %} QUALIFY"
        " ROW_NUMBER() OVER (PARTITION BY {{ joins.beside[0].on[0].own.name }}) = 1\n\n)"
        "{% if joins.spans"),
    "who has no row in a relation is left out": ("duckdb", UNITS, "LEFT JOIN {{ j.name", "JOIN {{ j"
                                                 ".name"),
    "any row of a key is there": (
        "duckdb", UNITS, " ORDER BY {{ first_by(j.order) }}", ""),
    "a key is joined by its collation": (
        "duckdb", UNITS, "{% elif c.type.collated %}{{ e.plain(c.name, c.type, c.kind) }}",
        "{% elif c.type.collated %}{{ c.name }}"),
    "a row's line is another's": ("duckdb", DUCKDB, "{{ row }} >> 12", "{{ row }} >> 3"),
    "NULL first (PostgreSQL)": ("postgres", STANDARD, " NULLS LAST", ""),
    "NaN among decimals (PostgreSQL)": (
        "postgres", POSTGRES, " OR {{ x }} = CAST('NaN' AS DECIMAL)", ""),
    "NaN is kept (PostgreSQL)": (
        "postgres", POSTGRES, "NULLIF({{ x }}, CAST('NaN' AS DECIMAL))", "{{ x }}"),
    "56 bits are compared (PostgreSQL)": (
        "postgres", POSTGRES, "DECODE({{ bytes }}, 'hex')", "DECODE(LEFT({{ bytes }}, 14), 'hex')"),
    "texts are compared by their collation (MariaDB)": (
        "mariadb", MARIADB, "{{ e.utf8(x) }} COLLATE {{ e.collation() }}", "{{ x }}"),
    "blanks are padded (MariaDB)": ("mariadb", MARIADB, "utf8mb4_nopad_bin", "utf8mb4_bin"),
    "who has no label is left out (joined)": (
        "duckdb", "recodes", "LEFT JOIN {{ s.lookup", "JOIN {{ s.lookup"),
    "a key is the other one's (joined)": (
        "duckdb", "recodes", "({{ key(member, s.of) }}, {{ label(text) }})",
        "({{ key(keys[0], s.of) }}, {{ label(text) }})"),
    "what is no key is NULL (joined)": (
        "duckdb", "recodes", "WHEN {{ s.lookup.found }} = 1", "WHEN TRUE"),
    "a label is another key's (joined)": ("duckdb", "recodes", " = {{ s.lookup.key }}", " <> ''"),
    "a key is of any case (joined)": (
        "duckdb", "recodes", "ON {% if s.of.type.collated %}{{ x }}",
        "ON {% if s.of.type.collated %}UPPER({{ x }})"),
    "another row's label (joined)": (
        "duckdb", UNITS, "draws, filter, order, recodes", "draws, filter, none, recodes"),
    "a group that is not listed is shown": (
        "duckdb", NOISE, "HAVING MAX(policy_engine_there) = 1", ""),
    "a key of nobody is not shown": (
        "duckdb", NOISE, "policy_engine_there) = 1", "policy_engine_there) = 1 AND"
        " SUM(policy_engine_people) > 0"),
    "a key has one person more": (
        "duckdb", NOISE, "0 AS policy_engine_people", "1 AS policy_engine_people"),
    "a key has the sum of one step": ("duckdb", NOISE, ", 0 AS {{ q.total }}", ", 1 AS"
                                      " {{ q.total }}"),
    "the groups that are there are shown": (
        "duckdb", NOISE, "{% if domain %}tuples{% else %}", "{% if domain %}grouped{% else %}"),
    "a list ends with its first part": (
        "duckdb", UNITS, "{% for part in parts %}", "{% for part in parts[:1] %}"),
    "a key that is absent is a text": (
        "duckdb", "recodes", "{% elif v is none %}{{ e.text(x) }}", "{% elif v is none %}''"),
    "a number of a key is another": (
        "duckdb", "recodes", "{% if kind == 'integer' %}{{ e.integer(x) }}",
        "{% if kind == 'integer' %}{{ e.integer(x) }} + 1"),
    "one hash for order and coin": (
        "duckdb", CHOSEN, "number(q), false, q.coin)", "number(q), false, q.order)"),
    "a coin is a group's": (
        "duckdb", CHOSEN, "e.keyed(salt, number(q), false, q.coin)",
        "e.keyed(salt, group, false, q.coin)"),
    "two candidates have one number": (
        "duckdb", CHOSEN, " * {{ q.candidates }} + policy_engine_candidate",
        " + policy_engine_candidate"),
    "the least value whose coin falls": (
        "duckdb", CHOSEN, "ORDER BY policy_engine_hash, policy_engine_candidate",
        "ORDER BY policy_engine_candidate"),
    "the candidates are the values that are there": (
        "duckdb", CHOSEN, "WHERE policy_engine_candidate <= {{ q.high }}", "WHERE 1 = 0"),
    "of many values the whole of another group": (
        "duckdb", CHOSEN, "SUM(policy_engine_many) OVER (PARTITION BY policy_engine_quantile,"
        " policy_engine_group)", "SUM(policy_engine_many) OVER (PARTITION BY"
        " policy_engine_quantile)"),
    "coins by the best of another group": (
        "duckdb", CHOSEN, "MIN(policy_engine_steps) OVER (PARTITION BY policy_engine_quantile,"
        " policy_engine_group)", "MIN(policy_engine_steps) OVER (PARTITION BY"
        " policy_engine_quantile)"),
    "who is at a candidate is below it": (
        "duckdb", CHOSEN, "(policy_engine_upto - policy_engine_many)", "policy_engine_upto"),
    "half a step is none": (
        "duckdb", CHOSEN, " + {{ own(quantiles, 'less') }})", ")"),
    "no coin is needed": ("duckdb", CHOSEN, "(policy_engine_coin IS NULL OR", "(TRUE OR"),
    "a quantile of nobody is shown": (
        "duckdb", CHOSEN, "{{ q.over }} >= {{ q.least }}", "{{ q.over }} >= 0 * {{ q.least }}"),
    "a quantile of all rows of a person": (
        "duckdb", CHOSEN, "WHERE policy_engine_rank <= {{ most_rows }}", ""),
    "a quantile of all groups of a person": (
        "duckdb", CHOSEN, "WHERE policy_engine_rank <= {{ most_groups }}", ""),
    "a value that is missing is the least": (
        "duckdb", CHOSEN, "AND policy_engine_value IS NOT NULL", ""),
    "the count of values is not noised": (
        "duckdb", NOISE, "{{ rounded(q, loop.index) }} AS {{ q.total }}",
        "{{ q.total }} AS {{ q.total }}"),
    "a quantile of values that are not held": (
        "duckdb", "recodes", "THEN {{ a.most }}", "THEN {{ a.most }} + 1"),
    "NULL first (MariaDB)": ("mariadb", MARIADB, " IS NULL, {% if kind", ", {% if kind"),
}  # fmt: skip


@pytest.fixture(scope="module")
def suites(place_of):
    """For an engine: its place, and every claim with its clean text; loaded once."""
    made, found = {}, {}

    def suite(name, longest):
        if name not in made:
            place = DuckDB() if name == "duckdb" else place_of(name)
            drawn = loaded(place, seed=5, count=220 // FEWER, size=500, near=60)
            some = 60 // FEWER
            public = (*of_public_values(place, 5, 80 // FEWER, 0), *of_public_keys(place, 5, some))
            public += (*of_many_rows(place, 5, some), *of_joins(place, 5, some))
            public += (*of_spans(place, 5, some // 2),)
            public += (*of_quantiles(place, 5, 2 * some, 0), *of_long_people(place, 5, some // 5))
            made[name] = place, [*edges(place), *thresholds(place), *drawn, *public]
        place, drawn = made[name]
        if (name, longest) not in found:
            found[name, longest] = list(printable(drawn, name))
        return place, found[name, longest]

    return suite


@pytest.fixture
def templates(tmp_path, monkeypatch):
    """A copy of the templates, from which texts are printed until the test ends."""
    folder = tmp_path / "sql_templates"
    shutil.copytree(printing.templates(), folder)
    monkeypatch.setattr(printing, "templates", lambda: folder)
    printing.environment.cache_clear()
    yield folder
    printing.environment.cache_clear()


def test_what_each_fault_changes_stands_in_its_template():
    texts = {
        file: (printing.templates() / f"{file}.sql.j2").read_text(encoding="utf-8")
        for _, file, _, _ in FAULTS.values()
    }
    assert not [name for name, (_, file, right, _) in FAULTS.items() if right not in texts[file]]


def _one_of_each_template() -> set[str]:
    """Of those that DuckDB catches, and one of what is joined: 'make evidence' plants all."""
    first: dict[str, str] = {}
    for name, (engine, template, _, _) in FAULTS.items():
        if engine == "duckdb":
            first.setdefault(template, name)
    return {*first.values(), "who has no label is left out (joined)"}


_QUICK = _one_of_each_template()


@pytest.mark.parametrize(
    "name",
    [n if n in _QUICK else pytest.param(n, marks=pytest.mark.evidence) for n in FAULTS],
)
def test_a_fault_is_caught_and_its_clean_twin_passes(suites, templates, name, monkeypatch):
    engine, file, right, wrong = FAULTS[name]
    monkeypatch.setattr(printing, "LONG", 0 if "(joined)" in name else printing.LONG)
    place, suite = suites(engine, printing.LONG)
    path = templates / f"{file}.sql.j2"
    text = path.read_text(encoding="utf-8")
    assert right in text
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    printing.environment.cache_clear()
    changed = 0
    for claim, clean in suite:
        other = printing.printed(claim, engine)
        if other == clean:
            continue
        changed += 1
        meant = place.meant(claim)
        if outcome(place, claim, other) != meant:
            # The sample that a text reads is drawn by keys that the templates print as well.
            path.write_text(text, encoding="utf-8")
            printing.environment.cache_clear()
            assert outcome(place, claim, clean) == meant
            return
    pytest.fail(f"{changed} texts have the fault, and none shows it")
