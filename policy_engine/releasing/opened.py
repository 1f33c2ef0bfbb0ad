"""A release as a value: its rows as a table of Arrow, pandas or polars, and a picture of them.

Nothing is checked here: ``verify`` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import cached_property
from itertools import chain, groupby
from math import isnan
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.attest.attestation import unverified_release
from policy_engine.attest.certificates import added_edition, certificate_in, is_made_by_dbt
from policy_engine.attest.keys import explained
from policy_engine.attest.parquet_file import certificate_path, read_parquet
from policy_engine.attest.values import plain_lines, plain_values
from policy_engine.compile.column_names import promise_sentences
from policy_engine.errors import FileError, UsageError, WarehouseError, to_install
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.editions import Edition
from policy_engine.kernel.mechanisms.meaning import RowNumbers, ShownNumber
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes.meaning import RecodeMeaning
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.opening import bytes_in
from policy_engine.policy.project import Project, project_at
from policy_engine.releasing.picture import DrawnNumber, Picture, lies, marked
from policy_engine.releasing.standing import numbered, remarks_read
from policy_engine.values import frozen
from policy_engine.warehouse.base import EDITION
from policy_engine.warehouse.connecting import connected

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes

Line = tuple[Any, ...]
ERROR = "_sd"
"""Behind the name of a number, the name of the column of its errors."""
LOW, HIGH = "_low", "_high"
"""The same of the ends between which what counts lies in 95 of 100 releases."""
ESTIMATE = "_estimate"
"""The same of what a sample's number estimates in the source."""
_BEHIND = (ESTIMATE, ERROR, LOW, HIGH)
_PUTS_BACK = "move it away, and 'policy-engine restore POLICY' puts back what was released"
_IN_DBT = (
    "dbt made the table {}, and policy-engine.yaml does not say where: add a line such as"
    " 'warehouses: {{wh: {{type: dbt, profile: PROFILE, target: TARGET}}}}', with the profile that"
    " dbt_project.yml names and the target of the release"
)
_FIRST = 10
MOST_BARS = 40


