"""A starter policy and project file, from a source's schema and never from its values.

A recoding to begin with follows a column's name and type. Cuts follow public convention: statistics
by age begin new classes at 18 and 65, incomes are told in tens of thousands, what nobody can name
is cut by orders of magnitude.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import date
from decimal import ROUND_FLOOR, Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.accounting.in_words import in_text
from policy_engine.attest.keys import make_folder
from policy_engine.compile.catalog import NUMBERS, TIMES, Field, Kind, Table, fresh
from policy_engine.compile.column_names import (
    LABELS,
    PEOPLE,
    POSTCODE,
    by_name,
    is_key,
    likely_key,
    person_key,
    type_by_name,
    words_in,
)
from policy_engine.errors import FileError, UsageError, WarehouseError
from policy_engine.opening import text_in
from policy_engine.policy.csv_models import is_csv
from policy_engine.policy.laws import SCHEMAS
from policy_engine.policy.places import KEPT, PROJECT_FILE
from policy_engine.policy.project import (
    Project,
    default_project,
    find_project,
    load_project,
)
from policy_engine.policy.project_models import connections
from policy_engine.policy.resolve import Source
from policy_engine.policy.scalars import plain_scalar
from policy_engine.policy.source_models import SOURCE_FILES
from policy_engine.warehouse.connecting import connected, resolved

if TYPE_CHECKING:
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

_SCHEMA = "# yaml-language-server: $schema={}\n"
_PROJECT = """\
# Found upwards from the working directory. Paths are relative to this file.
# An account limits what one group of people can lose in total. A release about them is charged.
accounts:
  people: {epsilon: 1.0, delta: 1.0e-6}
