"""`public_groups`: what a policy of public keys says, and must not."""

import re
from pathlib import Path

import pytest
from test_noise_policies import PLAIN, load, problems

from policy_engine.errors import PolicyError
from policy_engine.policy.loading import load_policy_text

BOTH = PLAIN.replace(
    "{sex: keep}", "{sex: keep, age: {bins: [30], labels: [young, old]}, all: {constant: '*'}}"
)
LISTS = "public_groups: {age: [young, old], sex: [F, 1, null]}\n"


def test_keys_are_lists_whose_product_is_taken_or_rows():
    found = load(BOTH + LISTS).noise
    assert found.keys == (
        (("age",), (("young",), ("old",))),
        (("sex",), (("F",), ("1",), (None,))),
    )
    rows = load(BOTH + "public_groups: [{sex: F, age: young}, {age: null, sex: 1}]\n").noise
    assert rows.keys == ((("age", "sex"), (("young", "F"), (None, "1"))),)
    assert found.table == rows.table != load(BOTH).noise.table
    assert (found.least_shown(1), load(BOTH).noise.least_shown(1)) == (-14, 14)


def test_the_order_of_columns_changes_no_digest():
    other = "public_groups: {sex: [F, 1, null], age: [young, old]}\n"
    assert load(BOTH + LISTS).digest == load(BOTH + other).digest
    assert load(BOTH + LISTS).digest != load(BOTH).digest


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("k: 5", "cannot stand beside k, because a listed group is always shown"),
        (
            "noise: {distribution: negative_binomial}",
            "cannot stand beside noise.distribution: negative_binomial, which needs a threshold",
        ),
        ("rollup: {to: [sex]}", "cannot stand beside rollup"),
        ("marginals: [[sex], [age, all]]", "cannot stand beside marginals"),
        ("models: {own: {l_diversity: 2, of: sex}}", "cannot stand beside models"),
        ("sample: {rate: 0.1}\nk: 5", "is of noisy_counts, and this policy draws a sample"),
    ],
)
def test_what_cannot_stand_beside_keys(more, found):
    assert any(
        each.startswith(f"public_groups {found}") for each in problems(BOTH + LISTS + more + "\n")
    )


def test_rows_have_no_negative_count():
    rows = BOTH.replace("out.parquet", "out.parquet, as: rows")
    assert problems(rows + LISTS)[0].startswith(
        "public_groups cannot stand beside release.as: rows"
    )


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ("[]", "public_groups must list values by column, or rows"),
        ("5", "public_groups must list values by column, or rows"),
        ("[5]", "public_groups must list values by column, or rows"),
        ("{sex: F, age: [young]}", "public_groups.sex must be a list of values, found 'F'"),
        ("{sex: [], age: [young]}", "public_groups.sex must be a list of values, found none"),
        ("{sex: [F, F], age: [young]}", "public_groups has a group twice: 'F'"),
        ("{sex: [1.5], age: [young]}", "public_groups must be text, an integer or null, found 1.5"),
        (
            "[{sex: F, age: young}, {sex: M}]",
            "public_groups[1] must have a value for each of age, sex",
        ),
        ("{sex: [F]}", "public_groups must have values for every column of recode, not for age"),
        (
            "{sex: [F], age: [young], all: ['*']}",
            "public_groups must name columns of recode that are no constants, found all",
        ),
        (
            "{sex: [F], age: [young], town: [x]}",
            "public_groups must name columns of recode that are no",
        ),
        (
            f"{{sex: {[*range(400)]}, age: {[*range(400)]}}}",
            "public_groups must be at most 100,000, found 160,000",
        ),
    ],
)
def test_what_is_no_list_of_keys(keys, found):
    told = problems(BOTH + f"public_groups: {keys}\n")
    assert any(each.startswith(found) for each in told), told


ALL = "public_groups: auto\n"