@frozen
class OpenedRelease:
    """A release and its certificate, as ``open_release`` read them.

    Fields:
        ``place``: the file or table.
        ``certificate``: its certificate.
        ``rows``: the rows, in an order for people: bins are in the order of their cuts.
    """

    place: str
    certificate: Certificate
    rows: pa.Table

    @cached_property
    def numbers(self) -> tuple[ShownNumber, ...]:
        """The numbers of a row that estimate the source."""
        return tuple(meaning_of(self.certificate.claim).numbers(self.certificate))

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What its author may not have meant.

        Such as that nobody is shown, that many lack a value, or that most means are at a bound.
        """
        names, count = tuple(self.rows.column_names), self.certificate.count
        doubts = meaning_of(self.certificate.claim).doubts(names, plain_lines(self.rows))
        return (*remarks_read(self.certificate, names, numbered(self.rows, count)), *doubts)

    @property
    def promise(self) -> str:
        """What it promises of one person, in a sentence."""
        found = self.certificate.promise
        if not isinstance(found, Bounded):
            return "It promises no (ε, δ)."
        unit = self.certificate.unit
        said = promise_sentences(found.epsilon, found.delta, found.neighbours, unit)
        return f"ε = {found.epsilon:f}, δ = {float(found.delta):.3g}: {' '.join(said)}"

    def to_arrow(self, *, errors: bool = False) -> pa.Table:
        """The rows as an Arrow table.

        Arguments:
            ``errors``: if True, columns about its error follow each number.

        For a number ``n`` these columns are:

        * ``n_estimate``: an estimate of the number in the whole source. Only a release from a
          sample has this column.
        * ``n_sd``: the standard deviation of the error, rounded up to 3 digits. With a sample, it
          is the error of the estimate.
        * ``n_low`` and ``n_high``: in 95 of 100 releases, the number before noise is between them.
          With a sample, it is the number in the whole source. The two ends are rounded outwards at
          the last digit of ``n_sd``, but whole numbers are exact.

        The interval leaves out what ``max_groups``, ``max_rows_per_group``, bounds and rounding
        cut.

        If the row does not show the error, the last three columns are empty. For example, a mean
        shows no error if no column counts its values.

        For a median or quantile, ``n_sd`` is empty. If the row shows that there are too few values,
        ``n_low`` and ``n_high`` are the bounds in the policy. Otherwise they are empty, too.
        """
        import pyarrow as pa

        table = self.rows
        if not errors:
            return table
        rows = [RowNumbers.of(row) for row in table.to_pylist()]
        for number in self.numbers:
            place = table.column_names.index(number.name) + 1
            told = [_error_columns(row, number) for row in rows]
            for index in range(3, -1 if number.scale != 1 else 0, -1):
                column = pa.array([each[index] for each in told], pa.float64(), from_pandas=True)
                table = table.add_column(place, number.name + _BEHIND[index], column)
        return table

    def to_pandas(self, *, errors: bool = False) -> pd.DataFrame:
        """The rows as a pandas DataFrame. Decimals become floats.

        Arguments:
            ``errors``: if True, add columns about errors. ``to_arrow`` lists them.

        Errors: UsageError if pandas is not installed.
        """
        import pyarrow as pa

        try:
            import pandas as pd  # noqa: F401
        except ImportError:
            raise UsageError(_needs("to_pandas", "pandas")) from None
        table = self.to_arrow(errors=errors)
        for place, column in enumerate(table.schema):
            if pa.types.is_decimal(column.type):
                table = table.set_column(place, column.name, table[place].cast(pa.float64()))
        return table.to_pandas(date_as_object=False)

    def to_polars(self, *, errors: bool = False) -> pl.DataFrame:
        """The rows as a polars DataFrame.

        Arguments:
            ``errors``: if True, add columns about errors. ``to_arrow`` lists them.

        Errors: UsageError if polars is not installed.
        """
        try:
            import polars as pl
        except ImportError:
            raise UsageError(_needs("to_polars", "polars")) from None
        found = pl.from_arrow(self.to_arrow(errors=errors))
        assert isinstance(found, pl.DataFrame)  # of a table
        return found

    def to_csv(self, path: str | Path, *, errors: bool = False) -> None:
        """Write the rows to a CSV file. The first line has the names of the columns.

        A missing value becomes an empty field. If the edition has a name, a first column holds this
        name.

        Arguments:
            ``path``: the file to write.
            ``errors``: if True, add columns about errors. ``to_arrow`` lists them.

        Errors: FileError if the file cannot be written.
        """
        import pyarrow as pa
        from pyarrow import csv

        options = csv.WriteOptions(quoting_style="needed")
        table, name = self.to_arrow(errors=errors), self._edition.name
        if name:
            column = EDITION if EDITION not in table.column_names else f"release_{EDITION}"
            table = table.add_column(0, column, pa.array([name] * table.num_rows, pa.string()))
        with explained(f"{path} could not be written"):
            csv.write_csv(table, str(path), options)

    def picture(self, column: str | None = None, *, most: int = MOST_BARS) -> Picture:
        """The data of a bar chart, for a library of your own: one number of each group, with its
        error.

        Arguments:
            ``column``: the name of the number. The default is the first one, usually the count.
            ``most``: the greatest number of groups.

        Errors: UsageError if there is no number of this name, or none at all that estimates the
        source.
        """
        number = self._number(column)
        keys = self.certificate.claim.released
        bars = []
        for row in self.rows.slice(0, most).to_pylist():
            label = ", ".join(self._label(key, row[key]) for key in keys)
            bars.append(_drawn(label, RowNumbers.of(row), number))
        by, name = ", ".join(keys), self.certificate.terms.policy_name
        edition = self._edition
        return Picture(
            f"{name}{f' {edition.name}' if edition.name else ''}: {number.name} by {by}",
            number.words,
            by,
            tuple(bars),
            max(0, self.rows.num_rows - most),
            number.left_out,
            "" if number.unstated is None else str(number.unstated),
            edition.words,
        )

    def plot(
        self, column: str | None = None, *, axes: Axes | None = None, most: int = MOST_BARS
    ) -> Axes:
        """Draw the bar chart of ``picture`` with matplotlib.

        Arguments:
            ``column``: the name of the number. The default is the first one.
            ``axes``: the axes to draw on. By default new axes are made.
            ``most``: the greatest number of groups.

        Returns: the axes.

        Errors: UsageError if matplotlib is not installed, or if there is no number to draw.
        """
        return self.picture(column, most=most).draw(axes)

    @property
    def _edition(self) -> Edition:
        """Which edition it is; without a name the only one of its policy."""
        return self.certificate.terms.edition or Edition()

    @cached_property
    def _meanings(self) -> Mapping[str, RecodeMeaning[Any]]:
        """What the recode of each column says of its values."""
        columns = self.certificate.claim.columns
        return {column.name: recode_meaning(column.recode) for column in columns}

    def _label(self, column: str, value: object) -> str:
        """A value of a column as people read it."""
        meaning = self._meanings.get(column)
        return str(value) if meaning is None else meaning.label(value)

    def _cell(self, column: str, value: object, row: RowNumbers) -> str:
        """A value of a row as people read it, a number with its error."""
        number = next((each for each in self.numbers if each.name == column), None)
        if number is None or number.scale != 1:
            return self._label(column, value)
        drawn = _drawn("", row, number)
        is_told = number.unstated is None or value is None or drawn.between is not None
        mark = number.mark(row)
        beside = drawn.brackets if is_told else " (error not stated)"
        return f"{drawn.words}{beside}{f' ({mark})' if mark else ''}"

    def _number(self, column: str | None) -> ShownNumber:
        numbers = {number.name: number for number in self.numbers}
        if not numbers:
            law = "no number of a row of it estimates the source alone: there is nothing to draw"
            raise UsageError(f"{self.place}: {law}; 'policy-engine show' says what it means")
        if column is None:
            return self.numbers[0]
        if column not in numbers:
            known = ", ".join(numbers)
            raise UsageError(f"{self.place} has no number {column!r}; it has {known}")
        return numbers[column]

    def _repr_html_(self) -> str:
        """The promise, and the first rows with their errors."""
        meaning = meaning_of(self.certificate.claim)
        names = [name for name in self.rows.column_names if name not in meaning.once]
        head = "".join(f"<th>{marked(name)}</th>" for name in names)
        lines = []
        for row in self.rows.slice(0, _FIRST).to_pylist():
            numbers = RowNumbers.of(row)
            told = (self._cell(name, row[name], numbers) for name in names)
            cells = "".join(f"<td>{marked(text)}</td>" for text in told)
            lines.append(f"<tr>{cells}</tr>")
        more = self.rows.num_rows - len(lines)
        rest = f"<p>… and {more:,} more rows</p>" if more else ""
        first = [tuple(row.values()) for row in self.rows.slice(0, 1).to_pylist()]
        once = meaning.found(self.rows.column_names, first) if meaning.once else ()
        unstated = [str(each.unstated) for each in self.numbers if each.unstated is not None]
        remarked = (f"warning: {text}" for text in self.remarks)
        rest += "".join(f"<p>{marked(text)}</p>" for text in (*once, *unstated, *remarked))
        without = [each.left_out for each in self.numbers if each.unstated is None]
        name, edition = marked(self.certificate.terms.policy_name), self._edition.words
        which = f", edition {marked(edition)}" if edition else ""
        return (
            f"<p><b>{name}</b>{which}: {marked(self.promise)}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{rest}"
            f"<p>± is 1 SD; between the two in brackets {lies([*chain(*without)])}."
            " Nothing was checked here: <code>policy-engine verify</code> does.</p>"
        )


_THREE_UP, _WIDE = Context(prec=3, rounding=ROUND_CEILING), Context(prec=99)


def _error_columns(row: RowNumbers, number: ShownNumber) -> tuple[float | None, ...]:
    """What a row tells of a number, in the order of ``_BEHIND``: no digits that are noise alone."""
    error = _THREE_UP.create_decimal(str(float(number.deviation(row))))
    value, (low, high) = row.get(number.name), number.interval(row) or (None, None)
    estimate = None if value is None else float(value) * number.scale
    ends = zip((estimate, low, high), (ROUND_HALF_EVEN, ROUND_FLOOR, ROUND_CEILING), strict=True)
    at, *between = (None if end is None else _as_fine(end, error, to) for end, to in ends)
    return at, float(error), *between


def _as_fine(value: float, error: Decimal, rounding: str) -> float:
    """A value down to the last digit of its error, or to whole numbers where that is coarser.

    >>> _as_fine(0.28719, Decimal("0.012"), ROUND_FLOOR)
    0.2871
    >>> _as_fine(1234567.0, Decimal(1240), ROUND_FLOOR)
    1234567.0
    """
    if not error or error.is_nan():  # none is told
        return value
    step = Decimal(1).scaleb(min(0, error.adjusted() - 2))
    return float(Decimal(str(float(value))).quantize(step, rounding, _WIDE))


def _drawn(label: str, row: RowNumbers, number: ShownNumber) -> DrawnNumber:
    """A number of a row: of a mean of nobody there is none, and no column may tell its error."""
    value, error = row.get(number.name), number.deviation(row)
    if value is None:
        return DrawnNumber(label, None)
    told = None if isnan(error) else error
    return DrawnNumber(label, float(value) * number.scale, told, number.interval(row))


def open_release(place: str | Path, project: Project | None = None) -> OpenedRelease:
    """Read a release and its certificate, without the policy and without the ledger.

    Nothing is verified. To check the release, call ``verify``.

    Arguments:
        ``place``: the Parquet file of the release, or the certificate of the file or table.
        ``project``: the project whose warehouse contains the table. The default is the project of
            the working folder.

    Raises:
        FileError, WarehouseError, VerificationFailed: the release or its certificate cannot be
            read.
    """
    path = Path(place)
    named = path if path.suffix.lower() == ".json" else certificate_path(path)
    with explained(f"{named} could not be read"):
        stated = unverified_release(bytes_in(named))
    certificate = certificate_in(stated)
    if named == path and stated.subject_name.lower().endswith(".parquet"):
        path = named.with_name(Path(stated.subject_name).name)
    if path == named:
        name, claim = stated.subject_name, certificate.claim
        lines = lines_of_table(name, certificate, project or project_at(Path.cwd()))
        return OpenedRelease(name, certificate, _sorted(claim, _typed(claim, lines)))
    table, claim = rows_of(path), certificate.claim
    count = () if claim.count is None else (claim.count,)
    lost = {*claim.released, *count, *claim.law.beside} - {*table.column_names}
    if lost:
        law = f"{path} is not what {named} is of: it has no column {min(lost)!r}"
        raise FileError(f"{law}; {_PUTS_BACK}")
    return OpenedRelease(str(path), certificate, _sorted(claim, table))


def rows_of(path: Path) -> pa.Table:
    """The rows of a release's file. Errors: FileError where it cannot be read."""
    import pyarrow as pa

    try:
        with explained(f"{path} could not be read"):
            return read_parquet(path)
    except pa.ArrowException:
        law = f"{path} is not a Parquet file that can be read: it was changed since it was written"
        raise FileError(f"{law}; {_PUTS_BACK}") from None


