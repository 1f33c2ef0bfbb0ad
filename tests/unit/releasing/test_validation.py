"""What is found about policy files before anything runs."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.errors import Finding, NotCertifiable, Problem, WarehouseFailed
from policy_engine.releasing import validation
from policy_engine.releasing.due import make_ready
from policy_engine.releasing.preview import about
from policy_engine.releasing.validation import check_policies, check_policy

POLICY = """\
version: 1
name: a
source: {file: people.parquet}
privacy_unit: row
recode:
  age: {bins: [30, 60]}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 0.5, delta: 1.0e-9}
release: {file: out/a.parquet}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"age": [1, 2, 3]}), "people.parquet")

    def write(name="a.yaml", **changes):
        text = POLICY
        for old, new in changes.values():
            assert old in text
            text = text.replace(old, new)
        Path(name).write_text(text)
        return Path(name)

    return write


def test_a_good_policy(write):
    checked = check_policy(write())
    assert (checked.problems, checked.unchecked) == ((), "")
    assert checked.policy is not None


def test_the_guarantee_is_checked_without_the_source(write):
    file = write(k=("k: 20", "k: 3"), source=("people.parquet", "nope.parquet"))
    checked = check_policy(file)
    assert "nope.parquet is not there" in checked.unchecked
    [problem] = checked.problems
    assert (problem.line, problem.column, problem.path) == (9, 27, "guarantee.delta")
    assert "k = 3 and rate = 0.1 reach at ε = 0.5, found 1e-9" in problem.message
    assert problem.remedy == "k: 17 gives it at this rate"


def test_a_guarantee_that_no_k_gives(write):
    [problem] = check_policy(write(e=("epsilon: 0.5", "epsilon: 1.0e-6"))).problems
    assert problem.remedy.startswith("no k gives it at this rate")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("folder", None, "is a folder without a .parquet file in it"),
        ("empty.parquet", b"", "is empty"),
        ("junk.parquet", b"junk", "is not a Parquet file"),
        ("notes", b"notes", "must end in .parquet, .pq, .csv, .tsv, .txt or .csv.gz"),
    ],
)
def test_a_source_that_is_no_table_is_a_problem(write, name, content, told):
    if content is None:
        Path(name).mkdir()
    else:
        Path(name).write_bytes(content)
    checked = check_policy(write(source=("people.parquet", name)))
    [problem] = checked.problems
    assert told in problem.message
    assert (problem.line, problem.path) == (3, "source.file")
    assert checked.unchecked == ""


def test_a_warehouse_that_is_not_there_is_no_problem_of_the_policy(write):
    Path("policy-engine.yaml").write_text("warehouses: {w: {type: duckdb, database: no.db}}\n")
    checked = check_policy(write(source=("file: people.parquet", "table: people")))
    assert checked.problems == ()
    assert checked.unchecked


@pytest.mark.parametrize("node", ["ref('people')", "\"source('raw', 'people')\""])
def test_a_policy_of_a_dbt_project_is_told_which_command_checks_it(write, node):
    """It was told to name a database, and there to read the model by its plain name."""
    known = "warehouses: {w: {type: duckdb, database: w.db}}"
    for project in ("ledger_begins: in_each_checkout", known):
        Path("policy-engine.yaml").write_text(f"{project}\n")
        [problem] = check_policy(write(source=("file: people.parquet", f"table: {node}"))).problems
        assert (problem.path, problem.line) == ("source.table", 3)
        assert "names a node of dbt, and this is a policy of a dbt project" in problem.message
        assert problem.remedy.startswith("'policy-engine dbt sync --dry-run' checks it, and shows")


@pytest.fixture
def database(write):
    """A warehouse that answers, with a table people."""
    with duckdb.connect("w.db") as connection:
        connection.execute("CREATE TABLE people (id INTEGER, age INTEGER)")
    Path("policy-engine.yaml").write_text("warehouses: {w: {type: duckdb, database: w.db}}\n")


