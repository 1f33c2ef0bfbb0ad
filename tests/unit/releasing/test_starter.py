"""A starter policy: from the schema alone, valid once its suggestions are uncommented."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_schemas import json_schema, project_schema

from policy_engine.compile.catalog import Field
from policy_engine.compile.column_names import person_key
from policy_engine.errors import FileError, PolicyError, UsageError, WarehouseError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import load_project
from policy_engine.policy.tree import read_tree
from policy_engine.releasing.preview import preview
from policy_engine.releasing.starter import _name, _scalar, suggestion, write_starter
from policy_engine.releasing.validation import check_policy

SUGGESTED = re.compile(r"^  # (.*: .*)(?=    # [A-Z_])", re.MULTILINE)
TYPES = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL(4,1)", "DECIMAL(18,3)", "DECIMAL(38,10)",
    "VARCHAR", "BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS",
    "TIMESTAMP_NS", "TIMESTAMPTZ", "UUID", "BLOB", "INTERVAL", "BIT", "INTEGER[]",
    "STRUCT(a INTEGER, \"b c\" VARCHAR)", "MAP(VARCHAR, INTEGER)", "ENUM('x', 'y')",
)  # fmt: skip
NAMES = (
    "select", "with space", 'quo"te', "ünï✓", "null", "yes", "no", "123", "1.5", "2020-01-01",
    "a: b", "#hash", "-", "{x}", "[", "it's", "~", "back\\slash", "keep", "n", "a,b", " lead",
    "trail ", "007", "<<", "&a", "*a", "!t", "%", "@", "`", "|", ">", "?", "true", "عمر", "😀",
    "line\nbreak", "\x7f", "x" * 300,
)  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def decided(path: str | Path) -> str:
    """The starter, of which the author says that a row is a person where nothing tells it."""
    text = Path(path).read_text("utf-8")
    if "\nprivacy_unit: " in text:
        return text
    return text.replace("\n# privacy_unit: row ", "\nprivacy_unit: row ")


def uncommented(path: Path) -> Path:
    """The starter with every suggestion taken, and with its choice made."""
    full = path.with_name("full.yaml")
    full.write_text(SUGGESTED.sub(r"  \1", decided(path)), "utf-8")
    return full


def wide(path: Path) -> None:
    columns = ", ".join(f'NULL::{kind} AS "{kind.lower().replace(chr(34), "")}"' for kind in TYPES)
    duckdb.sql(f"COPY (SELECT {columns}) TO '{path}' (FORMAT parquet)")


def test_every_type_has_a_suggestion_that_is_valid(folder):
    wide(folder / "wide.parquet")
    write_starter("wide.parquet", Path("policy.yaml"))
    text = Path("policy.yaml").read_text()
    assert "  # uuid seems to name one person or row, leave it out    # UUID" in text
    assert len(SUGGESTED.findall(text)) == len(TYPES) - 1
    full = uncommented(Path("policy.yaml"))
    assert len(load_policy(full).columns) == len(TYPES) - 1
    assert check_policy(full).problems == ()


NAMED = (
    ("passenger_age", "SMALLINT", "{bins: [18, 30, 45, 65]}"),
    ("birthYear", "BIGINT", "{bins: [1950, 1960, 1970, 1980, 1990, 2000, 2010, 2020]}"),
    ("annual income", "DOUBLE", "{bins: [10000, 20000, 30000, 50000, 75000, 100000]}"),
    ("ticket.price", "DECIMAL(9,2)", "{bins: [10, 20, 50, 100, 200, 500, 1000]}"),
    ("hours-per-week", "INTEGER", "{bins: [10, 20, 30, 40, 50]}"),
    ("n_children", "INTEGER", "{bins: [1, 2, 3, 5, 10]}"),
    ("whatever", "INTEGER", "{bins: [1, 10, 100, 1000, 10000]}"),
    ("zip_code", "VARCHAR", "{prefix: 2}"),
    ("zip_code", "INTEGER", f"{{bins: [{', '.join(f'{n}0000' for n in range(1, 10))}]}}"),
    ("born", "DATE", "{truncate: year}"),
    ("ordered_at", "TIMESTAMPTZ", "{truncate: quarter}"),
    ("plan", "VARCHAR", "keep"),
    ("mood", "ENUM('glad', 'sad')", "keep"),
    ("smokes", "BOOLEAN", "keep"),
    ("e_mail", "VARCHAR", ""),
    ("last name", "VARCHAR", ""),
    ("product name", "VARCHAR", "keep"),
    ("customerNumber", "VARCHAR", ""),
    ("id", "BIGINT", ""),
    ("industry_code", "INTEGER", "keep"),
    ("industry_code", "DOUBLE", "{bins: [1, 10, 100, 1000, 10000]}"),
    ("wage_per_hour", "INTEGER", "{bins: [6, 12, 18]}"),
    ("idle", "BIGINT", "{bins: [1, 10, 100, 1000, 10000]}"),
    ("anything", "UUID", ""),
)


@pytest.mark.parametrize(("name", "kind", "told"), NAMED)
def test_a_column_is_cut_as_its_name_and_type_are_by_convention(name, kind, told):
    assert suggestion(Field(name, kind)) == told


def test_not_all_numbers_are_cut_alike(folder):
    numbers = {name: pa.array([1.5]) for name, kind, told in NAMED if told and kind != "DATE"}
    pq.write_table(pa.table(numbers), folder / "numbers.parquet")
    write_starter("numbers.parquet", Path("policy.yaml"))
    full = uncommented(Path("policy.yaml"))
    recodings = dict(load_policy(full).recodings)
    assert len({str(recoding) for recoding in recodings.values()}) > 6
    assert check_policy(full).problems == ()


@pytest.mark.parametrize(
    "limit",
    ["{epsilon: 3, delta: 1.0e-6}", "{epsilon: 1, delta: 1.0e-6}",
     "{epsilon: 0.09, delta: 1.0e-12}"],
)  # fmt: skip
@pytest.mark.parametrize("editions", [5, 12])
def test_so_many_editions_fill_the_account(folder, limit, editions):
    """Twelve of a table with dates, which grows, and five of any other."""
    (folder / "policy-engine.yaml").write_text(f"accounts: {{people: {limit}}}\n")
    columns = {"age": [1], "visited": [date(2026, 1, 1)]} if editions == 12 else {"age": [1]}
    pq.write_table(pa.table(columns), folder / "people.parquet")
    write_starter("people.parquet", Path("policy.yaml"))
    full = uncommented(Path("policy.yaml"))
    policy = load_policy(full)
    assert policy.follows is not None and policy.follows.editions == editions
    assert check_policy(full).problems == ()
    left = preview(policy).left
    assert left is not None and left.alike == editions


@pytest.mark.parametrize(
    ("accounts", "epsilon"),
    [
        ("{a: {epsilon: 3, delta: 1.0e-6}, b: {epsilon: 1, delta: 1.0e-6}}", "0.2"),
        ("{a: {}}", "0.5"),
        ("{a: {epsilon: 0.5, delta: 1.0e-6, plan: {b: {editions: 1}}}}", "0.1"),
    ],
)
def test_where_no_account_is_meant_the_guarantee_leaves_room_in_each(folder, accounts, epsilon):
    (folder / "policy-engine.yaml").write_text(f"accounts: {accounts}\n")
    pq.write_table(pa.table({"age": [1], "plan": ["a"]}), folder / "people.parquet")
    write_starter("people.parquet", Path("policy.yaml"))
    assert f"guarantee: {{epsilon: {epsilon}, delta: 1.0e-7}}\n" in Path("policy.yaml").read_text()


def test_editors_find_the_schemas_that_the_first_lines_name(folder):
    pq.write_table(pa.table({"age": [1]}), folder / "people.parquet")
    write_starter("people.parquet", Path("policy.yaml"))
    schemas = []
    for text in (Path("policy.yaml").read_text(), Path("policy-engine.yaml").read_text()):
        line = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
        assert line is not None
        schemas.append(json.loads(Path(line[1]).read_text()))
    assert schemas == [json_schema(), project_schema()]
    assert "!*.schema.json" in Path(".policy-engine/.gitignore").read_text()
    Path(".policy-engine/policy.schema.json").write_text("{}")  # of another version
    write_starter("people.parquet", Path("sub/deep/policy.yaml"))
    first = Path("sub/deep/policy.yaml").read_text().splitlines()[0]
    assert first.endswith("=../../.policy-engine/policy.schema.json")
    assert json.loads(Path(".policy-engine/policy.schema.json").read_text()) == json_schema()


def test_whose_row_it_is(folder):
    table = pa.table({"order_id": [1], "customer_id": [2], "sold on": pa.array([0], pa.date32())})
    assert person_key([Field("order_id", "BIGINT")]) is None
    pq.write_table(table, folder / "orders.parquet")
    write_starter("orders.parquet", Path("policy.yaml"))
    text = Path("policy.yaml").read_text()
    assert (
        "\nprivacy_unit: {column: customer_id}   # this column says whose row it is; all rows"
        in text
    )
    # A new user's visits by month were cut by a fifth, and nothing said so before the release.
    told = "If a person is in more groups, only so many of them count, and the numbers get too low."
    said = text.split(told)[1].splitlines()
    assert "'policy-engine suggest' can lower it" in said[1]
    assert said[2] == "# count_cut: true tells how many people have more."
    assert said[4] == "contribution: {max_groups: 4, max_rows_per_group: 10}"
    one = 'privacy_unit: {column: customer_id, rows: {first_by: ["sold on desc"]}}'
    assert f"\n# {one}   # only a person's last row counts\n# privacy_unit: row " in text
    assert "\ncount: {people: n, rows: n_rows}   # people decide what is shown" in text
    full = uncommented(Path("policy.yaml"))
    assert check_policy(full).problems == ()
    policy = load_policy(full)
    assert policy.source.counts_all
    assert policy.beside == ("n_rows",)
    alone = re.sub(r"(?m)^(privacy_unit|contribution|count): .*\n", "", full.read_text())
    full.write_text(alone.replace(f"# {one}", one))
    assert load_policy(full).source.order_by == (("sold on", "desc"),)


TABLES = {
    "besuche": {
        "Patienten-Nr": ("BIGINT", ""), "Aufnahme": ("DATE", "{truncate: year}"),
        "Alter": ("INTEGER", "{bins: [18, 30, 45, 65]}"), "Vorname": ("VARCHAR", ""),
        "Eigenanteil": ("DECIMAL(9,2)", "{bins: [10, 20, 50, 100, 200, 500, 1000]}"),
    },
    "visites": {
        "numéro_patient": ("BIGINT", ""), "entrée": ("DATE", "{truncate: year}"),
        "âge": ("INTEGER", "{bins: [18, 30, 45, 65]}"), "prénom": ("VARCHAR", ""),
        "coût": ("DOUBLE", "{bins: [10, 20, 50, 100, 200, 500, 1000]}"),
    },
    "visitas": {
        "id_cliente": ("BIGINT", ""), "fecha": ("TIMESTAMP", "{truncate: quarter}"),
        "edad": ("INTEGER", "{bins: [18, 30, 45, 65]}"), "apellidos": ("VARCHAR", ""),
        "año": ("INTEGER", "{bins: [1950, 1960, 1970, 1980, 1990, 2000, 2010, 2020]}"),
        "pagado": ("DECIMAL(10, 2)", "{bins: [10, 20, 50, 100, 200, 500, 1000]}"),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_in_another_language_is_known_by_its_shape(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    columns = ", ".join(f'"{column}" {kind}' for column, (kind, _) in TABLES[name].items())
    with duckdb.connect("d.duckdb") as connection:
        connection.execute(f"CREATE TABLE {name} ({columns})")
    Path("policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 1, delta: 1.0e-6}}\n"
        "warehouses: {own: {type: duckdb, database: d.duckdb}}\n"
    )
    write_starter(f"own.main.{name}", Path("policy.yaml"))
    text = Path("policy.yaml").read_text("utf-8")
    key, day, *_ = TABLES[name]
    assert f"\nprivacy_unit: {{column: {key}}}" in text
    assert f"\n# period: {{column: {day}, every: month" in text
    assert "\ncontribution: {max_groups: 4, max_rows_per_group: 10}" in text
    for column, (_, recoding) in TABLES[name].items():
        told = f": {recoding}" if recoding else " seems to name one person or row, leave it out"
        assert f"\n  # {column}{told} " in text
    assert check_policy(uncommented(Path("policy.yaml"))).problems == ()


def test_every_name_is_a_key_or_is_said_to_be_none(folder):
    table = pa.table({name: pa.array([1]) for name in NAMES})
    pq.write_table(table, folder / "names.parquet")
    write_starter("names.parquet", Path("policy.yaml"))
    text = Path("policy.yaml").read_text("utf-8")
    assert text.count("cannot be released under this name") == 2
    policy = load_policy(uncommented(Path("policy.yaml")))
    assert '# "#hash" seems to name one person or row, leave it out' in text
    released = [name for name in NAMES if name.isprintable() and name != "#hash"]
    assert policy.columns == tuple(released)
    assert policy.release.count_as == "n_2"
    assert check_policy(Path("full.yaml")).problems == ()


@given(st.text(min_size=1).filter(str.strip))
def test_a_scalar_reads_as_its_text(text):
    node, problems = read_tree(f"{_scalar(text)}: 1", "p")
    if problems:  # a NUL or half a surrogate pair is refused by the language
        assert "\0" in text or not text.isprintable()
        return
    assert node is not None
    assert node.data() == {text: 1}


def test_nothing_uncommented_is_a_clear_problem(folder):
    wide(folder / "wide.parquet")
    write_starter("wide.parquet", Path("policy.yaml"))
    with pytest.raises(PolicyError) as caught:
        load_policy("policy.yaml")
    unit, recode = caught.value.problems
    assert "privacy_unit" in unit.message and "{column: …}" in unit.remedy
    assert (recode.line, recode.message[:29]) == (18, "recode must be a mapping of c")


def test_values_are_never_written(folder):
    duckdb.sql(
        "COPY (SELECT 'Miriam' AS name, 4711 AS salary) TO 'people.parquet' (FORMAT parquet)"
    )
    write_starter("people.parquet", Path("policy.yaml"))
    text = Path("policy.yaml").read_text() + Path("policy-engine.yaml").read_text()
    assert "Miriam" not in text
    assert "4711" not in text


def test_a_folder_of_files_has_a_key(folder):
    (folder / "parts").mkdir()
    pq.write_table(pa.table({"person_id": [1], "age": [2]}), folder / "parts" / "a.parquet")
    write_starter("parts", Path("policy.yaml"))
    text = Path("policy.yaml").read_text()
    assert (
        "privacy_unit: {column: person_id, rows: any}   # only one" in text
        and "\nprivacy_unit: {column: person_id}   # this column says whose" in text
        and "privacy_unit: row" not in text
    )


OF_A_CSV = re.compile(r"^  # (.*: (?:keep|\{prefix: 2\}))(?:    # .*)?$", re.MULTILINE)


def started(source: str) -> str:
    """A starter of a CSV file, every column kept; it is a policy that its source fits."""
    write_starter(source, Path("policy.yaml"))
    text = Path("policy.yaml").read_text("utf-8")
    Path("full.yaml").write_text(OF_A_CSV.sub(r"  \1", decided("policy.yaml")), "utf-8")
    assert check_policy(Path("full.yaml")).problems == ()
    return text


def test_the_folder_that_one_stands_in_is_a_folder(folder, monkeypatch):
    (folder / "many").mkdir()
    pq.write_table(pa.table({"id": [1], "age": [2]}), folder / "many" / "a.parquet")
    monkeypatch.chdir(folder / "many")
    write_starter(".", Path("policy.yaml"))
    text = Path("policy.yaml").read_text()
    assert "name: many\n" in text
    assert 'file: "."\n' in text


def test_csv_is_text(folder):
    (folder / "people.csv").write_text("age,full name\n4711,Miriam\n")
    text = started("people.csv")
    assert "  # age: keep    # or as integer {bins: [18, 30, 45, 65]}\n" in text
    assert '  # "full name" seems to name one person or row, leave it out\n' in text
    assert "Miriam" not in text and "{map: {some" not in text
    typed = (
        Path("full.yaml")
        .read_text()
        .replace("# columns: {age: integer}", "columns: {age: integer}")
    )
    Path("full.yaml").write_text(typed.replace("age: keep", "age: {bins: [9]}"))
    assert check_policy(Path("full.yaml")).problems == ()


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("Alter;Straße\n1;x\n".encode("cp1252"), '{delimiter: ";", encoding: windows-1252}'),
        ("Alter;Straße\n1;x\n".encode("utf-8-sig"), '{delimiter: ";"}'),
        ("Alter\tStraße\n1\tx\n".encode("utf-16"), '{delimiter: "\\t", encoding: utf-16}'),
        (b"sep=|\r\nage|sex\r\n", '{delimiter: "|", skip: 1}'),
    ],
)
def test_what_the_first_line_tells_of_a_csv_is_written(folder, content, options):
    (folder / "people.csv").write_bytes(content)
    assert f"\n  csv: {options}\n" in started("people.csv")


@pytest.mark.parametrize(
    "first", ["Miriam,4711", "Miriam,a@b.org", "Miriam,2001-02-03", "Miriam,,x", "Miriam,Miriam",
              "Miriam,NA", 'Miriam,"x\ny"', "Miriam,+49 (0)30/123", "Miriam,7 €", "Miriam,12:30"],
)  # fmt: skip
def test_the_first_line_of_a_csv_without_a_header_is_not_written(folder, first):
    (folder / "people.csv").write_text(f"{first}\nEva,1\n")
    width = first.count(",") + 1
    columns = ", ".join(f"column_{number + 1}" for number in range(width))
    assert f"csv: {{header: false, columns: [{columns}]}}" in write_and_read("people.csv")
    assert "Miriam" not in Path("policy.yaml").read_text("utf-8")
    assert (
        "If it is a header, it is no person: write header: true" in Path("policy.yaml").read_text()
    )
    (folder / "guess.yaml").write_text(
        decided("policy.yaml")
        .replace("csv: {", "# csv: {")
        .replace("# column_1: keep", "Mirjam: keep")
    )
    [problem] = check_policy(Path("guess.yaml")).problems
    assert "Miriam" not in str(problem) and "header: false" in str(problem)


def write_and_read(source: str) -> str:
    write_starter(source, Path("policy.yaml"))
    return Path("policy.yaml").read_text("utf-8")


@pytest.mark.parametrize("first", [b"age,s\0x", b"\x8f\x02\xff|\x1b", b"age,\x9d"])
def test_what_is_no_text_gets_no_policy(folder, first):
    (folder / "people.csv").write_bytes(first + b"\n1,2\n")
    with pytest.raises(FileError, match=r"the first line of .*people.csv is not CSV in "):
        write_starter("people.csv", Path("policy.yaml"))
    assert not Path("policy.yaml").exists()


def test_that_the_first_line_is_taken_for_names_is_said_in_the_policy(folder):
    (folder / "texts.csv").write_text("Ada,Ulm\nBen,Ulm\n")
    assert "# the first line names the columns; if it is a row: {header: false" in started(
        "texts.csv"
    )


def test_no_row_of_a_csv_is_read(folder):
    (folder / "people.csv").write_bytes(b"age,sex\n\xff\xfe,'\",,,\n")
    assert "# sex: keep" in write_and_read("people.csv")


def test_without_a_source_there_is_an_example(folder):
    assert write_starter(None, Path("policy.yaml")) == (
        Path("policy.yaml"), Path("policy-engine.yaml")
    )  # fmt: skip
    Path("policy.yaml").write_text(decided("policy.yaml"), "utf-8")
    policy = load_policy("policy.yaml")
    assert policy.columns == ("age", "sex")
    checked = check_policy(Path("policy.yaml"))
    assert checked.problems == ()
    assert "data/people.parquet is not there" in checked.unchecked


def test_paths_with_spaces_and_other_folders(folder, monkeypatch):
    data, elsewhere = folder / "the data", folder / "x"
    data.mkdir()
    elsewhere.mkdir()
    wide(data / "weird: #1.parquet")
    monkeypatch.chdir(elsewhere)
    output = Path("../new folder/deep/p.yaml")
    write_starter("../the data/weird: #1.parquet", output)
    full = uncommented(output)
    assert load_policy(full).source.path == "../../the data/weird: #1.parquet"
    assert check_policy(full).problems == ()
    assert load_policy(full).name == "weird_1"


def test_a_folder_behind_a_link(folder):
    (folder / "real" / "deep").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "real" / "deep")
    wide(folder / "wide.parquet")
    write_starter("wide.parquet", Path("link/p.yaml"))
    assert check_policy(uncommented(Path("link/p.yaml"))).unchecked == ""


@pytest.mark.parametrize("place", ["policy.yaml", "."])
def test_nothing_is_overwritten(folder, place):
    (folder / "policy.yaml").write_text("mine")
    with pytest.raises(FileError, match="exists; name another file with --output"):
        write_starter(None, Path(place))
    assert [path.name for path in folder.iterdir()] == ["policy.yaml"]
    assert (folder / "policy.yaml").read_text() == "mine"


def test_a_project_that_is_there_stays(folder):
    (folder / "policy-engine.yaml").write_text("accounts: {census: {}, hospital: {}}\n")
    wide(folder / "wide.parquet")
    assert write_starter("wide.parquet", Path("sub/p.yaml")) == (Path("sub/p.yaml"),)
    text = Path("sub/p.yaml").read_text()
    assert "# account: the account that pays, of policy-engine.yaml (census, hospital)" in text
    assert load_policy(uncommented(Path("sub/p.yaml"))).budget == "../wide.parquet"
    (folder / "policy-engine.yaml").write_text("{}\n")
    write_starter("wide.parquet", Path("sub/q.yaml"))
    assert "\n# accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}" in Path("sub/q.yaml").read_text()


def test_the_only_account_of_a_project_pays(folder):
    (folder / "policy-engine.yaml").write_text("accounts: {'a: b': {}}\n")
    wide(folder / "wide.parquet")
    write_starter("wide.parquet", Path("p.yaml"))
    assert (
        'account: "a: b"            # an account of policy-engine.yaml'
        in Path("p.yaml").read_text()
    )
    assert load_policy(uncommented(Path("p.yaml"))).budget == "a: b"


def test_a_project_with_problems_is_told(folder):
    (folder / "policy-engine.yaml").write_text("acounts: {}\n")
    with pytest.raises(PolicyError, match="did you mean 'accounts'"):
        write_starter(None, Path("policy.yaml"))
    assert not Path("policy.yaml").exists()


def test_what_cannot_be_written_leaves_nothing(folder):
    (folder / "file").write_text("")
    with pytest.raises(FileError, match="could not be written: a part of its path is a file"):
        write_starter(None, Path("file/policy.yaml"))
    (folder / "policy-engine.yaml").symlink_to(folder / "nowhere")
    with pytest.raises(FileError, match=r"policy-engine\.yaml could not be written: File exists"):
        write_starter(None, Path("policy.yaml"))
    assert not Path("policy.yaml").exists()


@pytest.mark.parametrize("source", ["nope.parquet", "nope", "folder", "empty.csv", "notes.doc"])
def test_sources_that_are_none(folder, source):
    (folder / "folder").mkdir()
    (folder / "empty.csv").write_text("")
    (folder / "notes.doc").write_text("hello")
    with pytest.raises(FileError, match=source):
        write_starter(source, Path("policy.yaml"))
    assert not Path("policy.yaml").exists()


@pytest.mark.parametrize("name", ["own.duckdb", "OWN.DB", "gone.ddb"])
def test_a_database_is_no_table(folder, name):
    if not name.startswith("gone"):
        (folder / name).write_bytes(b"DUCK")
    with pytest.raises(UsageError) as caught:
        write_starter(name, Path("policy.yaml"))
    assert str(caught.value) == (
        f"{name} is a database: name it in policy-engine.yaml, as in warehouses: {{here: {{type:"
        f" duckdb, database: {name}}}}}, and an account that limits the releases, accounts:"
        " {people: {epsilon: 1.0, delta: 1.0e-6}}, and name a table by schema and name:"
        " 'policy-engine init main.visits'"
    )
    assert not Path("policy.yaml").exists()


def test_the_remedy_for_a_database_leads_to_a_limited_account(folder):
    """It named no account: the starter of whoever followed it had none, and no limit."""
    with duckdb.connect("own.duckdb") as connection:
        connection.execute("create table visits (patient_id integer, seen date, age integer)")
    with pytest.raises(UsageError) as caught:
        write_starter("own.duckdb", Path("policy.yaml"))
    lines = re.findall(r"(?:warehouses|accounts): \{.*?\}\}", str(caught.value))
    Path("policy-engine.yaml").write_text("\n".join(lines))
    write_starter("main.visits", Path("policy.yaml"))
    assert "\naccount: people " in Path("policy.yaml").read_text()
    left = preview(load_policy(uncommented(Path("policy.yaml")))).left
    assert left is not None and left.alike == 12


@pytest.mark.parametrize("is_searched", [False, True])
def test_the_unit_is_the_same_with_levels_to_search_among(folder, is_searched):
    """With only the last row of each person the counts of months rose though nothing had risen."""
    table = pa.table({"borrower_id": [1], "lent": pa.array([0], pa.date32()), "days": [3]})
    pq.write_table(table, folder / "loans.parquet")
    levels = (lambda column: "keep") if is_searched else None
    write_starter("loans.parquet", Path("policy.yaml"), levels)
    text = Path("policy.yaml").read_text()
    assert "\nprivacy_unit: {column: borrower_id}   # this column says" in text
    assert "\ncontribution: {max_groups: 4, max_rows_per_group: 10}" in text
    assert "\ncount: {people: n, rows: n_rows}" in text


def test_a_csv_has_types_a_period_and_a_year_of_editions_by_its_names(folder):
    (folder / "loans.csv").write_text("borrower_id,branch,loan_date,days_kept,fee\n")
    text = started("loans.csv")
    types = "{loan_date: date, days_kept: integer, fee: double}"
    assert f"\n  # columns: {types}   # or" in text
    assert "\n# period: {column: loan_date, every: month" in text
    assert "\n# and uncomment its type in source.columns\n" in text
    assert "\nguarantee: {editions: 12}" in text
    assert "\n  # loan_date: keep    # or as date {truncate: year}\n" in text
    assert "\n  # days_kept: keep    # or as integer {bins: [7, 14, 28, 84, 364]}\n" in text
    full = text.replace("# columns: {", "columns: {").replace("# period: {", "period: {")
    for told in re.findall(r"  # \w+: keep    # or as .*", text):
        column, recoding = re.findall(r"# (\w+): .*# or as \w+ (.*)", told)[0]
        full = full.replace(told, f"  {column}: {recoding}")
    full = full.replace("file: out/loans.parquet", 'file: "out/loans-{edition}.parquet"')
    Path("full.yaml").write_text(full)
    assert check_policy(Path("full.yaml")).problems == ()


def test_a_table_without_a_database_is_told(folder):
    with pytest.raises(FileError) as caught:
        write_starter("events", Path("policy.yaml"))
    assert str(caught.value).startswith("the source events is not there; looked for ")
    assert (
        "; if it is a table, find its warehouse and name it in policy-engine.yaml, as in"
        " warehouses: {here: {type: postgres, url: postgresql://user@host/database}}, and an"
        " account that limits the releases, accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}, and"
        " name a table by schema and name: 'policy-engine init SCHEMA.events'; other warehouses"
        " are {type: mariadb, url: mariadb://user@host:3306/database}, "
    ) in str(caught.value)
    with pytest.raises(FileError) as caught:
        write_starter("events.csv", Path("policy.yaml"))
    assert "warehouses" not in str(caught.value)
    with pytest.raises(FileError, match=r"'policy-engine init library\.loans'; other warehouses"):
        write_starter("library.loans", Path("policy.yaml"))


def test_each_warehouse_that_is_named_to_begin_with_is_a_good_one(folder):
    """It was DuckDB alone, whatever server a table was on."""
    with pytest.raises(FileError) as caught:
        write_starter("library.loans", Path("policy.yaml"))
    text, project = str(caught.value), Path("policy-engine.yaml")
    [accounts] = re.findall(r"accounts: \{.*?\}\}", text)
    told = re.findall(r"\{type: .*?\}", text)
    assert [re.search(r"\w+", each[6:])[0] for each in told] == [
        "postgres", "mariadb", "clickhouse", "spark", "duckdb", "datafusion", "sqlite", "dbt"
    ]  # fmt: skip
    for each in told:
        project.write_text(f"warehouses: {{here: {each}}}\n{accounts}\n")
        kind = load_project(project).warehouse.type
        assert f"type: {kind}," in each
    project.write_text(accounts)
    Path("t.yaml").write_text(
        "version: 1\nname: t\nsource: {table: t}\nprivacy_unit: row\nrecode: {a: keep}\n"
        "guarantee: {epsilon: 1, delta: 1e-6}\nrelease: {file: out/t.parquet}\naccount: people\n"
    )
    with pytest.raises(WarehouseError) as refused:
        preview(load_policy(Path("t.yaml")))
    assert all(each in str(refused.value) for each in told)


def test_the_remedy_of_a_table_without_a_warehouse_leads_to_a_policy_that_plans(folder):
    with pytest.raises(FileError) as caught:
        write_starter("main.visits", Path("policy.yaml"))
    with closing(sqlite3.connect("visits.sqlite")) as made, made:
        made.execute("create table visits (branch text, age integer) strict")
    warehouse = re.search(r"\{type: sqlite, .*?\}", str(caught.value))[0]
    [accounts] = re.findall(r"accounts: \{.*?\}\}", str(caught.value))
    here = warehouse.replace("FILE", "visits")
    Path("policy-engine.yaml").write_text(f"warehouses: {{here: {here}}}\n{accounts}\n")
    [command] = re.findall(r"'policy-engine init (.*?)'", str(caught.value))
    write_starter(command, Path("policy.yaml"))
    # A row may be the person: of noisy counts rows without numbers can be people too.
    full = uncommented(Path("policy.yaml"))
    assert "\nprivacy_unit: row " in full.read_text()
    assert check_policy(full).problems == ()
    assert preview(load_policy(full)).certificate.unit == "row"


def test_the_commented_warehouse_is_a_good_one(folder):
    with duckdb.connect("own.duckdb") as connection:
        connection.execute("create table main.db (age integer)")
    write_starter(None, Path("policy.yaml"))
    project = Path("policy-engine.yaml")
    text = project.read_text()
    project.write_text(text.replace("# warehouses:", "warehouses:").replace("#   own", "  own"))
    write_starter("main.db", Path("other.yaml"))
    assert "table: main.db" in Path("other.yaml").read_text()


def test_a_view_is_a_source_whose_rows_have_a_key(folder):
    with duckdb.connect("w.duckdb") as connection:
        connection.execute("create table people (patient_id integer, age integer)")
        connection.execute("create view adults as select patient_id, age from people")
    Path("policy-engine.yaml").write_text(
        "warehouses: {w: {type: duckdb, database: w.duckdb}}\n"
        "accounts: {people: {epsilon: 1, delta: 1.0e-6}}\n"
    )
    write_starter("adults", Path("policy.yaml"))
    assert "\n  view: rowwise " in Path("policy.yaml").read_text()
    assert (
        "\nprivacy_unit: {column: patient_id}   # this column says"
        in Path("policy.yaml").read_text()
    )
    full = uncommented(Path("policy.yaml"))
    assert check_policy(full).problems == ()
    assert load_policy(full).source.key == "patient_id"


def test_a_source_without_a_name(folder):
    with pytest.raises(UsageError, match="the source has no name; name a file or a table"):
        write_starter(" ", Path("policy.yaml"))
    assert list(folder.iterdir()) == []


def test_a_table_of_the_warehouse(folder):
    with duckdb.connect("w.duckdb") as connection:
        connection.execute("create table people (age integer, mood enum ('glad', 'sad'))")
    Path("policy-engine.yaml").write_text("warehouses: {w: {type: duckdb, database: w.duckdb}}\n")
    write_starter("main.people", Path("policy.yaml"))
    text = Path("policy.yaml").read_text()
    assert "table: main.people" in text
    assert "name: people" in text
    assert "glad" not in text
    assert check_policy(uncommented(Path("policy.yaml"))).problems == ()
    with pytest.raises(WarehouseError, match="there is no file nope either"):
        write_starter("nope", Path("other.yaml"))


@pytest.mark.parametrize(
    ("stem", "name"),
    [("people", "people"), ("a b-c", "a_b_c"), ("2024", "release_2024"), ("é", "release"),
     ("x" * 300, "x" * 100)],
)  # fmt: skip
def test_names(stem, name):
    assert _name(stem) == name


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (["Patienten-Nr", "besuch"], "Patienten-Nr"),
        (["Rechnung-Nr", "kunde_id"], "kunde_id"),
        (["kundennummer"], "kundennummer"),
        (["id_tienda", "nummer", "haus_nr", "id", "order_id", "artikel_nr"], None),
        (["visite_id", "Numéro client"], "Numéro client"),
    ],
)
def test_a_key_is_known_by_its_shape_in_any_language(names, key):
    found = person_key([Field(name, "BIGINT") for name in names])
    assert (found and found.name) == key


def test_what_the_catalog_says_of_a_key_is_believed(tmp_path, monkeypatch):
    """A declared key is of one row, and another column says whose it is."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("d.duckdb") as connection:
        connection.execute(
            "create table besuche (patient_nr integer primary key, kunde_id integer)"
        )
        connection.execute("create table kunden (kunde_id integer primary key, alter integer)")
    Path("policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 1, delta: 1.0e-6}}\n"
        "warehouses: {own: {type: duckdb, database: d.duckdb}}\n"
    )
    for table in ("besuche", "kunden"):
        write_starter(table, Path(f"{table}.yaml"))
    told = Path("besuche.yaml").read_text()
    assert (
        "\nprivacy_unit: {column: kunde_id}   # this column says whose row it is; all rows" in told
    )
    assert "# patient_nr seems to name one person or row" in told
    told = Path("kunden.yaml").read_text()
    assert "\nprivacy_unit: row " in told
    assert "\n# privacy_unit: {column: kunde_id, rows: one} " in told