def picture_of(certificate: Certificate, lines: Sequence[Line]) -> str:
    """The picture of a release whose values are texts, as SVG; empty where there is none."""
    if not lines:
        return ""
    try:
        rows = _typed(certificate.claim, lines)
        claim = certificate.claim
        return OpenedRelease("", certificate, _sorted(claim, rows)).picture().svg()
    except (UsageError, ValueError, ArithmeticError):  # no number of it; or a day of no year
        return ""


def lines_of_table(name: str, certificate: Certificate, project: Project) -> list[Line]:
    """The rows of a table that a certificate is of, each value as the engine writes it.

    Of a table of several editions those of one.

    Raises FileError, WarehouseError: it cannot be read.
    """
    named = project.warehouse
    if is_made_by_dbt(certificate) and named.type == "duckdb" and named.database is None:
        raise WarehouseError(_IN_DBT.format(name))
    with closing(connected(named)) as warehouse:
        target = warehouse.target(name)
        if not warehouse.exists(target):
            raise FileError(f"the table {name} is not in the project's warehouse {named.name}")
        return list(warehouse.release_lines(target, added_edition(certificate)))


def _typed(claim: Claim, lines: Sequence[Line]) -> pa.Table:
    """Rows of texts as values of their columns' kinds."""
    import pyarrow as pa

    kinds: dict[str, str] = dict.fromkeys(claim.law.before, "integer")
    kinds |= {shown.name: shown.kind for shown in claim.columns}
    if claim.count is not None:
        kinds[claim.count] = "integer"
    kinds |= dict.fromkeys(claim.law.beside, "decimal")
    if not lines:
        return pa.schema([(name, pa.string()) for name in kinds]).empty_table()
    columns = zip(*lines, strict=True)
    read = (
        pa.array([None if text is None else _READ.get(kind, str)(text) for text in column])
        for kind, column in zip(kinds.values(), columns, strict=True)
    )
    return pa.Table.from_arrays(list(read), list(kinds))