@pytest.mark.parametrize(
    ("source", "release", "key", "told"),
    [
        (
            "peple",
            "out",
            "source.table",
            "the warehouse has no table or view w.main.peple; did you mean 'w.main.people'?",
        ),
        (
            "people",
            "gone.out",
            "release.table",
            "the warehouse has no schema w.gone; make it, or name another in release.table",
        ),
        (
            "people",
            "elsewhere.main.out",
            "release.table",
            "the relation elsewhere.main.out is not in the warehouse w; write w.schema.table",
        ),
    ],
)
def test_what_a_warehouse_that_answers_has_not_is_a_problem(
    write, database, source, release, key, told
):
    checked = check_policy(
        write(
            source=("file: people.parquet", f"table: {source}"),
            release=("file: out/a.parquet", f"table: {release}"),
        )
    )
    [problem] = checked.problems
    assert (problem.path, problem.message, checked.unchecked) == (key, told, "")
    assert problem.line > 0


def test_of_a_view_it_is_told_that_its_author_must_confirm_its_rows(write, database):
    with duckdb.connect("w.db") as connection:
        connection.execute(
            "CREATE VIEW groups AS SELECT id, max(age) AS age FROM people GROUP BY 1"
        )
    source = (
        "{file: people.parquet}\nprivacy_unit: row",
        "{table: groups}\nprivacy_unit: {column: id, rows: any}",
    )
    [problem] = check_policy(write(source=source)).problems
    assert "the source w.main.groups is a view; if each of its rows" in problem.message
    assert problem.message.endswith("; else name the table that it reads, or make a table of it")


def test_a_warehouse_that_fails_is_no_problem_of_the_policy(write, monkeypatch):
    def fail(*_, **__):
        raise WarehouseFailed("the connection to the server was lost")

    monkeypatch.setattr(validation, "vouched_for", fail)
    checked = check_policy(write())
    assert (checked.problems, checked.unchecked) == ((), "the connection to the server was lost")


def test_a_variable_that_only_the_warehouse_needs_is_a_note(write):
    url = "postgresql://ann:{{ env_var('NO_SUCH_PASSWORD') }}@db/work"
    Path("policy-engine.yaml").write_text(
        f'warehouses: {{w: {{type: postgres, url: "{url}"}}}}\nledger: "{url}"\n'
    )
    checked = check_policy(write(source=("file: people.parquet", "table: people")))
    assert checked.problems == ()
    assert "policy-engine.yaml:1:39: warehouses.w.url needs the environment" in checked.unchecked
    assert check_policy(write("b.yaml")).unchecked == ""


def test_findings_of_the_kernel_stand_at_the_key_they_speak_of(write, monkeypatch):
    def refuse(*_, **__):
        raise NotCertifiable(
            (Finding("V24", "k"), Finding("V29", "told already"), Finding("V02", "x"))
        )

    monkeypatch.setattr(validation, "vouched_for", refuse)
    problems = check_policy(write()).problems
    assert [(p.line, p.path, p.message) for p in problems] == [
        (0, "", "V02 x"), (8, "k", "V24 k")
    ]  # fmt: skip


def test_problems_of_other_files_come_last(write):
    Path("policy-engine.yaml").write_text("acounts: {}\n")
    problems = check_policy(write(k=("k: 20", "k: 3"))).problems
    assert [Path(problem.file).name for problem in problems] == ["a.yaml", "policy-engine.yaml"]


def test_clashes_are_found_among_the_files_that_load(write):
    one, broken = write("one.yaml"), write("broken.yaml", v=("version: 1", "version: 2"))
    two = write("two.yaml", out=("out/a.parquet", "out/../out/A.parquet"))
    found = check_policies([one, broken, two])
    assert [len(each.problems) for each in found] == [0, 1, 1]
    [clash] = found[2].problems
    assert (clash.line, clash.path) == (10, "release.file")
    assert "must differ from that of one.yaml" in clash.message


def test_one_certificate_for_two_releases_is_a_clash(write):
    one = write("one.yaml")
    two = write("two.yaml", out=("out/a.parquet", "out/a.PARQUET"))
    assert check_policies([one, two])[1].problems


def test_one_file_is_ready_when_it_loads(write):
    [ready] = make_ready([write(source=("people.parquet", "nope.parquet"))], replace=False)
    assert (ready.policy.name, ready.editions, ready.schedule) == ("a", (ready.policy,), None)


def test_about_names_the_file_and_keeps_the_findings():
    finding = Finding("V29", "δ is too large")
    with (
        pytest.raises(NotCertifiable, match=r"^a.yaml: V29 δ is too large$") as raised,
        about(Path("a.yaml")),
    ):
        raise NotCertifiable((finding,))
    assert raised.value.findings == (finding,)


