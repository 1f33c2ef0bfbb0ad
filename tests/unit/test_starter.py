"""A starter policy: from the schema alone, valid once its suggestions are uncommented."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.compile.catalog import Kind
from policy_engine.errors import FileError, PolicyError, UsageError, WarehouseError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.tree import read_tree
from policy_engine.starter import _name, _scalar, _suggestion, write_starter
from policy_engine.validation import check_policy

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


def uncommented(path: Path) -> Path:
    """The starter with every suggestion taken."""
    full = path.with_name("full.yaml")
    full.write_text(SUGGESTED.sub(r"  \1", path.read_text("utf-8")), "utf-8")
    return full


def wide(path: Path) -> None:
    columns = ", ".join(f'NULL::{kind} AS "{kind.lower().replace(chr(34), "")}"' for kind in TYPES)
    duckdb.sql(f"COPY (SELECT {columns}) TO '{path}' (FORMAT parquet)")


def test_every_type_has_a_suggestion_that_is_valid(folder):
    wide(folder / "wide.parquet")
    write_starter("wide.parquet", Path("policy.yaml"))
    assert len(SUGGESTED.findall(Path("policy.yaml").read_text())) == len(TYPES)
    full = uncommented(Path("policy.yaml"))
    assert len(load_policy(full).columns) == len(TYPES)
    assert check_policy(full).problems == ()


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_suggestion(kind):
    assert _suggestion(kind)


def test_every_name_is_a_key_or_is_said_to_be_none(folder):
    table = pa.table({name: pa.array([1]) for name in NAMES})
    pq.write_table(table, folder / "names.parquet")
    write_starter("names.parquet", Path("policy.yaml"))
    text = Path("policy.yaml").read_text("utf-8")
    assert text.count("cannot be released under this name") == 2
    policy = load_policy(uncommented(Path("policy.yaml")))
    assert policy.columns == tuple(name for name in NAMES if name.isprintable())
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
    with pytest.raises(PolicyError, match=r"policy.yaml:8:1: recode must be a mapping of column"):
        load_policy("policy.yaml")


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
    assert "unit: {key: person_id}" in text and "unit: row" not in text


def test_csv_is_text(folder):
    (folder / "people.csv").write_text("age,full name\n4711,Miriam\n")
    write_starter("people.csv", Path("policy.yaml"))
    text = Path("policy.yaml").read_text()
    assert '# "full name": {map:' in text
    assert "columns: {age: integer, born: date}" in text
    assert check_policy(uncommented(Path("policy.yaml"))).problems == ()
    typed = Path("full.yaml").read_text()
    typed = typed.replace("unit: row", "columns: {age: integer}\n  unit: row")
    typed = typed.replace("age: {map: {some value: some label}, other: other}", "age: {bins: [9]}")
    Path("full.yaml").write_text(typed)
    assert check_policy(Path("full.yaml")).problems == ()


def test_without_a_source_there_is_an_example(folder):
    assert write_starter(None, Path("policy.yaml")) == (
        Path("policy.yaml"), Path("policy-engine.yaml")
    )  # fmt: skip
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
    assert "# budget: the account that pays, of policy-engine.yaml (census, hospital)" in text
    assert load_policy(uncommented(Path("sub/p.yaml"))).budget == "../wide.parquet"
    (folder / "policy-engine.yaml").write_text("{}\n")
    write_starter("wide.parquet", Path("sub/q.yaml"))
    assert "(none yet)" in Path("sub/q.yaml").read_text()


def test_the_only_account_of_a_project_pays(folder):
    (folder / "policy-engine.yaml").write_text("accounts: {'a: b': {}}\n")
    wide(folder / "wide.parquet")
    write_starter("wide.parquet", Path("p.yaml"))
    assert (
        'budget: "a: b"             # an account of policy-engine.yaml'
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


@pytest.mark.parametrize("source", ["nope.parquet", "nope", "folder", "empty.csv", "notes.txt"])
def test_sources_that_are_none(folder, source):
    (folder / "folder").mkdir()
    (folder / "empty.csv").write_text("")
    (folder / "notes.txt").write_text("hello")
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
        f"{name} is a database: name it under 'warehouses:' in policy-engine.yaml, then init TABLE"
    )
    assert not Path("policy.yaml").exists()


def test_a_table_without_a_database_is_told(folder):
    with pytest.raises(FileError) as caught:
        write_starter("events", Path("policy.yaml"))
    assert str(caught.value).startswith("the source events is not there; looked for ")
    assert str(caught.value).endswith(
        "; if it is a table, find its database and name it under 'warehouses:' in"
        " policy-engine.yaml, then init TABLE"
    )
    with pytest.raises(FileError) as caught:
        write_starter("events.csv", Path("policy.yaml"))
    assert "warehouses" not in str(caught.value)


def test_the_commented_warehouse_is_a_good_one(folder):
    with duckdb.connect("own.duckdb") as connection:
        connection.execute("create table main.db (age integer)")
    write_starter(None, Path("policy.yaml"))
    project = Path("policy-engine.yaml")
    text = project.read_text()
    project.write_text(text.replace("# warehouses:", "warehouses:").replace("#   own", "  own"))
    write_starter("main.db", Path("other.yaml"))
    assert "relation: main.db" in Path("other.yaml").read_text()


def test_a_view_is_refused_as_a_release_refuses_it(folder):
    with duckdb.connect("w.duckdb") as connection:
        connection.execute("create table people (age integer)")
        connection.execute("create view adults as select age from people")
    Path("policy-engine.yaml").write_text("warehouses: {w: {type: duckdb, database: w.duckdb}}\n")
    told = "w.main.adults must be a table, found a view; name the table that it reads, or make"
    with pytest.raises(UsageError, match=told):
        write_starter("adults", Path("policy.yaml"))
    assert not Path("policy.yaml").exists()


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
    assert "relation: main.people" in text
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
