"""What the documentation shows is what happens; what exists is documented."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import front
import pages
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference
import typer

from policy_engine.accounting.bounds import delta_lqs
from policy_engine.accounting.calibration import least_k
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.partial_knowledge import delta_count
from policy_engine.attest.certificates import predicate_of
from policy_engine.check.laws import LAWS
from policy_engine.ledger import statement
from policy_engine.policy.loading import load_policy, load_policy_text
from policy_engine.policy.recode_models import KINDS
from policy_engine.release import release
from policy_engine.releasing.preview import preview

ROOT = pages.ROOT
README = ROOT / "README.md"
PAGES = pages.pages()
#: Pages whose commands take longest; tests of the command tell the same in short.
LONG = tuple(
    f"docs/howto/{name}.md"
    for name in (
        "a-years-plan", "assess", "attack", "audit", "choose-a-mechanism", "choose-a-recoding",
        "gallery", "ledger", "report",
    )
)  # fmt: skip
RUNNABLE = [
    pytest.param(p, marks=pytest.mark.evidence if str(p.relative_to(ROOT)) in LONG else ())
    for p in PAGES
    if any(b.language == "console" for b in pages.blocks(p))
]
DOCTESTED = [p for p in PAGES if any(b.language == "pycon" for b in pages.blocks(p))]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


COMMANDS: list[tuple[tuple[str, ...], Any]] = list(reference.commands())


# What is shown runs


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNABLE, ids=_name)
def test_the_commands_of_a_page_do_what_it_shows(page: Path, tmp_path: Path) -> None:
    wrong = pages.run_page(page, pages.checkout(tmp_path))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("page", DOCTESTED, ids=_name)
def test_the_doctests_of_a_page_pass(page: Path, tmp_path: Path) -> None:
    report = pages.run_doctests(page, pages.checkout(tmp_path))
    assert not report, report


@pytest.mark.slow
def test_make_demo_prints_what_the_readme_shows_and_a_second_run_charges_nothing(
    tmp_path: Path,
) -> None:
    folder = pages.checkout(tmp_path)
    done = [
        subprocess.run(
            ["make", "demo"], cwd=folder, env=pages.environment(), capture_output=True,
            text=True, timeout=900, check=False,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert [each.returncode for each in done] == [0, 0], [
        each.stdout + each.stderr for each in done
    ]
    runs = [each.stdout for each in done]
    for command in (c for b in pages.blocks(README) for c in pages.commands_of(b)):
        assert f"$ {command.text}\n" in runs[0]
        for line in command.expected:
            pattern = ".*".join(re.escape(part) for part in line.split("..."))
            assert re.search(f"^{pattern}$", runs[0], re.MULTILINE), line
    assert "hospital_groups stands; its source was not looked at, nothing was charged" in runs[1]


def test_a_page_that_shows_another_output_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo 7\n7\n$ echo 8\n9\n$ false\n$ false\n$ echo $?\n1\n```\n")
    wrong = pages.run_page(page, tmp_path)
    assert [text.split(" ")[0] for text in wrong] == ["page.md:4:", "page.md:6:"]
    page.write_text("```pycon\n>>> 1 + 1\n3\n```\n")
    assert "Expected:\n    3" in pages.run_doctests(page, tmp_path)


def test_an_ellipsis_stands_for_any_text_and_nothing_else_does() -> None:
    assert pages.matches(["a ...", "...", "z"], "a b\nc\nd\nz\n")
    assert not pages.matches(["a ...", "z"], "a b\ny")
    assert not pages.matches(["a"], "a\nb")
    assert not pages.matches([], "a")


# The README


def test_the_readme_lists_the_commands_and_no_others() -> None:
    table = README.read_text("utf-8").partition("\n| for | commands |")[2].split("\n\n")[0]
    listed = re.findall(r"`([a-z-]+)`", table)
    assert sorted(listed) == sorted(reference.names())


def test_the_readmes_policy_is_that_of_the_demo() -> None:
    [block] = [b for b in pages.blocks(README) if b.language == "yaml"]
    shown = load_policy_text(block.text, "policy.yaml", ".")
    real = load_policy(ROOT / "policies/hospital_groups/policy.yaml")
    for said in (
        "name",
        "recodings",
        "rate",
        "k",
        "guarantee",
        "grouping",
        "protection",
        "columns",
    ):
        assert getattr(shown, said) == getattr(real, said), said


def test_the_readmes_line_in_a_comment_works_where_it_is_uncommented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the project in use is that of the working directory
    [block] = [b for b in pages.blocks(README) if b.language == "yaml"]
    with_measure = block.text.replace("# measures:", "measures:")
    assert with_measure != block.text
    visits, folder = "hospital_visits/data/visits.parquet", tmp_path / "hospital_groups"
    folder.mkdir()
    (tmp_path / visits).parent.mkdir(parents=True)
    shutil.copy(ROOT / "policies" / visits, tmp_path / visits)
    policy = load_policy_text(with_measure, folder / "policy.yaml", folder)
    assert preview(policy).warnings == ()
    found = pq.read_table(release(policy).release)
    assert found.column_names == ["department", "visit_date", "n", "nights"]
    assert all(0 <= nights <= 30 for nights in found.column("nights").to_pylist())


def test_the_readmes_numbers_are_of_a_real_run() -> None:
    """What is true is counted again; what was published is what the picture shows."""
    [table] = front.TABLE.findall(README.read_text("utf-8"))
    rows = [line.strip("| \n").split(" | ") for line in table.splitlines()[2:]]
    exact, drawn = front.truth(), front.PICTURE.read_text("utf-8")
    assert len(rows) == 2 and drawn.count("<circle") == len(exact) == 24
    for quarter, true, published, error in rows:
        assert int(true.replace(",", "")) == exact["Emergency", quarter]
        assert int(published.replace(",", "")) - exact["Emergency", quarter] == int(error)
        assert f"Emergency, {quarter}: {true} in the data, {published} published" in drawn


def test_the_documentation_is_short_enough_to_be_read() -> None:
    """Words that somebody wrote, outside of code; what is made of the code is looked up."""
    words = 0
    for page in (p for p in PAGES if (ROOT / "docs") in p.parents and "_static" not in p.parts):
        text = page.read_text("utf-8")
        if page.name != "glossary.md":  # made of a file, of words that somebody wrote
            text = reference.by_hand(text)
        read = re.sub(r"^ *(```+).*?^ *\1$", "", text, flags=re.DOTALL | re.MULTILINE)
        words += sum(1 for word in read.replace("|", " ").split() if re.search(r"\w", word))
    assert words <= 50_000


def test_the_picture_of_noise_is_what_the_script_draws() -> None:
    assert front.NEIGHBOURS.read_text("utf-8") == front.neighbours()


@pytest.mark.slow
def test_a_new_run_is_as_near_to_the_truth_as_the_readme_says() -> None:
    groups = front.run()
    [block] = [b for b in pages.blocks(README) if b.language == "console"]
    bound = int(re.search(r"for certain there are between n - (\d+)", block.text)[1])
    assert all(abs(group.error) <= bound for group in groups)
    assert {(g.department, g.quarter): g.truth for g in groups} == front.truth()


def test_the_readme_is_short_and_one_screen_says_what_it_is() -> None:
    text = README.read_text("utf-8")
    assert len(text.split()) <= 900
    first = text.partition("\n## Install\n")[0]
    assert len(first.splitlines()) <= 40 and len(first.split()) <= 170
    assert {"**The promise.**", "**Runs on**", "**Not for**"} <= set(
        re.findall(r"\*\*[TRN].*?\*\*", first)
    )


def test_the_certificate_that_is_explained_is_that_of_the_sampled_example() -> None:
    page = ROOT / "docs/explanation/reading-a-certificate.md"
    [block] = [b for b in pages.blocks(page) if b.language == "json"]
    shown = json.loads(block.text)
    real = predicate_of(preview(load_policy(ROOT / "policies/adult/policy.yaml")).certificate)
    for name in ("policy", "query_digest"):
        wanted, found = (json.dumps(d.pop(name), ensure_ascii=False) for d in (shown, real))
        assert re.fullmatch(re.escape(wanted).replace("…", ".*"), found), name
    assert shown == {name: real[name] for name in shown}


@pytest.mark.parametrize("page", [README, ROOT / "CONTRIBUTING.md"], ids=_name)
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


# What pages say of the product


def test_the_entry_pages_say_what_it_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for page in (README, ROOT / "docs/index.md"):
        assert "differential privacy" in page.read_text("utf-8").split("\n\n")[1]
    glossary = (ROOT / "docs/explanation/glossary.md").read_text("utf-8")
    assert "* **differential privacy**: " in glossary
    assert "differential privacy" in project["description"]


def test_visits_can_be_counted_as_many_rows_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of 3,000 people has three visits, of which the release says how many there were."""
    page = ROOT / "docs/howto/write-a-policy.md"
    [shown] = [b.text for b in pages.blocks(page) if "rows: visits" in b.text]
    people = [person for person in range(3_000) for _ in range(3)]
    table = pa.table({"person_id": people, "sex": ["f"] * 9_000})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    pq.write_table(table, tmp_path / "data/visits.parquet")
    rest = (
        "version: 1\nname: visits\nrecode: {sex: keep}\nrelease: {file: out.parquet}\n"
        "guarantee: {epsilon: 2, delta: 1.0e-6}\n"
    )
    policy = load_policy_text(rest + shown, tmp_path / "policy.yaml", tmp_path)
    [row] = pq.read_table(release(policy).release).to_pylist()
    assert abs(row["patients"] - 3_000) < 200 and abs(row["visits"] - 9_000) < 900