def test_all_groups_are_those_of_columns_that_say_their_values():
    mapped = BOTH.replace("{sex: keep,", "{sex: {map: {F: f}, other: null},")
    found = load(mapped + ALL).noise
    assert found.keys == "auto"
    assert found.table == load(BOTH + LISTS).noise.table
    told = problems(BOTH + ALL)
    assert told == [
        "public_groups is auto, and of column 'sex' keep does not say which values there are;"
        " recode it by bins or map, or list the groups: public_groups: {file: groups.csv}"
    ]
    visited = mapped.replace("all: {constant: '*'}", "at: {truncate: week}")
    assert problems(visited + ALL)[0].startswith(
        "public_groups is auto, and of column 'at' truncate does not say which values there are;"
        " a period by at bounds it"
    )
    period = "period: {column: At, every: month, from: '2026-01'}\n"
    placed = visited.replace("file: out.parquet", "file: 'out-{edition}.parquet'")
    assert load(placed + ALL + period).noise.keys


def _in(folder, content, more=""):
    (folder / "groups.csv").write_bytes(content)
    text = BOTH + "public_groups: {file: groups.csv}\n" + more
    return load_policy_text(text, folder / "policy.yaml", folder)


def test_groups_of_a_file_are_those_that_are_written_in_the_policy(tmp_path):
    rows = (
        BOTH + "public_groups: [{age: young, sex: F}, {age: null, sex: '1'}, {age: old, sex: ü}]\n"
    )
    for content in ("age,sex\nyoung,F\n,1\nold,ü\n", 'sex;age\r\nF;young\r\n1;\r\n"ü";old'):
        found = _in(tmp_path, content.encode())
        assert (found.noise, found.digest) == (load(rows).noise, load(rows).digest)
    # A column that is called file has a list.
    named = BOTH.replace("age:", "file:") + "public_groups: {file: [young], sex: [F]}\n"
    assert load(named).noise.keys[0] == (("file",), (("young",),))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "public_groups.file names {}, which needs a heading with the columns, and a row"),
        (b"age,sex\n", "public_groups.file names {}, which needs a heading with the columns"),
        (b"age,sex\nyoung\n", "the list of groups has 1 columns here but 2 in its heading"),
        (b"age,sex\nold,F\nold,F\n", "the list of groups has the group of line 2 again"),
        (b"age,age\nold,F\n", "the list of groups must name each column in its heading, once"),
        (b"age,sex\nold,\xff\n", "the list of groups is not UTF-8 text"),
        (b"age\nold\n", "public_groups.file {}: must have values for every column of recode, not"),
        (b"age,town\nold,x\n", "public_groups.file {}: must name columns of recode that are no"),
    ],
)
def test_what_is_no_file_of_groups(tmp_path, content, found):
    with pytest.raises(PolicyError) as caught:
        _in(tmp_path, content)
    told = [each.message for each in caught.value.problems]
    assert any(each.startswith(found.format(tmp_path / "groups.csv")) for each in told), told


def test_a_file_of_groups_that_is_not_there_is_told(tmp_path):
    (tmp_path / "group.csv").write_text("")
    text = BOTH + "public_groups: {file: groups.csv}\n"
    with pytest.raises(PolicyError, match=r"does not exist; did you mean 'group.csv'\?"):
        load_policy_text(text, tmp_path / "policy.yaml", tmp_path)


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("is_folder", [False, True])
def test_the_source_is_no_public_list_of_groups(tmp_path, link, is_folder):
    """What stands in the source tells who does, by whatever name it is called."""
    place = tmp_path / "people" / "a.csv" if is_folder else tmp_path / "people.csv"
    place.parent.mkdir(exist_ok=True)
    place.write_text("age,sex\nyoung,F\n")
    file = place.relative_to(tmp_path)
    if link:
        (tmp_path / "groups.csv").symlink_to(place)
        file = Path("groups.csv")
    source = "people" if is_folder else "people.csv"
    text = re.sub(r"source: \{file: [^}]*\}", f"source: {{file: {source}}}", BOTH)
    text = text.replace("people.parquet", source)
    with pytest.raises(PolicyError, match="is the source, or one of its files"):
        load_policy_text(text + f"public_groups: {{file: {file}}}\n", tmp_path / "p.yaml", tmp_path)