def test_a_problem_reads_as_a_compilers():
    assert str(Problem("a.yaml", 1, 2, "k", "wrong", "right")) == "a.yaml:1:2: wrong; right"


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (lambda: Path("out").write_text(""), "lie in a folder, found on its way the file out"),
        (lambda: Path("out/a.parquet").mkdir(parents=True),
         "name a file, found the directory out/a.parquet"),
        (lambda: Path("out/a.certificate.json").mkdir(parents=True),
         "name a file, found the directory out/a.certificate.json"),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_of_a_release_is_a_problem(write, make, law):
    make()
    assert [str(problem) for problem in check_policy(write()).problems] == [
        f"a.yaml:10:11: release.file must {law}; name another place"
    ]


def test_a_missing_file_is_unread(write):
    write()
    checked = check_policy(Path("a.yml"))
    assert (checked.policy, checked.unread) == (None, True)
    [problem] = checked.problems
    assert str(problem) == "a.yml: the policy file does not exist; did you mean 'a.yaml'?"


def test_an_account_is_refused_together_with_all_other_problems(write):
    Path("policy-engine.yaml").write_text("accounts: {people: {}, pilot: {}}\n")
    file = write(budget=("k: 20", "account: pilots\nk: 3"), sex=("age:", "sexx:"))
    assert [problem.path for problem in check_policy(file).problems] == [
        "recode.sexx", "account", "guarantee.delta"
    ]  # fmt: skip
    assert check_policy(file).problems[1].remedy.startswith("did you mean 'pilot'?")


def test_it_is_so_of_a_file_that_cannot_be_loaded(write):
    Path("policy-engine.yaml").write_text("accounts: {people: {}, pilot: {}}\n")
    file = write(budget=("k: 20", "account: pilots\nk: none"), sex=("age:", "sexx:"))
    assert [problem.path for problem in check_policy(file).problems] == [
        "recode.sexx", "account", "k"
    ]  # fmt: skip


def test_it_is_so_whatever_another_problem_quotes(write):
    Path("policy-engine.yaml").write_text("accounts: {people: {}, pilot: {}}\n")
    file = write(budget=("k: 20", "account: pilots\nk: pilots"))
    assert [p.path for p in check_policy(file).problems] == ["account", "k"]


def test_an_account_is_told_once_of_a_guarantee_that_follows_from_it(write):
    Path("policy-engine.yaml").write_text("accounts: {people: {epsilon: 1, delta: 1.0e-6}}\n")
    changes = ("guarantee: {epsilon: 0.5, delta: 1.0e-9}", "guarantee: planned\naccount: pilots")
    [problem] = check_policy(write(planned=changes)).problems
    assert (problem.path, problem.account) == ("guarantee", "pilots")


def test_problems_with_other_files_stand_in_the_order_of_the_file(write):
    Path("policy-engine.yaml").write_text("accounts: {people: {}}\n")
    write()
    second = write("b.yaml", release=("release: {file: out/a.parquet}",
                   "release: {file: out/a.parquet}\naccount: peple"))  # fmt: skip
    checked = check_policies((Path("a.yaml"), second))
    assert [(p.line, p.path) for p in checked[1].problems] == [
        (10, "release.file"),
        (11, "account"),
    ]


UNKNOWN = [
    ("recode.agee", "people.parquet has no column 'agee'", "did you mean 'age'?"),
    ("privacy_unit.column", "people.parquet has no column 'person'", "name a column of the source"),
    (
        "privacy_unit.rows.first_by",
        "people.parquet has no column 'seen'",
        "name a column of the source",
    ),
    ("source.columns.born", "people.parquet has no column 'born'", "name a column of the source"),
]


def test_unknown_columns_are_told_beside_what_the_schema_refuses(write):
    file = write(
        unit=(
            "}\nprivacy_unit: row",
            ", columns: {born: dat}}\nprivacy_unit: {column: person, rows: {first_by: [seen]}}",
        ),
        age=("age: {bins: [30, 60]}", "agee: {bin: [30]}\n  who: {constant: x}\n  age: keep"),
        k=("k: 20", "k: 1"),
    )
    pq.write_table(pa.table({"age": [1, 2, 3], "sex": ["f"] * 3}), "people.parquet")
    checked = check_policy(file)
    assert (checked.policy, checked.unchecked, checked.unread) == (None, "", False)
    told = [(each.path, each.message, each.remedy) for each in checked.problems]
    assert set(UNKNOWN) <= set(told)
    assert all(each.line and each.column for each in checked.problems)
    of_the_schema = {"k", "source.columns.born", "recode.agee.bin"}
    assert of_the_schema <= {path for path, message, _ in told if "no column" not in message}