# For tables of a DuckDB file, or of {type: postgres, url: postgresql://user@host/database}.
# Then run: policy-engine init TABLE
# warehouses:
#   own: {type: duckdb, database: own.duckdb}
"""

_STARTED = EpsilonDelta(Decimal(1), Decimal("1e-6"))
"""As the project file above says."""

_POLICY = """\
version: 1
name: {name}
description: Say what is released, and for whom
source:
  {source}
{unit}
{period}{recode}
mechanism: noisy_counts    # everybody is counted, and each count gets noise
# k: 10                    # with it, each group that is shown has at least 10 people for certain
guarantee: {guarantee}
release:
  file: out/{name}.parquet{count}
{budget}
"""
_ROWS = "privacy_unit: row          # one row is one person"
_WHO = "# Who is one person? The source does not say it. If a person has several rows, only "
_EPSILON, _DELTA = Decimal("0.5"), Decimal("1e-7")
_A_YEAR, _FEW = 12, 5
"""So many editions of a table with dates, which grows, and of another one."""
_EMPTY = """\
# Uncomment the columns to release, and choose how coarse each is before you look at the data.
recode:                    # a column that is not named here is not released
{columns}"""
_EXAMPLE = """\
recode:                    # a column that is not named here is not released
  age: {bins: [18, 30, 45, 65]}
  sex: keep"""
_TYPED = "# and uncomment its type in source.columns\n"
_MORE = (
    '# csv may say more: {decimal: ",", thousands: ".", dates: "%d.%m.%Y", true: [ja],'
    " false: [nein], nulls: [NA]}"
)
_TYPES = "# columns: {{{}}}   # or integer, double, boolean, date; all others are text"
_NAMED = "# the first line names the columns; if it is a row: {header: false, columns: [age, sex]}"
_UNNAMED = (
    "# the first line looks like a row, or names two columns alike: name the columns here and in",
    "# recode. If it is a header, it is no person: write header: true",
)
_OF_A_VIEW = (
    "\n  view: rowwise            # you confirm: each row of the view comes from one person's rows"
)
_CHOICES = (
    "  # keep, {prefix: 2} or {map: {a: b}, other: other}. With a type in source.columns also"
    "\n  # {bins: [18, 65]} or {round: 10} for numbers, {truncate: year} for dates"
)
_KEYED = "this column says whose row it is"
_AT_MOST = "a person counts in at most so many groups"
_LIMITS = (
    "# If a person is in more groups, only so many of them count, and the numbers get too low. So"
    " write the\n# highest number that a person can have. 'policy-engine suggest' can lower it by"
    " the data, at a price.\n# count_cut: true tells how many people have more.\n"
)
_POLICY_SCHEMA = f"{KEPT}/policy.schema.json"
_PROJECT_SCHEMA = f"{KEPT}/project.schema.json"
_ACCOUNT = "accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}"
_NAME_IT = (
    "name it in policy-engine.yaml, as in warehouses: {{here: {}}},{}"
    " and name a table by schema and name: 'policy-engine init {}'"
)
_PLAIN = re.compile(r"[^\W\d][\w./-]*")


Levels = Callable[[Field], str]
"""The levels of a column that a search may choose among, as YAML; empty where it has none."""
_SEARCH = (
    "\nsearch: {epsilon: 0.01}   # 'policy-engine search' chooses one level a column, at this price"
    "\n# The levels are guessed from names and types: write those that make sense for your columns."
    "\n# at_most: {COLUMN: 1} in search allows no level above the first one of this column."
)


def write_starter(
    source: str | None, output: Path, levels: Levels | None = None
) -> tuple[Path, ...]:
    """Write the policy, a project file where there is none, and their schemas for editors.

    Never over a file, but of the schemas, which are the engine's own. With ``levels`` it is a
    policy to search among them.

    Raises:
        FileError: the policy is there already, or the source cannot be read.
        WarehouseError: the source is a table that the warehouse does not have.
        PolicyError: there is a project file and it has problems.
        UsageError: the source's name is blank, or it is a database.
    """
    if os.path.lexists(output):
        raise FileError(f"{output} exists; name another file with --output")
    folder = Path(os.path.abspath(output)).parent  # noqa: PTH100 - it may not exist yet
    found = find_project(folder)
    project = load_project(found) if found is not None else default_project(folder)
    start = found.parent if found is not None else output.parent
    own = Path(os.path.relpath(project.directory.resolve() / _POLICY_SCHEMA, folder.resolve()))
    files = {output: _SCHEMA.format(own.as_posix()) + _policy(source, folder, project, levels)}
    if found is None:
        files[start / PROJECT_FILE] = _SCHEMA.format(_PROJECT_SCHEMA) + _PROJECT
    shipped = {_POLICY_SCHEMA: "v1.json", _PROJECT_SCHEMA: "project.json"}
    schemas = {start / to: (SCHEMAS / name).read_text("utf-8") for to, name in shipped.items()}
    _write_new(files | {path: text for path, text in schemas.items() if not path.exists()})
    for path, text in schemas.items():
        if text_in(path) != text:  # of another version of the engine
            path.write_text(text, "utf-8")
    return tuple(files)


def _write_new(files: dict[Path, str]) -> None:
    """Write all of these files, none of which may exist, or none."""
    written: list[Path] = []
    for path, text in files.items():
        try:
            if path.parent.name == KEPT:
                make_folder(path.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(text)
        except OSError as error:
            for done in written:
                done.unlink(missing_ok=True)
            is_file = path.parent.exists() and not path.parent.is_dir()
            reason = "a part of its path is a file" if is_file else error.strerror
            raise FileError(f"{path} could not be written: {reason}") from None


def _policy(
    source: str | None, folder: Path, project: Project, levels: Levels | None = None
) -> str:
    name, place, recode, count = "my_release", "file: data/people.parquet", _EXAMPLE, ""
    when, is_text, is_dated = None, False, False
    unit = undecided("person_id")
    if source is not None:
        if not source.strip():
            raise UsageError("the source has no name; name a file or a table, or leave it out")
        table = _table(source, project)
        is_file = table.path is not None
        planned = [each.name for terms in project.windows.values() for each in terms.plan]
        named = _name(Path(table.path).stem if table.path else source.rpartition(".")[2])
        name = fresh(
            named, planned
        )  # what is planned is another policy, or the plan would be of two
        place = f"file: {_scalar(_relative(source, folder))}" if is_file else f"table: {source}"
        place += _OF_A_VIEW if table.view is not None else ""
        is_text = is_file and is_csv(source)
        if is_text:
            place += _csv_lines(Path(source), table)
        many = _keyed(table)
        unit = _unit(table) if many is None else _all_rows(table, *many)
        recode = _EMPTY.format(columns="\n".join(_lines(table, levels)))
        columns = [column.name for column in table.columns]
        counted, rows = fresh("n", columns), fresh("n_rows", columns)
        count = "" if counted == "n" else f"\ncount: {{people: {counted}}}        # n is a column"
        if many is not None:
            count = f"\ncount: {{people: {counted}, rows: {rows}}}   # people decide what is shown"
        when = _when(_readable(table))
        is_dated = when is not None or any(map(_is_dated, _readable(table)))
        if when is None and is_text:
            when = next(filter(_is_dated, _readable(table)), None)
    return _POLICY.format(
        name=name, source=place, unit=unit, count=count,
        recode=recode + ("" if levels is None else _SEARCH),
        period="" if when is None else _period(when.name, name) + _TYPED * is_text,
        guarantee=_guarantee(project, _A_YEAR if is_dated else _FEW), budget=_budget(project),
    )  # fmt: skip


def _readable(table: Table) -> list[Field]:
    """The columns that can be named."""
    return [each for each in table.columns if each.name.isprintable() and table.find(each.name)]


def _when(columns: Iterable[Field]) -> Field | None:
    """The first column of dates or times; None where there is none."""
    return next((each for each in columns if each.kind in {*TIMES, Kind.DATE}), None)


def _is_dated(column: Field) -> bool:
    """Whether a column is called as dates are."""
    return type_by_name(column.name) in {"date", "timestamp"} and not is_key(column)


def _period(column: str, name: str) -> str:
    """How the rows of each month are released once, to be uncommented."""
    first = f"{date.today():%Y-%m}"  # what is past is released, and charged, by whoever asks for it
    period = f'# period: {{column: {_scalar(column)}, every: month, from: "{first}"}}'
    return (
        f"{period}   # only the rows of one month, after it has ended;\n"
        f'# with it, write below: file: "out/{name}-{{edition}}.parquet"\n'
    )


def _guarantee(project: Project, editions: int) -> str:
    """So many editions of the one account that can pay; else numbers that leave room in each."""
    limits = [*project.accounts.values()] if project.file else [_STARTED]
    planned = any(terms.plan for terms in project.windows.values())
    if len(limits) == 1 and limits[0] is not None and not planned:
        return f"{{editions: {editions}}}  # {editions} such releases fill the account"
    epsilon, delta = _loose(limits)
    return f"{{epsilon: {in_text(epsilon)}, delta: {delta:.1e}}}"


def _loose(accounts: Iterable[EpsilonDelta | None]) -> tuple[Decimal, Decimal]:
    """ε and δ that leave room: the least account pays for four by the plain sum alone."""
    limits = [limit for limit in accounts if limit is not None]
    first_digit = Context(prec=1, rounding=ROUND_FLOOR).plus
    epsilon = min([_EPSILON, *(first_digit(limit.epsilon / 4) for limit in limits)])
    return epsilon, min([_DELTA, *(first_digit(limit.delta / 10) for limit in limits)])


def _keyed(table: Table) -> tuple[Field, Field | None] | None:
    """The column that says whose row it is where a person may have many, and one of dates."""
    columns = _readable(table)
    key = person_key(each for each in columns if each.name not in table.unique)
    return None if key is None else (key, _when(columns))


def _all_rows(table: Table, key: Field, when: Field | None, *, of_rows: bool = True) -> str:
    """That all rows of a person count, and how many; and how one of them could, or each by itself.

    ``of_rows``: rows are counted beside people, or are not.

    Files of a folder have no row numbers, and rows of a view no place: a row is no person there.
    """
    column = _scalar(key.name)
    one = f"# privacy_unit: {{column: {column}, rows: any}}   # only one row of a person counts"
    if when is not None:
        last = f"{when.name} desc"
        term = last if _scalar(when.name) == when.name else json.dumps(last)
        first = f"{{first_by: [{term}]}}}}"
        one = (
            f"# privacy_unit: {{column: {column}, rows: {first}   # only a person's last row counts"
        )
    row = "" if table.is_folder or table.view is not None else f"\n# {_ROWS}"
    if not of_rows:
        return (
            f"privacy_unit: {{column: {column}}}   # {_KEYED}; all rows of a person count\n"
            f"{_LIMITS}contribution: {{max_groups: 4}}   # {_AT_MOST}\n"
            f"# Or, instead of these two lines:\n{one}{row}"
        )
    return (
        f"privacy_unit: {{column: {column}}}   # {_KEYED}; all rows of a person count\n"
        f"{_LIMITS}# {_AT_MOST}, with at most so many rows in each:\n"
        "contribution: {max_groups: 4, max_rows_per_group: 10}\n"
        "# Or, instead of these two lines, and without rows in count:\n"
        f"{one}{row}"
    )


def _unit(table: Table) -> str:
    """Whose row it is where no column seems to say that a person may have many: as ``_keyed``.

    Of a table in which no two rows have one value of such a column, a row is a person. Files of a
    folder have no row numbers, and rows of a view no place: they need such a column.
    """
    columns = _readable(table)
    only = next((each.name for each in columns if each.name in table.unique), "")
    key = person_key(columns)
    # A column without equal values is of a row: whose row it is, another one says.
    likely = key or likely_key([each for each in columns if each.name not in table.unique])
    column = _scalar(likely.name) if likely else "person_id"
    if table.is_folder or table.view is not None:
        asks = "Name the column that says whose row it is"
        return (
            f"{_WHO}a\n# key protects this person. {asks}, with two lines:\n"
            f"# privacy_unit: {{column: {column}}}   # all rows of a person count\n"
            f"# contribution: {{max_groups: 4}}   # {_AT_MOST}\n{_LIMITS.rstrip()}"
        )
    if key is not None and key.name == only:  # the catalog says that no two rows have one of it
        one = f"privacy_unit: {{column: {_scalar(only)}, rows: one}}"
        return f"{_ROWS}\n# {one}   # the same for rows without numbers: each has another {only}"
    return undecided(column)


def undecided(column: str) -> str:
    """Who is one person where nothing says it: a choice that the author has to make."""
    return (
        f"{_WHO}the\n# second choice protects this person."
        " Uncomment one of the two; the second has two lines:\n"
        f"# {_ROWS}, and nobody has two rows\n"
        f"# privacy_unit: {{column: {column}}}   # {_KEYED}; all rows of a person count\n"
        f"# contribution: {{max_groups: 4}}   # {_AT_MOST}\n"
        f"{_LIMITS.rstrip()}"
    )


def _budget(project: Project) -> str:
    if project.file is None or len(project.accounts) == 1:
        account = next(iter(project.accounts), "people")
        return f"account: {_scalar(account):<17} # an account of policy-engine.yaml"
    if not project.accounts:
        return (
            "# No account limits what people can lose in total. Write in policy-engine.yaml\n"
            f"# {_ACCOUNT}\n"
            "# and here:\n# account: people"
        )
    named = ", ".join(project.accounts)
    default = "; default: the source" if project.accounts_open else ""
    return f"# account: the account that pays, of policy-engine.yaml ({named}){default}"


def _table(source: str, project: Project) -> Table:
    """The source's columns: of a file, or of a table where no file has that name."""
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

    path, named = Path(source), project.warehouse
    is_server = named.type != "duckdb" and not path.exists()
    if is_server and not source.lower().endswith(SOURCE_FILES):
        with closing(connected(named)) as server:
            return server.table(Source(None, source), project.directory)
    is_file = path.exists() or source.lower().endswith(SOURCE_FILES) or named.database is None
    if is_file and path.suffix.lower() in (".duckdb", ".ddb", ".db"):
        database = f"{{type: duckdb, database: {source}}}"
        raise UsageError(f"{source} is a database: {_name_it(database, project, 'main.visits')}")
    if not is_file:
        resolved(named)
    with closing(DuckDBWarehouse(named.name, None if is_file else named.database)) as warehouse:
        if is_file:
            return _of_file(warehouse, path, project)
        try:
            return warehouse.table(Source(None, source), project.directory)
        except WarehouseError as error:
            raise WarehouseError(f"{error}; there is no file {source} either") from None