# The reference


@pytest.mark.parametrize(
    "page",
    [p for p in PAGES if "<!-- generated: " in p.read_text("utf-8")],
    ids=_name,
)
def test_a_page_says_what_the_code_says_now(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text == reference.renewed(text), "make reference"


def test_the_manual_page_is_what_the_code_says_now() -> None:
    text = reference.MANUAL.read_text("utf-8")
    assert text == reference.man_text(), "make reference"
    for name in reference.names():
        assert f".B {name.replace('-', chr(92) + '-')}\n" in text


def test_everything_that_is_generated_stands_in_a_page() -> None:
    pages_text = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = re.findall(r"<!-- generated: ([\w-]+) -->", pages_text)
    assert sorted(named) == sorted(reference.GENERATED)
    assert pages_text.count("<!-- end of what is generated -->") == len(named)


def test_a_docstring_becomes_markdown() -> None:
    docstring = (
        "Takes *args* of ``*x``.\n\nRaises:\n    One: a\n        b\n    Two: c_\n\n>>> 1 + 1\n2"
    )
    shown = "Takes \\*args\\* of ``*x``.\n\nRaises:\n\n* One: a\n  b\n* Two: c\\_"
    assert reference.markdown_of(docstring) == f"{shown}\n\n```python\n>>> 1 + 1\n2\n```"


def test_a_field_stands_with_its_type_if_a_reader_can_look_the_type_up() -> None:
    from policy_engine.accounting.curve import Bound

    text = reference.with_types(Bound)
    assert "\n    ``delta`` (``Decimal``): " in text
    assert "\n    ``at_n`` (``int | None``): " in text
    shown = reference.python_text("values")
    assert "* ``k`` (``int``): " in shown and "* ``source``: " in shown


def test_a_public_name_is_called_as_it_is_imported() -> None:
    shown = reference.python_text("names")
    assert "### `policy_engine.verify`\n\n```python\nverify(" in shown
    assert "verify_release" not in shown


def test_a_part_that_is_old_is_written_anew_and_the_rest_is_left() -> None:
    old = "a\n<!-- generated: gate -->\nold\n<!-- end of what is generated -->\nb\n"
    new = reference.renewed(old)
    assert reference.gate_text().strip() in new and "old" not in new.split("\n")
    assert reference.by_hand(new) == reference.by_hand(old) == "a\n\nb\n"


@cache
def _by_hand() -> str:
    return "\n".join(reference.by_hand(page.read_text("utf-8")) for page in PAGES)


@pytest.mark.parametrize("words", [words for words, _ in COMMANDS], ids=" ".join)
def test_every_command_and_option_is_documented(words: tuple[str, ...]) -> None:
    command = dict(COMMANDS)[words]
    page = ROOT / f"docs/reference/commands/{words[0]}.md"
    heading = f"# policy-engine {words[0]}\n" if len(words) == 1 else f"## {' '.join(words)}\n"
    section = page.read_text("utf-8").split(heading, 1)[1].split("\n## ", 1)[0]
    for parameter in (each for each in command.params if not getattr(each, "hidden", False)):
        for option in parameter.opts:
            assert (option if option.startswith("-") else parameter.name) in section, option
    assert command.help and "Example: policy-engine" in command.help
    assert f"policy-engine {' '.join(words)}" in _by_hand()


def test_commands_that_pages_show_exist() -> None:
    names = {words[0] for words, _ in COMMANDS}
    for page in PAGES:
        for name in re.findall(r"^(?:\$ )?policy-engine ([a-z-]+)", page.read_text(), re.MULTILINE):
            assert name in names, f"{page}: {name}"


def test_options_that_pages_show_exist() -> None:
    for page, command in _shown_commands():
        words = command.split()
        if words[0] != "policy-engine" or words[1].startswith("-"):
            continue
        name = tuple(words[1:3]) if words[1] in {"dbt", "ledger", "keys", "review"} else (words[1],)
        found = dict(COMMANDS)[name]
        given = found.get_params(typer.Context(found))  # those of every command, too
        allowed = {o for p in given for o in p.opts}
        assert {w for w in words if w.startswith("--")} <= allowed, f"{page}: {command}"


def _shown_commands() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for block in pages.blocks(page):
            for command in pages.commands_of(block):
                yield page, command.text


def test_every_finding_is_documented_and_every_code_that_pages_name_exists() -> None:
    table = reference.findings_text()
    for code, law in LAWS.items():
        assert reference.row(f"`{code}`", law.text, law.remedy) in table
    for page in PAGES:
        assert set(re.findall(r"\bV\d\d\b", page.read_text("utf-8"))) <= LAWS.keys(), page


def test_every_rule_of_the_gate_is_documented_and_every_code_that_pages_name_exists() -> None:
    from policy_engine.dbt.rules import RULES

    table = reference.gate_text()
    for code, rule in RULES.items():
        assert f"| `{code}` | {rule.title} |" in table
    for page in PAGES:
        assert set(re.findall(r"\bG\d\d\b", page.read_text("utf-8"))) <= RULES.keys(), page


def test_every_error_is_documented_with_its_exit_code() -> None:
    from policy_engine import errors

    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.PolicyEngineError)
    ]
    table = reference.errors_text()
    for kind in kinds:
        assert f"`{kind.__name__}` | {kind.exit_code} |" in table
    codes = {str(kind.exit_code) for kind in kinds} | {"0", "130"}
    page = (ROOT / "docs/reference/errors.md").read_text("utf-8")
    assert set(re.findall(r"^\| (\d+) \|", page, re.MULTILINE)) == codes


