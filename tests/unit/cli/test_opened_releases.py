"""A release as a value: tables of Arrow, pandas and polars, CSV, pictures, in a notebook."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from datetime import date
from decimal import Decimal
from math import isfinite, isnan
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import matplotlib as mpl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine import Policy, load_policy, open_release, release
from policy_engine.errors import FileError, PolicyError, UsageError
from policy_engine.kernel.mechanisms.meaning import RowNumbers
from policy_engine.release import preview
from policy_engine.releasing.picture import lies, marked
from policy_engine.releasing.release import restore

mpl.use("Agg")

BETWEEN = lies(())

NOISY = ("sample: {rate: 0.1}\nk: 20\n", "mechanism: noisy_counts\n")
SUMS = (
    NOISY[0],
    "measures:\n  total: {sum: age, bounds: [0, 99]}\n"
    "  mean: {mean: age, bounds: [0, 99], missing: {as: 0}}\n",
)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def done(policy):
    return release(load_policy(policy("a", NOISY, epsilon="0.5", delta="1.0e-7")))


def test_a_release_is_a_table_in_reading_order(done):
    table = done.to_arrow()
    assert table.column_names == ["age", "sex", "n"]
    assert table["age"].to_pylist() == ["<30", "<30", "[30,60)", "[30,60)", ">=60", ">=60"]
    assert sorted(map(str, table.to_pylist())) == sorted(
        map(str, pq.read_table(done.release).to_pylist())
    )
    frame = done.to_pandas(errors=True)
    assert list(frame.columns) == ["age", "sex", "n", "n_sd", "n_low", "n_high"]
    assert set(frame["n"] - frame["n_low"]) == set(frame["n_high"] - frame["n"]) == {6}
    assert frame["n"].dtype == "int64" and 2.7 < frame["n_sd"].iloc[0] < 2.9
    assert done.to_polars().rows() == [tuple(row.values()) for row in table.to_pylist()]


def test_a_release_that_was_given_opens_by_its_file_and_by_its_certificate(done):
    for place in (done.release, Path(done.release), done.certificate):
        assert open_release(place).to_arrow() == done.to_arrow()


@pytest.mark.parametrize("change", ["cut off", "another column"])
def test_a_file_that_was_changed_is_told_to_be_so_and_what_puts_it_back(done, change):
    file = Path(done.release)
    if change == "cut off":
        file.write_bytes(file.read_bytes()[:-9])
    else:
        pq.write_table(pa.table({"age": ["<30"], "n": [5]}), file)
    with pytest.raises(FileError, match=r"^out/a\.parquet is not .*; move it away, and"):
        open_release(done.release)
    file.rename("moved.parquet")
    assert restore(load_policy(Path("a.yaml"))).outcome == "put back"
    assert open_release(done.release).rows.num_rows == 6


def test_a_release_says_in_few_words_what_it_is(done):
    assert repr(done) == "<out/a.parquet: released, 6 groups, ε = 0.5, entry 2>"


def test_errors_of_sums_and_means_are_those_that_are_told(policy):
    done = release(load_policy(policy("a", SUMS, epsilon="0.9", delta="9.0e-7")))
    claim = done.opened.certificate.claim
    table = done.to_arrow(errors=True)
    ends = ("", "_sd", "_low", "_high")
    assert table.column_names[2:] == [a + b for a in ("n", "total", "mean") for b in ends]
    told = "\n".join(line for line in _told(done))
    row = table.to_pylist()[0]
    [error] = re.findall(r"^total is .*give or take ([\d.]+) \(1 SD\)", told, re.MULTILINE)
    assert 0 <= row["total_sd"] - float(error) < float(error) / 100
    least, most = re.search(
        r"([\d.]+) / n where the mean is 49, up to ([\d.]+) / n elsewhere", told
    ).groups()
    assert float(least) - 1 <= row["mean_sd"] * row["n"] <= float(most) + 1
    assert [each.name for each in claim.law.measures] == ["total", "mean"]
    assert done.to_pandas()["mean"].dtype.kind in "if"
    assert done.opened.picture("mean").of == "the mean of age over the people, a missing value as 0"
    with pytest.raises(UsageError, match="has no number 'age'; it has n, total, mean"):
        done.opened.picture("age")


def test_of_a_mean_over_values_that_no_column_counts_there_is_a_picture_and_no_error(policy):
    """What would be its error is not known, and a measure that counts the values shows it."""
    mean = "measures:\n  mean: {mean: age, bounds: [0, 99]}\n"
    for name, more, is_known in (("a", "", False), ("b", "  aged: {count: age}\n", True)):
        done = release(
            load_policy(policy(name, (NOISY[0], mean + more), epsilon="0.4", delta="4.0e-7"))
        )
        frame = done.to_pandas(errors=True)
        for end in ("_sd", "_low", "_high"):
            assert frame[f"mean{end}"].notna().all() == is_known
        picture = done.opened.picture("mean")
        assert ("±" in picture.bars[0].words) == is_known
        assert ('class="interval"' in picture.svg()) == is_known
        axes = done.opened.plot("mean")
        caps = [each for cap in axes.containers[0].lines[1] for each in cap.get_xdata()]
        assert [isfinite(each) for each in caps] == [is_known] * 12
        remedy = "a measure {count: age} shows it, at no price"
        for said in (axes.get_xlabel(), picture.caption, done._repr_html_(), "".join(_told(done))):
            words = " ".join(said.split())
            assert ("the error of mean is not stated" in words and remedy in words) != is_known
        assert ("in 95 of 100 releases" in " ".join(axes.get_xlabel().split())) == is_known
        assert done._repr_html_().count(" (error not stated)</td>") == (0 if is_known else 6)
        # Of a mean of nobody the error is not zero.
        nobody = RowNumbers.of({"n": -2, "mean": None, "aged": 0})
        [number] = [each for each in done.opened.numbers if each.name == "mean"]
        assert isnan(number.deviation(nobody)) and number.interval(nobody) is None


UNITS = {
    "a row a person": ("row", "", 'mean: {mean: "my age", bounds: [0, 99]}'),
    "each person's": (
        "{column: id}", "contribution: {max_groups: 2}",
        'mean: {mean: "my age", per: person, bounds: [0, 99]}',
    ),
    "each row's": (
        "{column: id}", "contribution: {max_groups: 2, max_rows_per_group: 3}",
        'mean: {mean: "my age", per: row, bounds: [0, 99], missing: {as: 0}}',
    ),
}  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_what_shows_an_error_is_told_before_a_charge_and_accepted_as_printed(
    project, policy, cli, unit
):
    """Pasted, it is valid, the error is stated, and nothing more is drawn."""
    people = {"id": range(900), "my age": [30] * 900, "sex": ["f", "m", "f"] * 300}
    pq.write_table(pa.table(people), "people.parquet")
    whose, most, mean = UNITS[unit]
    file = policy(
        "a",
        (NOISY[0], f"{most}\nmeasures:\n  {mean}\n"),
        ("privacy_unit: row", f"privacy_unit: {whose}"),
        ("  age: {bins: [30, 60]}\n", ""),
    )
    before, told = load_policy(file), cli("validate", file)
    [remedy] = re.findall("; (.*) shows it, at no price", told.out + told.err)
    assert [each.remedy for each in preview(before).warnings] == [f"{remedy} shows it, at no price"]
    pasted = f"  counted: {remedy.removeprefix('a measure ')}\n"
    if remedy.startswith("count:"):
        pasted = f"{remedy}\n"
    file.write_text(file.read_text().replace("guarantee:", f"{pasted}guarantee:"))
    found = cli("validate", file)
    assert found.code == 0 and "not stated" not in found.out + found.err
    assert load_policy(file).noise.quantities == before.noise.quantities


def test_show_and_its_csv_have_the_errors_that_are_asked_for(done, cli):
    shown = cli("show", done.release, "--errors", "--rows", "1", "--output", "all.csv")
    assert shown.code == 0
    heading, first = shown.out.splitlines()[1:3]
    assert heading.split() == ["age", "sex", "n", "n_sd", "n_low", "n_high"]
    assert int(first.split()[4]) < int(first.split()[2]) < int(first.split()[5])
    with Path("all.csv").open(encoding="utf-8") as file:
        assert next(csv.reader(file)) == heading.split()
    assert "in 95 of 100 releases noise puts n off by at most 6\n" in shown.out


@pytest.mark.parametrize(
    ("changes", "numbers"), [((SUMS,), {"epsilon": "0.9", "delta": "9.0e-7"}), ((), {})]
)
def test_an_error_has_three_digits_and_its_interval_has_no_finer_ones(
    policy, cli, changes, numbers
):
    """A portal published n_sd = 1.3798792269364222."""
    done = release(load_policy(policy("a", *changes, **numbers)))
    shown = cli("show", done.release, "--errors", "--output", "all.csv", "--format", "json")
    names, *rows = csv.reader(Path("all.csv").read_text("utf-8").splitlines())
    told = json.loads(shown.out)
    assert told["columns"] == names
    assert [[str(value) for value in row] for row in told["rows"]] == rows
    for place, name in enumerate(names):
        if name.endswith("_sd"):
            for row in rows:
                error, *ends = (Decimal(value) for value in row[place : place + 3])
                assert len(error.normalize().as_tuple().digits) <= 3
                finest = min(0, error.adjusted() - 2)
                assert all(end.as_tuple().exponent >= finest for end in ends)


def _told(done):
    from policy_engine.kernel.mechanisms.meanings import meaning_of

    certificate = done.opened.certificate
    return meaning_of(certificate.claim).told(certificate)


def test_of_a_sample_the_estimates_are_drawn(policy):
    done = release(load_policy(policy("a")))
    table = done.to_arrow(errors=True)
    assert table.column_names == [
        "age", "sex", "n", "n_estimate", "n_sd", "n_low", "n_high"
    ]  # fmt: skip
    for row in table.to_pylist():
        assert row["n_estimate"] == pytest.approx(10 * row["n"])
        error = (row["n"] * 0.9) ** 0.5 / 0.1
        assert 0 <= row["n_sd"] - error < error / 100
        for end, way in (("n_low", -1), ("n_high", 1)):
            exact = row["n_estimate"] + way * 1.96 * error
            assert 0 <= way * (row[end] - exact) < error / 100
    picture = done.opened.picture()
    assert picture.of == "people of the source, estimated by n / 0.1"
    assert picture.bars[0].value == pytest.approx(10 * table["n"][0].as_py())


def test_rows_have_no_number_to_draw(policy):
    done = release(load_policy(policy("a", ("a.parquet", "a.parquet, as: rows"))))
    assert done.to_arrow(errors=True) == done.to_arrow()
    assert "ε = 0.5" in done._repr_html_()
    with pytest.raises(UsageError, match="no number of a row of it estimates the source"):
        done.plot()


def test_a_grouping_has_the_errors_of_its_own_noise(policy):
    rollup = (NOISY[0], "rollup: {to: [age], share: 0.4}\n")
    done = release(load_policy(policy("a", rollup, epsilon="0.9", delta="9.0e-7")))
    rows = done.to_arrow(errors=True).to_pylist()
    fine, coarse = ({r["n_sd"] for r in rows if r["grouping"] == n} for n in (1, 2))
    assert len(fine) == len(coarse) == 1 and fine != coarse


def test_csv_tells_a_missing_value_from_an_empty_text(project, policy):
    people = pa.table({"age": [30] * 900, "sex": ["", None, "a,b"] * 300})
    pq.write_table(people, "people.parquet")
    done = release(load_policy(policy("a", NOISY)))
    done.to_csv("a.csv", errors=True)
    lines = Path("a.csv").read_text().splitlines()
    assert lines[0] == '"age","sex","n","n_sd","n_low","n_high"'
    assert lines[1].startswith('"[30,60)","",') and lines[3].startswith('"[30,60)",,')
    assert next(csv.reader(lines[2:]))[1] == "a,b"


@pytest.mark.parametrize("library", ["pandas", "polars", "matplotlib"])
def test_what_is_not_installed_is_asked_for_by_the_name_of_its_extra(done, monkeypatch, library):
    extra, call = {
        "pandas": ("pandas", done.to_pandas),
        "polars": ("polars", done.to_polars),
        "matplotlib": ("plot", done.plot),
    }[library]
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=rf"{library}; run pip install '\.\[{extra}\]'"):
        call()


def test_nothing_of_them_is_needed_before_it_is_asked_for(done):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT, done.release], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_a_picture_draws_the_interval_that_is_printed(done):
    axes, table = done.plot(), done.to_arrow(errors=True).to_pylist()
    lines = axes.containers[0].lines[2][0].get_segments()
    for (left, right), bar, row in zip(lines, done.opened.picture().bars, table, strict=True):
        assert (left[0], right[0]) == pytest.approx(bar.between)
        assert bar.between == (row["n_low"], row["n_high"])
        assert bar.in_picture == f"{row['n']:,} ({row['n_low']:,.6g} to {row['n_high']:,.6g})"
        assert bar.in_picture in done._repr_html_().replace(" ± 2.8", "")


def test_a_plot_has_a_bar_and_an_error_for_each_group(done):
    axes = done.plot()
    assert [each.get_text() for each in axes.get_yticklabels()][:2] == [
        "<30, female",
        "<30, male",
    ]
    said = axes.get_xlabel()
    assert len(axes.patches) == 6 and said.split() == f"people; on the line {BETWEEN}".split()
    axes.figure.draw_without_rendering()
    assert axes.xaxis.label.get_window_extent().x1 <= axes.figure.bbox.x1, "cut off at the edge"
    assert axes.get_ylabel() == "age, sex" and axes.get_title() == "a: n by age, sex"


def test_how_many_groups_are_left_out_is_said_and_what_draws_them(done):
    axes = done.plot(most=4)
    assert len(axes.patches) == 4
    said = "the first 4 of 6 groups"
    assert axes.get_title() == f"a: n by age, sex\n{said}; most=6 draws all"
    assert (
        f"{said}: 'policy-engine show FILE --output all.csv'" in done.opened.picture(most=4).caption
    )
    assert done.plot(axes=axes, most=6) is axes and "first" not in axes.get_title()


def test_a_notebook_shows_promise_and_errors(done):
    html = done._repr_html_()
    assert "ε = 0.5" in html and "is right at most 62.3 % of the time" in html
    assert html.count("± 2.8") == 6 and "<script" not in html


def test_show_writes_a_picture_and_all_rows(cli, done):
    shown = cli("show", done.release, "--rows", 2, "--output", "a.svg")
    assert "wrote a.svg" in shown.out
    root = ElementTree.parse("a.svg").getroot()
    assert root.attrib["role"] == "img"
    ids = root.attrib["aria-labelledby"].split()
    title, told = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert [title.attrib["id"], told.attrib["id"]] == ids
    assert title.text == "a: n by age, sex" and told.text.startswith(
        f"people, by age, sex; between the two {BETWEEN}"
    )
    texts = [each.text for each in root.iter(f"{SVG}text")]
    n = done.to_arrow()["n"][0].as_py()
    # Each number is written, so that no colour and no length has to be read.
    number = done.opened.picture().bars[0].in_picture
    assert number.startswith(f"{n:,} (") and number in texts
    assert f"<30, female: {number}" in told.text
    assert cli("show", done.release, "--output", "a.svg").code == 3
    assert cli("show", done.release, "--output", "a.svg", "--replace").code == 0
    assert cli("show", done.release, "--output", "a.png").code == 2
    assert cli("show", done.release, "--replace").code == 2
    written = cli("show", done.release, "--output", "a.csv", "--format", "json").document
    assert written["written"] == "a.csv"
    assert len(Path("a.csv").read_text().splitlines()) == 7


def test_the_page_has_the_picture(cli, done):
    cli("report", done.certificate, "--release", done.release, "--output", "a.html")
    page = Path("a.html").read_text()
    assert '<title id="picture-title">a: n by age, sex</title>' in page and BETWEEN in page


@pytest.mark.parametrize(
    "change",
    [
        (NOISY, ("a.parquet}", "a.parquet, as: rows}")),
        (
            ("sample: {rate: 0.1}\nk: 20\n", "mechanism: randomised_response\n"),
            ("delta: 1.0e-9}", "delta: 0, neighbours: replace_one}"),
            ("  sex: keep", "  sex: {map: {male: m}, other: f}"),
        ),
        (("sample: {rate: 0.1}\n", ""), ("{epsilon: 0.5, delta: 1.0e-9}", "none")),
    ],
)
def test_where_no_number_estimates_the_source_none_has_an_error(policy, change):
    file = policy("a", *change)
    if "guarantee: none" in file.read_text():
        Path("policy-engine.yaml").write_text("accounts: {people: {guarantee: none}}\n")
    done = release(load_policy(file, unpromised=True))
    assert done.to_arrow(errors=True) == done.to_arrow()
    assert "±" not in done._repr_html_().partition("<p>±")[0]
    with pytest.raises(UsageError, match="there is nothing to draw"):
        done.opened.picture()
    assert ("It promises no (ε, δ)." in done._repr_html_()) == (done.epsilon is None)


@pytest.mark.parametrize(
    ("unit", "names"),
    [
        ("year", ["2026"]), ("quarter", ["2026-Q3", "2026-Q4"]),
        ("month", ["2026-09", "2026-10"]), ("day", ["2026-09-30", "2026-10-01"]),
    ],
)  # fmt: skip
def test_a_unit_of_the_calendar_is_called_by_its_name(project, policy, unit, names):
    days = [date(2026, 9, 30), date(2026, 10, 1)] * 500
    pq.write_table(pa.table({"age": [30] * 1000, "sex": days}), "people.parquet")
    done = release(load_policy(policy("a", NOISY, ("sex: keep", f"sex: {{truncate: {unit}}}"))))
    labels = [bar.label for bar in done.opened.picture().bars]
    assert labels == [f"[30,60), {name}" for name in names]
    assert all(f"<td>{name}</td>" in done._repr_html_() for name in names)
    assert isinstance(done.to_arrow()["sex"][0].as_py(), date)


def test_bounds_and_rounding_are_named_where_they_move_a_number_alone(policy):
    done = release(load_policy(policy("a", SUMS, epsilon="0.9", delta="9.0e-7")))
    moved = "without the effect of bounds and of rounded values"
    for name, is_moved in (("n", False), ("total", True), ("mean", True)):
        assert (moved in done.opened.picture(name).caption) == is_moved
    assert moved in done._repr_html_()


def test_all_of_a_caption_is_in_a_picture(policy):
    """In lines that the picture has room for."""
    done = release(load_policy(policy("a", SUMS, epsilon="0.9", delta="9.0e-7")))
    picture = done.opened.picture("mean")
    root = ElementTree.fromstring(picture.svg())
    lines = [each for each in root.iter(f"{SVG}text") if each.attrib["x"] == "0"]
    assert " ".join(each.text for each in lines) == picture.caption
    assert len(lines) > 1 and all(len(each.text) <= 95 for each in lines)
    last, bar = lines[-1].attrib["y"], next(root.iter(f"{SVG}rect")).attrib["y"]
    assert int(last) < int(bar)


def test_a_week_is_called_by_its_name(project, policy):
    days = pa.array([date(2026, 12, 31)] * 500 + [date(2027, 1, 4)] * 500)
    pq.write_table(pa.table({"age": [30] * 1000, "sex": days}), "people.parquet")
    done = release(load_policy(policy("a", NOISY, ("sex: keep", "sex: {truncate: week}"))))
    assert done.to_arrow()["sex"].to_pylist() == ["2026-W53", "2027-W01"]
    labels = [bar.label for bar in done.opened.picture().bars]
    assert labels == ["[30,60), 2026-W53", "[30,60), 2027-W01"]
    assert "2026-W53" in done._repr_html_()


def test_what_the_rows_tell_its_author_stands_in_a_release_that_is_opened_again(policy):
    """In Python as in the CLI: that many have no value, which no raw row has to tell."""
    kinds = ("{file: people.parquet}", "{file: people.parquet, columns: {sex: date}}")
    done = release(load_policy(policy("a", NOISY, kinds, ("sex: keep", "sex: {truncate: month}"))))
    again = open_release(done.release)
    [said] = again.remarks
    assert said.startswith("sex is NULL in every row that is shown") and said in done.remarks
    assert f"<p>warning: {said}</p>" in again._repr_html_()


def test_a_release_of_nothing_opens(project, policy):
    pq.write_table(pa.table({"age": [1], "sex": ["x"]}), "people.parquet")
    done = release(load_policy(policy("a", NOISY)))
    assert done.remarks == open_release(done.release).remarks and len(done.remarks) == 1
    assert "it shows nobody" in done.remarks[0] and marked(done.remarks[0]) in done._repr_html_()
    assert done.to_pandas(errors=True).shape == (0, 6)
    assert done.opened.picture().description.endswith("No group is shown.")
    assert len(done.plot().patches) == 0 and "<svg" in done.opened.picture().svg()


def test_a_label_is_no_markup_in_a_picture(project, policy):
    people = pa.table({"age": [30] * 900, "sex": ["<script>&\u202e", "b", "c"] * 300})
    pq.write_table(people, "people.parquet")
    done = release(load_policy(policy("a", NOISY)))
    for text in (done.opened.picture().svg(), done._repr_html_()):
        assert "&lt;script&gt;&amp;" in text and "<script" not in text and "\u202e" not in text


def test_that_an_account_is_emptied_is_known_before_it_pays(cli, policy):
    file = policy("a", NOISY, epsilon="0.9", delta="9.0e-7")
    found = preview(load_policy(file))
    assert found.soon_empty.startswith("this empties account 'people': no other release like it")
    assert f"warning: {found.soon_empty}\n" in cli("plan", file).err
    assert preview(load_policy(policy("a", NOISY, epsilon="0.2"))).soon_empty == ""


def test_people_of_several_groups_are_not_told_to_be_so_many_people(project, policy):
    people = {"id": [i // 2 for i in range(1800)], "age": [30, 70] * 900, "sex": ["f"] * 1800}
    pq.write_table(pa.table(people), "people.parquet")
    unit = ("privacy_unit: row", "privacy_unit: {column: id}")
    limit = (NOISY[0], "contribution: {max_groups: 2}\n")
    done = release(load_policy(policy("a", unit, limit, epsilon="0.4")))
    assert done.people is None and abs(done.person_groups - 1800) < 100
    assert done.person_groups == sum(done.to_arrow()["n"].to_pylist())
    one = release(load_policy(policy("b", unit, (NOISY[0], "contribution: {max_groups: 1}\n"))))
    assert one.people == one.person_groups and abs(one.people - 900) < 100


def test_a_table_opens_by_its_certificate(project, cli):
    with duckdb.connect("w.duckdb") as connection:
        connection.sql("create table people as select i, i % 2 = 0 as even, date '2026-01-01' +"
                       " cast(i % 2 as int) as day from range(400) t(i)")  # fmt: skip
    Path("policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 9, delta: 1.0e-5}}\n"
        "warehouses: {w: {type: duckdb, database: w.duckdb}}\n"
    )
    policy = Policy.from_dict(
        {
            "version": 1, "name": "t", "source": {"table": "main.people"}, "privacy_unit": "row",
            "recode": {"day": "keep"}, "guarantee": {"epsilon": 1, "delta": 1e-6},
            "measures": {"total": {"sum": "i", "bounds": [0, 400]}},
            "release": {"table": "main.t"}, "account": "people",
        }
    )  # fmt: skip
    done = release(policy)
    table = done.to_arrow()
    assert [str(kind) for kind in table.schema.types[:2]] == ["date32[day]", "int64"]
    assert table.num_rows == 2 and isinstance(table["total"][0].as_py(), Decimal)
    assert open_release(done.certificate).to_arrow() == table
    assert done.opened.picture().bars[0].label == "2026-01-01"


def test_what_is_wrong_with_a_dict_is_told_without_lines():
    with pytest.raises(PolicyError) as caught:
        Policy.from_dict({"version": 1, "recode": {"sex": "keeps"}})
    told = [str(each) for each in caught.value.problems]
    assert "(a dict): name is missing" in told[0] or any(
        each.startswith("(a dict): name is missing") for each in told
    )
    assert all(each.line == each.column == 0 for each in caught.value.problems)


def test_a_dict_is_the_policy_that_its_file_is(project, policy):
    import numpy as np

    file = load_policy(policy("a", ("[30, 60]", "[30, 60.5]"), ("sex: keep", DATES)))
    found = Policy.from_dict(
        {
            "version": np.int64(1), "name": "a", "source": {"file": Path("people.parquet")},
            "privacy_unit": "row",
            "recode": {"age": {"bins": (30, np.float64(60.5))},
                       "born": {"bins": [date(2001, 1, 31)]}},
            "sample": {"rate": 0.1}, "k": 20,
            "guarantee": {"epsilon": Decimal("0.5"), "delta": 1e-9},
            "release": {"file": "out/a.parquet"}, "account": "people",
        }
    )  # fmt: skip
    assert found.digest == file.digest
    for wrong, said in (({"name": {1}}, "name"), ({None: 1}, "it"), ({"a": [{"b": b""}]}, "a")):
        with pytest.raises(UsageError, match=said):
            Policy.from_dict(wrong)


DATES = "born: {bins: [2001-01-31]}"
WITHOUT = """
import sys


class Absent:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in ("pandas", "polars", "matplotlib"):
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Absent())
from policy_engine import open_release

found = open_release(sys.argv[1])
assert found.to_arrow(errors=True).num_rows == 6
assert found._repr_html_() and found.picture().svg()
"""