def _name_it(warehouse: str, project: Project, table: str) -> str:
    """What to write in a project so that a table of a warehouse has a source and an account."""
    account = "" if project.accounts else f" and an account that limits the releases, {_ACCOUNT},"
    return _NAME_IT.format(warehouse, account, table)


def _of_file(warehouse: DuckDBWarehouse, path: Path, project: Project) -> Table:
    from policy_engine.warehouse.csv_files import options_in
    from policy_engine.warehouse.files import check_file

    path = Path(os.path.abspath(path))  # noqa: PTH100 - "." has no name, and a link keeps its own
    try:
        if is_csv(path.name):
            check_file(path, path.name)
            _, names = options_in(path, path.name)
            return Table(tuple(Field(n, "VARCHAR") for n in names if n), path=path.name)
        return warehouse.table(Source(path.name, None), path.absolute().parent)
    except FileError as error:
        if path.exists() or path.name.lower().endswith(SOURCE_FILES):
            raise
        first, *others = connections()
        named = _name_it(first, project, path.name if "." in path.name else f"SCHEMA.{path.name}")
        known = f"other warehouses are {', '.join(others[:-1])} and {others[-1]}"
        raise FileError(
            f"{error}; if it is a table, find its warehouse and {named}; {known}"
        ) from None


def _relative(source: str, folder: Path) -> str:
    """The path from the policy's folder, through no link that another folder lies behind."""
    path = Path(source).absolute()
    start = folder.resolve()
    return Path(os.path.relpath(path.parent.resolve() / path.name, start)).as_posix()