@pytest.mark.parametrize(
    ("names", "likely"),
    [
        (["loan_id", "borrower", "branch"], "borrower"),
        (["no_asmens", "asmuo_id"], "asmuo_id"),
        (["id_sklepu", "asmuo_id"], "asmuo_id"),
        (["membership_id", "town"], "membership_id"),
    ],
)
def test_a_key_that_is_not_named_as_people_are_is_proposed_and_not_chosen(folder, names, likely):
    """A key may be of a row: who has several would be protected for one of them alone."""
    Path("loans.csv").write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n")
    write_starter("loans.csv", Path("policy.yaml"))
    text = Path("policy.yaml").read_text()
    assert "\nprivacy_unit" not in text
    assert f"\n# privacy_unit: {{column: {likely}}}   # this column says whose row it is" in text
    assert "privacy_unit" in {each.path for each in check_policy(Path("policy.yaml")).problems}


def test_a_view_without_a_key_that_is_named_as_people_are(folder):
    with duckdb.connect("w.duckdb") as connection:
        connection.execute("create table lent (loan_id integer, reader_code text, pages integer)")
        connection.execute("create view loans as select loan_id, pages from lent")
    Path("policy-engine.yaml").write_text(
        "warehouses: {w: {type: duckdb, database: w.duckdb}}\n"
        "accounts: {people: {epsilon: 1, delta: 1.0e-6}}\n"
    )
    write_starter("loans", Path("policy.yaml"))
    text = Path("policy.yaml").read_text()
    assert "\nprivacy_unit" not in text
    assert "\n# privacy_unit: {column: person_id}   # all rows" in text


def test_a_unique_column_is_not_proposed_as_whose_row_it_is(folder):
    """No two rows have one value of it: it protected a row, where a card has many."""
    with duckdb.connect("w.duckdb") as connection:
        connection.execute(
            "create table journeys (journey_id integer primary key, card_id integer)"
        )
    Path("policy-engine.yaml").write_text(
        "warehouses: {w: {type: duckdb, database: w.duckdb}}\n"
        "accounts: {people: {epsilon: 1, delta: 1.0e-6}}\n"
    )
    write_starter("journeys", Path("policy.yaml"))
    text = Path("policy.yaml").read_text()
    assert "column: journey_id" not in text
    assert "\n# privacy_unit: {column: card_id}   # this column says whose row it is" in text