def test_a_source_that_is_not_there_is_said_beside_what_the_schema_refuses(write):
    checked = check_policy(write(k=("k: 20", "k: 1"), source=("people.parquet", "nope.parquet")))
    assert [each.path for each in checked.problems] == ["k"]
    assert "nope.parquet is not there" in checked.unchecked


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        (
            {"source": ("source: {file: people.parquet}", "source: people")},
            ["source"],
        ),
        (
            {
                "csv": ("}\nprivacy_unit: row", ", csv: {}}\nprivacy_unit: row"),
                "age": ("age:", "agee:"),
            },
            ["source.csv"],
        ),
        ({"recode": ("recode:\n  age: {bins: [30, 60]}", "recode: [age]")}, ["recode"]),
        ({"quotes": ("k: 20", "k: 'x")}, ["k"]),
    ],
)
def test_of_what_names_no_source_the_schema_alone_is_told(write, changes, paths):
    checked = check_policy(write(**changes))
    assert [each.path for each in checked.problems] == paths
    assert (checked.policy, checked.unchecked) == (None, "")


def test_a_broken_project_hides_nothing_of_a_broken_policy(write):
    Path("policy-engine.yaml").write_text("version: 9\n")
    checked = check_policy(write(k=("k: 20", "k: 1")))
    assert [each.path for each in checked.problems] == ["k"]


def test_a_row_key_that_is_no_column_has_its_place(write):
    [problem] = check_policy(
        write(unit=("privacy_unit: row", "privacy_unit: {column: id, rows: one}"))
    ).problems
    assert (problem.path, problem.line) == ("privacy_unit.column", 4)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("{round: 1}", "tells every person apart, so that no group is released"),
        ("{round: 0.5}", "tells every person apart, so that no group is released"),
        ("{round: 100}", "and where it tells every person apart no group is released"),
        ("{prefix: 3}", "and where it tells every person apart no group is released"),
        ("{constant: x}", ""),
    ],
)
@pytest.mark.parametrize("unit", ["{column: age, rows: any}", "{column: age, rows: one}"])
def test_a_column_that_is_made_of_the_key_is_warned_of(write, how, told, unit):
    if "prefix" in how:
        pq.write_table(pa.table({"age": ["a", "b"]}), "people.parquet")
    checked = check_policy(
        write(unit=("privacy_unit: row", f"privacy_unit: {unit}"), age=("{bins: [30, 60]}", how))
    )
    assert checked.problems == ()
    warnings = [each for each in checked.warnings if not each.path.startswith("privacy_unit")]
    assert [told in each.message for each in warnings] == ([True] if told else [])
    for each in warnings:
        assert (each.line, each.column, each.path) == (6, 3, "recode.age")
        assert each.remedy == "leave it out, unless 20 people and more have the same value"


def test_a_key_by_another_case_is_the_key_where_the_engine_takes_both_for_one(write):
    keyed = ("privacy_unit: row", "privacy_unit: {column: AGE, rows: any}")
    checked = check_policy(write(unit=keyed))
    assert checked.problems == ()
    [unit, warning] = checked.warnings
    assert unit.path == "privacy_unit.column"
    assert warning.message.startswith("recode.age is made of ")