def _name(stem: str) -> str:
    """A policy's name made of a file's: plain letters, digits and underscores."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", stem).strip("_")
    return (plain if plain[:1].isalpha() else f"release_{plain}".rstrip("_"))[:100]


def _scalar(text: str) -> str:
    """A YAML scalar that reads as this text; JSON strings are YAML.

    >>> _scalar("age"), _scalar("null"), _scalar("a: b")
    ('age', '"null"', '"a: b"')
    """
    if _PLAIN.fullmatch(text) and plain_scalar(text) == text:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _csv_lines(path: Path, table: Table) -> str:
    """How a CSV file is read, by its first line alone, and as what its columns may be, by name."""
    from policy_engine.warehouse.csv_files import options_in, shown

    spec, _ = options_in(path, path.name)
    lines = [f"csv: {shown(spec)}"] if spec.model_fields_set else []
    lines[:0] = _UNNAMED if spec.columns else (_NAMED,)
    kinds = {each.name: _text_as(each) for each in _readable(table)}
    named = (f"{_scalar(name)}: {kind}" for name, kind in kinds.items() if kind)
    types = _TYPES.format(", ".join(named) or "age: integer, born: date")
    return "".join(f"\n  {line}" for line in (*lines, _MORE, types))


def _text_as(column: Field) -> str:
    """As what a text may be read by its column's name; empty where it is best as it is."""
    return type_by_name(column.name) if suggestion(column) == "keep" else ""