_READ: Mapping[str, Callable[[str], object]] = {
    "integer": int,
    "decimal": Decimal,
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
}


def _sorted(claim: Claim, table: pa.Table) -> pa.Table:
    """A release in reading order."""
    import pyarrow as pa

    # Texts of moments, for Python knows no year beyond 9999; a bin is a text anyway.
    columns = [plain_values(column) for column in table.columns[: len(claim.released)]]
    numbered = [*columns, range(table.num_rows)]
    names = (*table.column_names[: len(columns)], "")
    lines = in_reading_order(claim, names, list(zip(*numbered, strict=True)))
    return table.take(pa.array([line[-1] for line in lines], pa.int64()))


def _needs(method: str, extra: str) -> str:
    return f"{method} needs {extra}; run {to_install(extra)}, or pip install {extra}"


def of_groups(
    claim: Claim, names: Sequence[str], lines: Iterable[Line]
) -> tuple[tuple[str, ...], tuple[Line, ...]]:
    """The columns and rows without what is one number of the whole release, told in words."""
    once = meaning_of(claim).once
    places = [place for place, name in enumerate(names) if name not in once]
    return tuple(names[at] for at in places), tuple(
        tuple(line[at] for at in places if at < len(line)) for line in lines
    )


def marks_of(
    certificate: Certificate, names: Sequence[str], lines: Iterable[Line]
) -> tuple[Mapping[str, str], ...]:
    """By column what a reader of each row's numbers must know beside them, where there is such."""
    numbers = tuple(meaning_of(certificate.claim).numbers(certificate))
    rows = (RowNumbers.of(dict(zip(names, line, strict=False))) for line in lines)
    told = ([(each.name, each.mark(row)) for each in numbers] for row in rows)
    return tuple({name: mark for name, mark in row if mark} for row in told)