def test_every_key_of_a_policy_is_documented() -> None:
    from policy_schemas import json_schema

    schema, text = json_schema(), reference.schema_text()
    for model in (schema, *schema["$defs"].values()):
        for key in model["properties"]:
            assert f"| `{key}` |" in text, key
    assert "Spec |" not in text and "Spec or" not in text and "see below" not in text
    recodings = (ROOT / "docs/howto/write-a-policy.md").read_text("utf-8")
    for kind in KINDS:
        assert f"{kind}: " in recodings, kind


def test_every_field_of_a_certificate_is_documented() -> None:
    text = reference.predicate_text()
    for field in reference.PREDICATE:
        assert f"| `{field}` |" in text


def test_every_type_that_pages_name_is_one_of_ours() -> None:
    sources = "\n".join(p.read_text("utf-8") for p in (ROOT / "policy_engine").rglob("*.py"))
    for page in PAGES:
        for named in re.findall(r"policy-engine\.dev/[a-z-]+/v\d", page.read_text("utf-8")):
            assert f"https://{named}" in sources, f"{page.name}: {named}"


# Troubleshooting


def _messages() -> str:
    """The texts of the package's source, adjacent ones joined, with … where a value stands."""
    sources = sorted((ROOT / "policy_engine").rglob("*.py"))
    text = "\n".join(path.read_text("utf-8") for path in sources)
    joined = re.sub(r"\"\s*f?\"", "", text)
    return re.sub(r"\{[^{}]*\}", "…", joined)


