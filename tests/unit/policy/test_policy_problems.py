"""Every way in which a policy file can be wrong: the place, the law, what was found, the remedy."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from policy_engine.errors import PolicyError
from policy_engine.policy.laws import Document
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.source_models import A_SOURCE_FILE, SAVED_AS

ROW = 4  # the line of `recode` in the good policy
LEFT_EMPTY = "must be a mapping, found null; write what it holds, or take the key out"

BROKEN_VALUES = [
    ("version", "version: 2", ["1:10: version must be 1, found 2"]),
    ("version", "version: 1.0", ["1:10: version must be 1, found 1.0"]),
    ("version", "version: '1'", ["1:10: version must be 1, found '1'"]),
    ("version", "version: true", ["1:10: version must be 1, found true"]),
    (
        "name",
        "name: 1st",
        [
            "2:7: name must start with a letter and hold at most 100 letters, digits, _, - and ., "
            "found '1st'"
        ],
    ),
    (
        "name",
        "name: 5",
        [
            "2:7: name must start with a letter and hold at most 100 letters, digits, _, - and ., "
            "found 5"
        ],
    ),
    ("about", "about:", [f"9:1: about {LEFT_EMPTY}"]),
    (
        "contribution",
        "contribution:  # max_groups: 2",
        [
            f"9:1: contribution {LEFT_EMPTY}",
            "9:1: contribution is of noisy_counts, and this policy draws a sample; remove it, or"
            " sample",
        ],
    ),
    (
        "k",
        "k: 1",
        ["6:4: k must be at least 2, found 1; write k: auto; noisy_counts needs none"],
    ),
    ("k", "k: 20.0", ["6:4: k must be an integer of at least 2 or auto, found 20.0"]),
    ("k", "k: true", ["6:4: k must be an integer of at least 2 or auto, found true"]),
    ("k", "k: '20'", ["6:4: k must be an integer of at least 2 or auto, found '20'"]),
    ("k", "k:", ["6:1: k must be an integer of at least 2 or auto, found null"]),
    ("k", "k: 1000000001", ["6:4: k must be at most 1000000000, found 1000000001"]),
    (
        "k",
        "k: 020",
        ["6:4: k can be read as a number or as text, found 020; put text in quotes"],
    ),
    ("k", f"k: {'9' * 61}", [f"6:4: k must be a number of at most 60 digits, found {'9' * 59}…"]),
    (
        "sample",
        "sample: {rate: 1.0}",
        [
            "5:16: sample.rate must be above 0 and below 1, found 1.0; "
            "without sampling there is no guarantee"
        ],
    ),
    (
        "sample",
        "sample: {rate: 0}",
        [
            "5:16: sample.rate must be above 0 and below 1, found 0; "
            "without sampling there is no guarantee"
        ],
    ),
    (
        "sample",
        "sample: {rate: 10%}",
        ["5:16: sample.rate must be a number above 0 and below 1 or auto, found '10%'"],
    ),
    (
        "sample",
        "sample: {rate: .nan}",
        ["5:16: sample.rate must be a number above 0 and below 1 or auto, found NaN"],
    ),
    (
        "sample",
        "sample: {rate: 0.1, method: nativ}",
        ["5:29: sample.method must be keyed or native, found 'nativ'; did you mean 'native'?"],
    ),
    (
        "sample",
        "sample: 0.1",
        ["5:9: sample must be a mapping, found 0.1; its keys are rate and method"],
    ),
    (
        "guarantee",
        "guarantee: {epsilon: -1, delta: 1.0}",
        [
            "7:22: guarantee.epsilon must be above 0, found -1",
            "7:33: guarantee.delta must be above 0 and below 1, found 1.0",
        ],
    ),
    (
        "guarantee",
        "guarantee: {epsilon: true, delta: .inf, neighbours: both}",
        [
            "7:22: guarantee.epsilon must be a number above 0, found true",
            "7:35: guarantee.delta must be a number above 0 and below 1, found Infinity",
            "7:53: guarantee.neighbours must be add_remove or replace_one, found 'both'",
        ],
    ),
    (
        "guarantee",
        "guarantee: {epsilon: 1e-400, delta: 0.1}",
        [
            "7:22: guarantee.epsilon must be 0 or a number of size from 1e-308 to 1e308, "
            "found 1e-400"
        ],
    ),
    (
        "guarantee",
        "guarantee: {}",
        ["7:1: guarantee.epsilon is missing", "7:1: guarantee.delta is missing"],
    ),
    (
        "source",
        "source: {file: a.pq, table: b}\nprivacy_unit: row",
        ["3:22: source.table must not stand beside file; keep one of them"],
    ),
    (
        "source",
        "source: {table: a, file: b.pq}\nprivacy_unit: row",
        ["3:20: source.file must not stand beside table; keep one of them"],
    ),
    (
        "source",
        "source: {}\nprivacy_unit: row",
        ["3:1: source must have file or table, found neither"],
    ),
    (
        "source",
        "source: {file: a.pq}\nprivacy_unit: null",
        [
            "9:15: privacy_unit must be row or a mapping with column, found null;"
            " as in {column: person_id, rows: any}"
        ],
    ),
    (
        "source",
        "source: {file: a.pq}\nprivacy_unit: rows",
        [
            "9:15: privacy_unit must be row or a mapping with column, found 'rows'; "
            "as in {column: person_id, rows: any}"
        ],
    ),
    *(
        (
            "source",
            f"source: {{file: a.pq}}\nprivacy_unit: {unit}",
            [
                "4:15: recode.age is the column of privacy_unit, so that every group is one person"
                " and none is released; leave it out, or recode it"
            ],
        )
        for unit in ("{column: age, rows: any}", "{column: age, rows: one}")
    ),
    (
        "source",
        "source: {file: a.pq}\nprivacy_unit: {column: p}",
        [
            "9:1: privacy_unit.rows must be any, one or a mapping with first_by where a sample is"
            " drawn, found all; one row of a person counts then"
        ],
    ),
    (
        "source",
        "source: {file: a.pq}\nprivacy_unit: {column: p, rows: first}",
        [
            "9:33: privacy_unit.rows must be all, any, one or a mapping with first_by, found"
            " 'first'; as in {first_by: [visit_date desc]}"
        ],
    ),
    (
        "source",
        "source: {file: a.pq}\nprivacy_unit: {rows: {first_by: [d desc, d]}}",
        [
            "9:15: privacy_unit must have column or columns, found neither;"
            " as in {column: person_id, rows: any}",
            "9:42: privacy_unit.rows.first_by[1] orders by 'd' a second time",
        ],
    ),
    (
        "source",
        "source: {file: a.pq}\nprivacy_unit: {column: p, columns: [q, r], rows: one}",
        ["9:27: privacy_unit.columns must not stand beside column; keep one of them"],
    ),
    (
        "source",
        "source: {file: a.pq}\nprivacy_unit: {column: p, rows: {first_by: d desc}}",
        [
            "9:44: privacy_unit.rows.first_by must be a list of columns, found 'd desc'; "
            "as in [visit_date desc]"
        ],
    ),
    (
        "source",
        "source: {file: a.pq}\nprivacy_unit: {column: p, rows: {first_by: [5]}}",
        ["9:45: privacy_unit.rows.first_by[0] must be text, found 5; put it in quotes"],
    ),
    (
        "source",
        "source: {file: a.pq}\nprivacy_unit: {column: A b, rows: {first_by: [A b desc]}}",
        [
            "9:46: privacy_unit.rows.first_by orders a person's rows by 'A b', in which all"
            " of them are the same; order by another column, as in [visit_date desc], or write"
            " rows: any, which draws one"
        ],
    ),
    (
        "source",
        "source: {file: a.pq, sampled_at: 1.5}\nprivacy_unit: row",
        ["3:34: source.sampled_at must be above 0 and at most 1, found 1.5"],
    ),
    (
        "source",
        "source: {file: a.pq, columns: {age: int, AGE: text}}\nprivacy_unit: row",
        [
            "3:37: source.columns.age must be integer, double, text, boolean, date or timestamp, "
            "found 'int'; did you mean 'integer'?",
        ],
    ),
    (
        "source",
        "source: {file: a, columns: {id: integer}}\nprivacy_unit: {column: id, rows: any}",
        [
            "3:33: source.columns.id must be left out because it names the person and is compared"
            " as it stands, found 'integer'; convert it in the source, or leave it out of"
            " source.columns"
        ],
    ),
    (
        "source",
        "source: {file: a.csv, columns: {id: date}}\nprivacy_unit: {column: id, rows: one}",
        [
            "3:37: source.columns.id must be left out because it names the person and is compared"
            " as it stands, found 'date'; convert it in the source, or leave it out of"
            " source.columns"
        ],
    ),
    (
        "source",
        "source: {file: ' '}\nprivacy_unit: row",
        [
            "3:16: source.file must be text that is not blank and has no line break or control "
            "character, found ' '"
        ],
    ),
    (
        "source",
        'source: {file: "a\\nb"}\nprivacy_unit: row',
        [
            "3:16: source.file must be text that is not blank and has no line break or control "
            "character, found 'a\\nb'"
        ],
    ),
    (
        "source",
        "source: {file: null}\nprivacy_unit: row",
        ["3:16: source.file must be text, found null"],
    ),
    ("release", "release: {as: rows}", ["8:1: release must have file or table, found neither"]),
    (
        "release",
        "release: {file: ./A.parquet}",
        ["8:17: release.file must not be the source itself; release to a place of its own"],
    ),
    (
        "release",
        "release: {file: b.parquet, as: row}",
        ["8:32: release.as must be counts or rows, found 'row'; did you mean 'rows'?"],
    ),
    (
        "release",
        "release: {file: b.parquet}\ncount: {people: Age}",
        [
            "4:10: recode.age is the name of a count too, 'Age'; "
            "give the count another name, as in count: {people: how_many}"
        ],
    ),
    ("account", "account: null", ["9:10: account must be text, found null"]),
    (
        "description",
        f"description: {'a' * 4001}",
        [
            "9:14: description must have at most 4,000 characters, found 4,001; say the rest in a"
            " document, and name it here"
        ],
    ),
    (
        "description",
        "description: 5",
        ["9:14: description must be text, found 5; put it in quotes"],
    ),
    (
        "grouping",
        "grouping: raw",
        [
            "9:11: grouping must be auto, raw_first or recoded, found 'raw'; "
            "did you mean 'raw_first'?"
        ],
    ),
    ("acount", "acount: x", ["9:1: acount is an unknown key; did you mean 'account'?"]),
    (
        "warehouse",
        "warehouse: x",
        [
            "9:1: warehouse is an unknown key; a table is named with its warehouse: source: {table:"
            " WAREHOUSE.TABLE}"
        ],
    ),
    (
        "xyz",
        "xyz: x",
        [
            "9:1: xyz is an unknown key; allowed here: version, name, description, purpose, "
            "about, source, privacy_unit, recode, refresh, period, revise, filter, mechanism, "
            "sample, noise, contribution, count, measures, rollup, marginals, public_groups, "
            "part, k, auto, models, guarantee, release, account, search, grouping"
        ],
    ),
    (
        "recode",
        "recode: {}",
        [
            "4:9: recode must be a mapping of column: recoding, found an empty mapping; "
            "name at least one column, or uncomment one"
        ],
    ),
    (
        "recode",
        "recode:\n  # age: keep",
        [
            "4:1: recode must be a mapping of column: recoding, found null; "
            "name at least one column, or uncomment one"
        ],
    ),
    (
        "release",
        "release: {file: out/b.csv}",
        [
            "8:17: release.file must end in .parquet, found 'out/b.csv'; 'policy-engine show"
            " --output FILE.csv' writes it as CSV"
        ],
    ),
    (
        "release",
        "release: {file: b.parquet, as: rows}\ncount: {people: persons}",
        ["9:1: count must not stand beside release.as: rows, which has no count; remove it"],
    ),
    *(
        (
            "source",
            f'source: {{file: "{path}"}}\nprivacy_unit: row',
            [f"3:16: source.file must end in {A_SOURCE_FILE}, found '{path}'; {SAVED_AS}"],
        )
        for path in ("people.json", "people.parquet.gz", "people.PARQUET.doc")
    ),
    *(
        (
            "source",
            f'source: {{file: "{path}"}}\nprivacy_unit: row',
            [
                f"3:16: source.file must name one file or folder, without *, ? and [, found"
                f" '{path}'; name the folder, of which all files are read, or rename the file"
            ],
        )
        for path in ("data/*.parquet", "p?.csv", "year[0-9].pq", "**/p.parquet", "*")
    ),
    *(
        (
            "source",
            f'source: {{file: "{path}"}}\nprivacy_unit: row',
            [
                f"3:16: source.file must be a file of this machine, found '{path}'; "
                "remote files are not read: copy it here"
            ],
        )
        for path in ("s3://bucket/p.parquet", "https://example.org/*.csv", "file:///p.csv")
    ),
    (
        "release",
        "release: {file: ' '}",
        [
            "8:17: release.file must be text that is not blank and has no line break or control "
            "character, found ' '"
        ],
    ),
    (
        "recode",
        "recode: [age]",
        ["4:9: recode must be a mapping of column: recoding, found a list"],
    ),
]

WRITE = "cuts are fixed before the data is looked at: write them out, as in [18, 30, 45]"

BROKEN_CHOICES = [
    (
        "maximise: people, prior: {}",
        ["26: auto.prior must have sizes, or people and groups, found neither"],
    ),
    ("maximise: people, prior: {people: 5}", ["26: auto.prior.groups is missing"]),
    (
        "maximise: person, prior: 3",
        [
            "18: auto.maximise must be people or groups, found 'person'",
            "33: auto.prior must be a mapping, found 3; its keys are sizes, people, groups and"
            " exponent",
        ],
    ),
    (
        "maximise: people, prior: {people: 5, groups: 6}",
        [
            "42: auto.prior.people must be at least 6, the number of groups, found 5; "
            "a group has at least one person"
        ],
    ),
    (
        "maximise: people, prior: {people: 0, groups: 1000001, exponent: 10.1}",
        [
            "42: auto.prior.people must be at least 1, found 0",
            "53: auto.prior.groups must be at most 1000000, found 1000001",
            "72: auto.prior.exponent must be from 0 to 10, found 10.1",
        ],
    ),
    (
        "maximise: people, prior: {sizes: {5: 1}, people: 5, exponent: 1}",
        [
            "49: auto.prior.people must not stand beside sizes; keep one of them",
            "60: auto.prior.exponent must not stand beside sizes; keep one of them",
        ],
    ),
    (
        "maximise: people, prior: {sizes: {0: 1, 5: 0, 1000000001: 1}}",
        [
            "42: auto.prior.sizes.0 is no size: a size must be an integer from 1 to 1000000000",
            "51: auto.prior.sizes.5 must be at least 1, found 0",
            "54: auto.prior.sizes.1000000001 is no size: "
            "a size must be an integer from 1 to 1000000000",
        ],
    ),
    (
        "maximise: people, prior: {sizes: [5, 3]}",
        ["41: auto.prior.sizes must be a mapping of size: number of groups, found a list"],
    ),
]

BROKEN_RECODINGS = [
    (
        "{bins: [30, 18]}",
        ["recode.a.bins[1] must be greater than the cut before it, 30, found 18"],
        16,
    ),
    (
        "{bins: [1, 2, 2.0]}",
        ["recode.a.bins[2] must be greater than the cut before it, 2, found 2.0"],
        18,
    ),
    (
        "{bins: [1, 2020-01-01]}",
        ["recode.a.bins[1] must be one of numbers like the cuts before"],
        15,
    ),
    (
        "{bins: [2020-01-01, '2020-01-01 12:00']}",
        ["recode.a.bins[1] must be one of dates like the cuts before"],
        24,
    ),
    (
        "{bins: [[18, 30]]}",
        [
            "recode.a.bins[0] must be a number, a date or a timestamp, found a list; "
            "write the cuts only, as in [18, 30, 45]"
        ],
        12,
    ),
    (
        "{bins: [.inf]}",
        [
            "recode.a.bins[0] must be a number, a date or a timestamp, found Infinity; "
            "the first and the last bin are open already"
        ],
        12,
    ),
    (
        "{bins: [true]}",
        ["recode.a.bins[0] must be a number, a date or a timestamp, found true"],
        12,
    ),
    (
        "{bins: [2020-02-30]}",
        ["recode.a.bins[0] must be a number, a date or a timestamp, found '2020-02-30'"],
        12,
    ),
    (
        "{bins: ['2020-01-01T00:00:00Z']}",
        [
            "recode.a.bins[0] must be a number, a date or a timestamp, found "
            "'2020-01-01T00:00:00Z'; write it without a zone; times with a zone are compared in UTC"
        ],
        12,
    ),
    (
        "{bins: []}",
        [
            "recode.a.bins must be a list of numbers, dates or timestamps, found an empty list; "
            + WRITE
        ],
        11,
    ),
    (
        "{bins: quantile}",
        [
            "recode.a.bins must be a list of numbers, dates or timestamps, found 'quantile'; "
            + WRITE
        ],
        11,
    ),
    (
        "{quantiles: 4}",
        [
            "recode.a.quantiles is an unknown recoding; a recoding is fixed before the data is "
            "looked at: write bins out, as in [18, 30, 45]"
        ],
        5,
    ),
    (
        "{bins: [1], labels: [a]}",
        ["recode.a.labels must be 2 labels, one more than the cuts, found 1"],
        16,
    ),
    ("{bins: [1], labels: [a, a]}", ["recode.a.labels[1] is 'a' a second time"], 28),
    (
        "{bins: [1], labels: [a, true]}",
        ["recode.a.labels[1] must be text or an integer, found true; put it in quotes"],
        28,
    ),
    (
        "{bins: [1], lables: [a, b]}",
        ["recode.a.lables is an unknown key; did you mean 'labels'?"],
        16,
    ),
    (
        "{map: {x: y}}",
        ["recode.a.other is missing; name what stands for every other value, or write other: null"],
        1,
    ),
    (
        "{map: {x: 1.5}, other: y}",
        ["recode.a.map.x must be text, an integer or null, found 1.5; put it in quotes"],
        14,
    ),
    (
        "{map: {}, other: y}",
        ["recode.a.map must be a mapping of value: label, found an empty mapping"],
        10,
    ),
    (
        "{map: {1.5: x, ~: z}, other: y}",
        [
            "a key must be text, an integer, a boolean or a date, found 1.5; put it in quotes",
            "a key must be text, an integer, a boolean or a date, found null; put it in quotes",
        ],
        (11, 19),
    ),
    (
        "{map: {007: x}, other: y}",
        ["the key can be read as a number or as text, found 007; put text in quotes"],
        11,
    ),
    (
        "{map: {1: x, '1': z}, other: y}",
        ["the key '1' is written twice, first in line 4; remove one of them"],
        17,
    ),
    ("{prefix: 0}", ["recode.a.prefix must be at least 1, found 0"], 13),
    ("{prefix: '3'}", ["recode.a.prefix must be an integer of at least 1, found '3'"], 13),
    (
        "{prefix: 3, level: 2}",
        ["recode.a.level is an unknown key; allowed here: prefix, missing"],
        16,
    ),
    (
        "{truncate: monthly}",
        [
            "recode.a.truncate must be year, quarter, month, week, day or hour, found 'monthly'; "
            "did you mean 'month'?"
        ],
        15,
    ),
    ("{round: 0}", ["recode.a.round must be above 0, found 0"], 12),
    ("{round: '5'}", ["recode.a.round must be a number above 0, found '5'"], 12),
    ("{constant: null}", ["recode.a.constant must be text or an integer, found null"], 15),
    (
        "{keep: true}",
        ["recode.a.keep is an unknown recoding; write keep alone, without a mapping"],
        5,
    ),
    (
        "{prefix: 1, round: 2}",
        ["recode.a.round is a second recoding beside prefix; a column has exactly one"],
        16,
    ),
    (
        "{prefx: 1}",
        ["recode.a.prefx is an unknown recoding; did you mean 'prefix'?"],
        5,
    ),
    (
        "drop",
        [
            "recode.a must be keep or a mapping with one recoding, found 'drop'; the recodings are "
            "keep, bins, hierarchy, map, prefix, truncate, round, constant, levels"
        ],
        4,
    ),
    (
        "{}",
        [
            "recode.a must be keep or a mapping with one recoding, found an empty mapping; "
            "the recodings are keep, bins, hierarchy, map, prefix, truncate, round, constant, "
            "levels"
        ],
        4,
    ),
]

BROKEN_YAML = [
    ("", ["1:1: the policy file is empty"]),
    ("# only a comment\n", ["1:1: the policy file is empty"]),
    ("~", ["1:1: the policy file is empty"]),
    ("- a\n", ["1:1: the policy file is not a mapping of keys to values"]),
    ("text", ["1:1: the policy file is not a mapping of keys to values"]),
    (
        "007",
        [
            "1:1: the value can be read as a number or as text, found 007; put text in quotes",
            "1:1: the policy file is not a mapping of keys to values",
        ],
    ),
    ("a: [1, 2\n", ["2:1: not YAML: expected ',' or ']', but got '<stream end>'"]),
    (
        "a:\n\t- 1\n",
        [
            "2:1: not YAML: found character '\\t' that cannot start any token; "
            "indent with spaces, not tabs"
        ],
    ),
    (
        "a: @b\n",
        [
            "1:4: not YAML: found character '@' that cannot start any token; "
            "put text that holds special characters in quotes"
        ],
    ),
    (
        "a: b: c\n",
        [
            "1:5: not YAML: mapping values are not allowed here; "
            "put text that holds special characters in quotes"
        ],
    ),
    (
        "a:\n b: keep\n\n  # and\n  c: keep\n",
        [
            "5:3: not YAML: this line is indented by 2, and line 2 above it by 1; the keys of one"
            " mapping have the same indent"
        ],
    ),
    (
        "a:\n b: keep\n  c: keep\n",
        [
            "3:4: not YAML: this line is indented by 2, and line 2 above it by 1; the keys of one"
            " mapping have the same indent"
        ],
    ),
    (
        "a:\n  b: {c: 1}\n   d: 1\n",
        [
            "3:4: not YAML: this line is indented by 3, and line 2 above it by 2; the keys of one"
            " mapping have the same indent"
        ],
    ),
    (
        "a:\n  b: c\n d: 1\n",
        [
            "3:2: not YAML: this line is indented by 1, and line 2 above it by 2; the keys of one"
            " mapping have the same indent"
        ],
    ),
    ("a: 1\nb: \x01", ["2:4: the file holds a character that is not text"]),
    ('a: "\\U99999999"', ["1:1: not YAML: the value after this one cannot be read"]),
    (
        "a: &x [1]\nb: *x\n",
        ["1:4: anchors and aliases (& and *) are not part of the language; write the value out"],
    ),
    (
        "b: *x\n",
        ["1:4: anchors and aliases (& and *) are not part of the language; write the value out"],
    ),
    ("a: 1\n---\nb: 1\n", ["2:1: the file must hold one YAML document, found a second"]),
    (
        "? [a]\n: 1\n",
        [
            "1:3: a key must be text, found a list or mapping; "
            "text that starts with { or [ needs quotes"
        ],
    ),
    ("a: " + "[" * 100_000, ["1:23: values may lie at most 20 levels deep"]),
    ("a: " + "{a: " * 5_000, ["1:80: values may lie at most 20 levels deep"]),
    (" " * 1_000_001, ["1:1: the file must be at most 1000000 characters"]),
]


@pytest.mark.parametrize(("key", "line", "expected"), BROKEN_VALUES)
def test_a_broken_value(problems, key, line, expected):
    assert problems(**{key: line}) == expected


@pytest.mark.parametrize(("choice", "expected"), BROKEN_CHOICES)
def test_a_broken_choice(problems, choice, expected):
    lines = {"sample": "sample: {rate: auto}", "k": "k: auto", "auto": f"auto: {{{choice}}}"}
    assert problems(**lines) == [f"9:{message}" for message in expected]


@pytest.mark.parametrize(
    ("lines", "given"),
    [
        ({}, "k and sample.rate are given"),
        ({"k": "k: auto"}, "sample.rate is given"),
        ({"sample": "sample: {rate: auto}"}, "k is given"),
    ],
)
def test_a_choice_without_anything_to_choose(problems, lines, given):
    auto = "auto: {maximise: people, prior: {people: 9, groups: 2}}"
    assert problems(**lines, auto=auto) == [
        f"9:1: auto chooses k and sample.rate together, but {given}; "
        "write auto for both, or remove this key"
    ]


def test_a_choice_that_is_empty_or_beside_what_is_broken(problems):
    both = {"sample": "sample: {rate: auto}", "k": "k: auto"}
    assert problems(**both, auto="auto:") == [f"9:1: auto {LEFT_EMPTY}"]
    # What else is wrong with k and the sample is told once.
    assert problems(sample="sample: 1", k="", auto="auto: 1") == [
        "1:1: k is missing",
        "5:9: sample must be a mapping, found 1; its keys are rate and method",
        "9:7: auto must be a mapping, found 1; its keys are maximise and prior",
    ]


def test_the_mapping_of_a_count_is_said_and_is_a_good_one(problems, load):
    """It said that it was a mapping, and not which."""
    [told] = problems(count="count: members")
    assert "count must be a mapping, found 'members'; as in count: {people: members}, or" in told
    people, both = re.findall(r"count: \{.*?\}", told)
    assert load(count=people).release.count_as == "members"
    source = "source: {file: a.parquet}\nprivacy_unit: {column: id}"
    many = "contribution: {max_groups: 2, max_rows_per_group: 2}\nmechanism: noisy_counts"
    assert load(source=source, sample=many, k="", count=both).release.count_as == "members"


def of_documents(kind=Document):
    """Every mapping that a file of the project can have."""
    return [kind, *(other for each in kind.__subclasses__() for other in of_documents(each))]


@pytest.mark.parametrize("model", of_documents()[1:], ids=lambda model: model.__name__)
def test_whatever_must_be_a_mapping_says_which(model):
    with pytest.raises(ValidationError) as caught:
        model.model_validate(3)
    [found] = caught.value.errors()
    assert found["msg"] == "must be a mapping, found 3"
    assert re.match(r"as in |its keys? (is|are) |it needs |write ", found["ctx"]["remedy"])


@pytest.mark.parametrize(("recoding", "expected", "columns"), BROKEN_RECODINGS)
def test_a_broken_recoding(problems, recoding, expected, columns):
    places = columns if isinstance(columns, tuple) else (columns,)
    head = "recode: {a: "  # the recoding starts in column 13
    assert problems(recode=f"{head}{recoding}}}") == [
        f"{ROW}:{len(head) - 3 + place}: {message}"
        for place, message in zip(places, expected, strict=True)
    ]


@pytest.mark.parametrize(("raw", "expected"), BROKEN_YAML)
def test_text_that_is_no_policy(problems, raw, expected):
    assert problems(raw) == expected


def test_a_key_written_twice_names_both_lines(problems):
    assert problems(again="k: 30") == [
        "9:1: the key 'k' is written twice, first in line 6; remove one of them"
    ]


def test_merge_keys_and_tags_and_old_yaml_are_refused(problems, text):
    assert problems(recode="recode:\n  <<: {a: keep}\n  a: !!str keep") == [
        "5:3: merge keys (<<) are not part of the language; write the values out",
        "6:6: tags are not part of the language, found !!str; remove it",
    ]
    assert problems("%YAML 1.1\n---\n" + text()) == [
        "2:1: the language is YAML 1.2; remove the %YAML line"
    ]
    assert problems(recode="recode: !x {a: keep}") == [
        "4:9: tags are not part of the language, found !x; remove it"
    ]


def test_text_holds_no_half_character(problems):
    assert problems(recode='recode: {a: {constant: "\\ud800"}}') == [
        "4:24: text must not hold half a surrogate pair"
    ]


def test_text_holds_no_nul(problems):
    assert problems(recode='recode: {a: {constant: "x\\0y"}}') == [
        "4:24: text must not hold the character NUL"
    ]


def test_column_names(problems):
    assert problems(recode='recode: {n: keep, age: keep, Age: keep, "a\\nb": keep}') == [
        "4:10: recode.n is the name of a count too, 'n'; "
        "give the count another name, as in count: {people: how_many}",
        "4:30: recode.Age must differ from the column 'age' by more than case",
        '4:41: recode["a\\nb"] is no column name: a name must be text that is not blank and has no '
        "line break or control character, found 'a\\nb'",
    ]


def test_several_problems_come_in_the_order_of_the_file(problems):
    raw = """\