def in_reading_order(claim: Claim, names: Sequence[str], lines: Sequence[Line]) -> list[Line]:
    """The rows of a file, which are sorted by what they show, with bins by their cuts.

    Labels are texts, so that ``<30`` stands behind ``100-199`` in the file. Every other column
    stays in its order there, and so does all of it where the rows have other columns than the claim
    says.

    >>> _ordered([("<9", 1), ("9-19", 2), (">=19", 3), (None, 4)], 0, {0: {"<9": 0, "9-19": 1}})
    [('<9', 1), ('9-19', 2), ('>=19', 3), (None, 4)]
    """
    columns = claim.columns
    if any(len(line) != len(names) for line in lines):
        columns = ()
    ranks = {
        names.index(column.name): {label: n for n, label in enumerate(order)}
        for column in columns
        if (order := recode_meaning(column.recode).order) and column.name in names
    }
    return _ordered(lines, 0, ranks)


def _ordered(
    lines: Sequence[Line], place: int, ranks: Mapping[int, Mapping[str, int]]
) -> list[Line]:
    """Rows that are alike before ``place``, from there on in order."""
    if place > max(ranks, default=-1):
        return list(lines)
    alike = [(value, list(group)) for value, group in groupby(lines, itemgetter(place))]
    if (own := ranks.get(place)) is not None:
        alike.sort(key=lambda each: own.get(each[0], len(own)))
    return [line for _, group in alike for line in _ordered(group, place + 1, ranks)]