def test_every_message_of_troubleshooting_is_one_of_ours() -> None:
    page = (ROOT / "docs/howto/troubleshooting.md").read_text("utf-8")
    terms = re.findall(r"^\* (`.+)$", page, re.MULTILINE)
    assert len(terms) > 30
    laws = "\n".join(f"{code} {law.text}\n{law.remedy}" for code, law in LAWS.items())
    macros = sorted((ROOT / "policy_engine/dbt/package/macros").glob("*.sql"))
    told_by_dbt = "\n".join(path.read_text("utf-8") for path in macros)
    messages = f"{_messages()}\n{laws}\n{told_by_dbt}"
    for shown in (s for term in terms for s in re.findall(r"`([^`]+)`", term)):
        for part in (p.strip(" :.'") for p in re.split("[…;]", shown)):
            assert part in messages, f"{shown}: {part!r}"


# The tables of numbers


def _table(page: str, head: str) -> list[list[str]]:
    """The body of the one table of a page whose first row starts with ``head``."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    tables = [t.splitlines() for t in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]
    [found] = [t for t in tables if t[0].startswith(head)]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in found[2:]]


RATES = ("0.01", "0.05", "0.1", "0.2", "0.5")


def test_the_table_of_delta_is_true() -> None:
    for k, *cells in _table("howto/choose-numbers.md", "| k | rate"):
        for rate, cell in zip(RATES, cells, strict=True):
            assert cell == f"{delta_exact(int(k), rate, '0.5').delta:.1e}"


def test_the_table_of_the_least_k_is_true() -> None:
    for epsilon, *cells in _table("howto/choose-numbers.md", "| ε | rate"):
        for rate, cell in zip(RATES, cells, strict=True):
            both = [least_k(epsilon, delta, rate) for delta in ("1e-6", "1e-9")]
            assert cell == f"{both[0]} / {both[1]}"


def test_the_table_beside_lqs_is_true() -> None:
    for k, rate, epsilon, exact, at_n, lqs, ratio in _table(
        "explanation/mechanism.md", "| k | rate | ε"
    ):
        found = delta_exact(int(k), rate, epsilon)
        bound = delta_lqs(int(k), rate, epsilon)
        assert (exact, at_n) == (f"{found.delta:.2e}", str(found.at_n))
        if bound is None:
            assert lqs.startswith("none") and not ratio
        else:
            assert (lqs, ratio) == (f"{bound.delta:.2e}", f"{bound.delta / found.delta:.0f}")


def test_the_table_of_replace_one_is_true() -> None:
    for rate, *cells in _table("explanation/mechanism.md", "| rate, at k = 20"):
        notions = ("add_remove", "replace_one")
        assert cells == [f"{delta_exact(20, rate, '0.5', n).delta:.3e}" for n in notions]


def test_the_table_of_counts_is_true() -> None:
    for unknown, *cells in _table("howto/certify-a-count.md", "| N | λ"):
        for floor, cell in zip(("0.01", "0.05", "0.1", "0.3", "0.5"), cells, strict=True):
            assert cell == f"{delta_count(int(unknown), floor, '0.5'):.1e}"


FIELDS_OF_A_LEDGER_STATEMENT = {
    "| field | meaning": statement.FIELDS,
    "| field of an account": statement.LISTS["accounts"],
    "| field of an entry": statement.LISTS["entries"],
    "| field of a limit": statement.LISTS["limits"],
}


@pytest.mark.parametrize("head", FIELDS_OF_A_LEDGER_STATEMENT)
def test_the_tables_of_a_ledger_statement_list_its_fields_once(head: str) -> None:
    told = [
        field
        for cell, _ in _table("reference/certificate.md", head)
        for field in re.findall("`([^`]+)`", cell)
    ]
    assert sorted(told) == sorted(FIELDS_OF_A_LEDGER_STATEMENT[head])


def test_the_version_of_a_ledger_statement_is_that_of_the_code() -> None:
    rows = _table("reference/certificate.md", "| field | meaning")
    assert dict(rows)["`version`"] == str(statement.VERSION)


# The site


@pytest.mark.evidence  # "make docs" does the same
def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html",
         "-d", str(tmp_path / "doctrees"), str(ROOT / "docs"), str(tmp_path / "html")],
        capture_output=True, text=True, timeout=600, check=False, env=pages.environment(),
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    built = (tmp_path / "html/reference/errors.html").read_text("utf-8")
    assert all(code in built for code in LAWS)


def test_every_key_and_field_of_the_reference_has_a_meaning() -> None:
    for name, text in reference.GENERATED.items():
        for row in text().splitlines():
            assert not re.fullmatch(r"\|.*\|\s*\|", row), f"{name}: {row}"


def test_every_page_that_explains_a_word_exists() -> None:
    told = tomllib.loads((ROOT / "docs/_ext/search.toml").read_text("utf-8"))["explains"]
    for word, page in told.items():
        assert (ROOT / f"docs/{page}.md").exists(), word