def test_a_row_beside_a_persons_key_is_warned_of_and_a_key_that_is_none(write):
    """By names alone: of a CSV every type is text. The names have a table of their own."""
    Path("people.csv").write_text("age,fee,patient_id,genre\n1,2,3,4\n")
    found = []
    for unit in ("row", "{column: fee, rows: any}", "{column: genre, rows: any}",
                 "{column: patient_id, rows: any}"):  # fmt: skip
        source = f"{{file: people.csv, columns: {{age: integer}}}}\nprivacy_unit: {unit}"
        checked = check_policy(write(source=("{file: people.parquet}\nprivacy_unit: row", source)))
        assert checked.problems == ()
        found.append([(each.path, each.message, each.remedy) for each in checked.warnings])
    assert found == [
        [
            (
                "privacy_unit",
                "privacy_unit is row, and by its name column 'patient_id' says whose row it is: of"
                " a person with several rows each row is protected alone, and the person far less",
                "{column: patient_id, rows: any} protects the person, and counts one row of each",
            )
        ],
        [
            (
                "privacy_unit.column",
                "privacy_unit.column is 'fee', and by its name that is no person's key: rows with"
                " one value are protected as one person, and a person with several values as"
                " several",
                "name the column that says whose row it is, 'patient_id'",
            )
        ],
        [
            (
                "privacy_unit.column",
                "privacy_unit.column is 'genre', and by its name column 'patient_id' says whose row"
                " it is: rows with one value are protected as one person, and a person with"
                " several values as several",
                "name the column that says whose row it is, 'patient_id'",
            )
        ],
        [],
    ]


def test_columns_that_are_not_the_key_are_not_warned_of(write):
    pq.write_table(pa.table({"age": [1, 2, 3], "id": [1, 2, 3]}), "people.parquet")
    keyed = "privacy_unit: {column: id, rows: any}"
    assert check_policy(write(unit=("privacy_unit: row", keyed))).warnings == ()


def test_a_guarantee_that_is_none_is_warned_of(write):
    assert check_policy(write()).warnings == ()
    old = next(line for line in POLICY.splitlines() if line.startswith("guarantee"))
    checked = check_policy(write(guarantee=(old, "guarantee: {epsilon: 21, delta: 0.01}")))
    assert [(each.path, each.message) for each in checked.warnings] == [
        ("guarantee.epsilon", "guarantee.epsilon of 21 hides next to nothing"),
        (
            "guarantee.delta",
            "guarantee.delta of 0.01 is met by a table that shows one person in 100 in full",
        ),
    ]


def test_a_row_key_that_nothing_enforces_is_warned_of(write):
    pq.write_table(pa.table({"age": [1, 2, 3], "id": [1, 2, 3]}), "people.parquet")
    checked = check_policy(
        write(unit=("privacy_unit: row", "privacy_unit: {column: id, rows: one}"))
    )
    [warning] = checked.warnings
    assert (checked.problems, warning.path) == ((), "privacy_unit.rows")
    assert warning.line > 0
    assert warning.remedy == "rows: any, or rows: {first_by: […]}, says which"


@pytest.mark.parametrize(
    ("said", "warned"),
    [
        ('{delimiter: ";"}', True),
        ('{delimiter: ";", decimal: ","}', True),
        ('{delimiter: tab, decimal: ","}', True),
        ('{delimiter: ";", decimal: ",", thousands: "."}', False),
        ('{delimiter: ";", decimal: "."}', False),
        ('{delimiter: ";", thousands: " "}', False),
        ("{delimiter: tab}", False),
        ('{delimiter: ";", decimal: ".", dates: "%Y-%m-%d"}', False),
    ],
)
@pytest.mark.parametrize("kind", ["double", "integer", "date"])
def test_numbers_beside_semicolons_whose_mark_is_not_said_are_warned_of(write, said, warned, kind):
    sign = "\t" if "tab" in said else ";"
    Path("people.csv").write_text(f"name{sign}age\nx{sign}1.250\n")
    source = f"{{file: people.csv, csv: {said}, columns: {{age: {kind}}}}}\nprivacy_unit: row"
    cuts = "{bins: [1990-01-01]}" if kind == "date" else "{bins: [30, 60]}"
    checked = check_policy(
        write(
            source=("{file: people.parquet}\nprivacy_unit: row", source),
            age=("{bins: [30, 60]}", cuts),
        )
    )
    assert checked.problems == ()
    german = '";"' in said or 'decimal: ","' in said
    if kind == "date":
        warned = german and "dates" not in said
    assert [each.path for each in checked.warnings] == ["source.columns.age"] * warned
    for each in checked.warnings:
        assert each.line == 3
        if kind == "date":
            assert "31.03.2026 is read as no value" in each.message
            assert each.remedy.endswith('which it is: dates: "%d.%m.%Y", or dates: "%Y-%m-%d"')
            continue
        read = "1.250 is read as " + ("no value" if kind == "integer" else "1.25, and")
        if "decimal" in said and kind == "double":
            read = "1.250,50 is read as no value"
        assert read in each.message
        assert 'thousands: "."' in each.remedy