k: 1
recode:
  age: {bins: [30, 18], lables: [a]}
  job: {map: {a: b}}
  edu: {hierarchy: missing.csv, level: 1}
release: {file: x.parquet, table: y}
extra: 1
"""
    assert problems(raw) == [
        "1:1: version is missing",
        "1:1: name is missing",
        "1:1: source is missing",
        "1:1: privacy_unit is missing; write privacy_unit: row where each row is one person, and"
        " {column: …} with the column that says whose a row is where a person can have several",
        "1:1: guarantee is missing",
        "1:4: k must be at least 2, found 1; write k: auto; noisy_counts needs none",
        "3:20: recode.age.bins[1] must be greater than the cut before it, 30, found 18",
        "3:25: recode.age.lables is an unknown key; did you mean 'labels'?",
        "4:3: recode.job.other is missing; "
        "name what stands for every other value, or write other: null",
        "5:20: recode.edu.hierarchy names missing.csv, which does not exist",
        "6:28: release.table must not stand beside file; keep one of them",
        "7:1: extra is an unknown key; allowed here: version, name, description, purpose, "
        "about, source, privacy_unit, recode, refresh, period, revise, filter, mechanism, "
        "sample, noise, contribution, count, measures, rollup, marginals, public_groups, "
        "part, k, auto, models, guarantee, release, account, search, grouping",
    ]


def test_the_path_of_a_problem(tmp_path, text):
    with pytest.raises(PolicyError) as caught:
        load_policy_text(
            text(recode="recode: {a: {bins: [1, 01]}, b: {bins: [2, 1]}}"), "p", tmp_path
        )
    assert [found.path for found in caught.value.problems] == [
        "recode.a.bins[1]",
        "recode.b.bins[1]",
    ]
    assert {found.file for found in caught.value.problems} == {"p"}


def test_a_long_value_is_cut(problems):
    (found,) = problems(k="k: " + "x" * 500)
    assert found.endswith("found '" + "x" * 59 + "…'")