def _lines(table: Table, levels: Levels | None = None) -> list[str]:
    """A commented suggestion a column: whoever writes the policy must choose each."""
    is_text = table.path is not None and is_csv(table.path)
    lines = [_CHOICES] if is_text else []
    for column in table.columns:
        remark = " ".join(column.type.split("(")[0].split())[:40]
        if is_text:  # what it may be cut to once its type is named
            kind = _text_as(column)
            typed = Field(column.name, _AS_TYPE.get(kind, column.type))
            remark = f"or as {kind} {suggestion(typed)}" if kind else ""
        if table.find(column.name) is None:
            told = "cannot be told from another column by case alone: rename one of them"
            lines.append(f"  # {json.dumps(column.name)} {told}")
            continue
        lines.append(_line(column, remark, levels, is_unique=column.name in table.unique))
    return lines


_AS_TYPE = {"integer": "BIGINT", "double": "DOUBLE", "date": "DATE", "timestamp": "TIMESTAMP"}


def _line(column: Field, remark: str, levels: Levels | None, *, is_unique: bool) -> str:
    if not column.name.isprintable() or not column.name.strip():
        return f"  # {json.dumps(column.name)} cannot be released under this name: rename it"
    recoding, name = "" if is_unique else suggestion(column), _scalar(column.name)
    if recoding and levels is not None:
        recoding = levels(column) or recoding
    told = f": {recoding}" if recoding else " seems to name one person or row, leave it out"
    return f"  # {name}{told}    # {remark}" if remark else f"  # {name}{told}"


_MONEY = re.compile(r"(DECIMAL|NUMERIC)\([0-9]+, ?2\)")
"""What money is stored as, whatever it is called: to the cent."""
_BY_MAGNITUDE = "{bins: [1, 10, 100, 1000, 10000]}"
_WHOSE = f"{PEOPLE} first last full given family middle"
_DIRECT = (
    "uuid guid ssn email mail phone mobile fax iban passport surname firstname lastname fullname"
    " street address password token hash ip url comment comments note notes remark remarks"
    " vorname nachname strasse anschrift prenom nom rue adresse telephone courriel"
    " apellido apellidos calle direccion correo telefono"
)


def suggestion(column: Field) -> str:
    """A recoding that takes the column's type; empty where it seems to name one person or row.

    >>> suggestion(Field("passenger_age", "SMALLINT")), suggestion(Field("plan", "VARCHAR"))
    ('{bins: [18, 30, 45, 65]}', 'keep')
    >>> suggestion(Field("customerId", "BIGINT")), suggestion(Field("plz", "VARCHAR"))
    ('', '{prefix: 2}')
    """
    words, kind = {*words_in(column.name)}, column.kind
    names_one = words & {*_DIRECT.split()} or words == {"name"}
    if is_key(column) or names_one or ("name" in words and words & {*_WHOSE.split()}):
        return ""
    if kind in NUMBERS:
        is_label = kind is Kind.INTEGER and words & {*LABELS.split()}
        by_shape = by_name("price") if _MONEY.fullmatch(column.type.upper()) else _BY_MAGNITUDE
        return by_name(column.name) or ("keep" if is_label else by_shape)
    if kind is Kind.DATE:
        return "{truncate: year}"
    if kind in TIMES:
        return "{truncate: quarter}"
    if kind is Kind.TEXT and words & {*POSTCODE.split()}:
        return "{prefix: 2}"
    return "{constant: '*'}" if kind is Kind.OTHER else "keep"
