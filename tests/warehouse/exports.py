"""One table of invented people, as programs export it, and what must be released of it.

Every export says how it is read; all of them give the same groups.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import cycle, product
from typing import Any

TOWNS = ("Köln", "Bad Tölz; Süd", 'Haus "Ost"')
NAMES = ("town", "paid", "born", "member", "note")


@dataclass(frozen=True)
class Person:
    town: str | None
    paid: float
    born: datetime
    member: bool
    note: str


def people() -> list[Person]:
    """Some 300 people in groups of different sizes, of whom a few have no town."""
    found = []
    for number, (town, rich, old, member) in enumerate(
        product((*TOWNS, None), (False, True), (False, True), (False, True))
    ):
        for copy in range(3 + number):
            paid = (1234.5 if rich else 11.96) + copy
            born = datetime(1970 if old else 2003, 3, 1 + copy % 28, 14, 5)
            found.append(Person(town, paid, born, member, f"line {copy}"))
    return found


def groups(found: Iterable[Person] | None = None) -> dict[tuple[Any, ...], int]:
    """What is released of them: town, whether they paid 1,000, were born by 2000, are members."""
    return dict(
        Counter(
            (
                person.town,
                "<1000" if person.paid < 1000 else ">=1000",
                "<2000-01-01" if person.born.year < 2000 else ">=2000-01-01",
                person.member,
            )
            for person in (people() if found is None else found)
        )
    )


def german(number: float) -> str:
    """1.234,50."""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


Cells = Callable[[Person], list[str]]


def cells(
    paid: Callable[[float], str] = lambda paid: f"{paid:.2f}",
    born: str = "%Y-%m-%d",
    words: tuple[str, str] = ("false", "true"),
    null: str = "",
) -> Cells:
    """How a person is written."""
    return lambda p: [
        null if p.town is None else p.town,
        paid(p.paid),
        p.born.strftime(born),
        words[p.member],
        p.note,
    ]


def written(row: Cells, header: Iterable[str] | None = NAMES, **form: Any) -> str:
    """All of them, by Python's own writer."""
    text = io.StringIO()
    out = csv.writer(text, **{"lineterminator": "\n", **form})
    if header is not None:
        out.writerow(header)
    out.writerows(map(row, people()))
    return text.getvalue()


def joined(row: Cells, delimiter: str, header: Iterable[str] = NAMES) -> str:
    """All of them without quotes, where nothing needs any."""
    return "\n".join(delimiter.join(each) for each in (header, *map(row, people()))) + "\n"


PLAIN = cells()
EXCEL = cells(german, "%d.%m.%Y", ("FALSCH", "WAHR"))
_DE = 'decimal: ",", thousands: ".", dates: "%d.%m.%Y", true: [wahr], false: [falsch]'
_SEMICOLON = f'delimiter: ";", {_DE}'
_NAMED = "columns: [town, paid, born, member, note]"


@dataclass(frozen=True)
class Export:
    """A file, and what `source.csv` says of it."""

    content: str | bytes
    csv: str = ""
    name: str = "people.csv"
    encoding: str = "utf-8"

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return self.content.encode(self.encoding) if isinstance(self.content, str) else self.content


def exports() -> dict[str, Export]:
    """By the program that writes so."""
    return {**_of_excel(), **_of_databases(), **_of_programs()}


def _of_excel() -> dict[str, Export]:
    text = written(EXCEL, delimiter=";", lineterminator="\r\n")
    bare = written(EXCEL, None, delimiter=";")
    ended = text.replace("\r\n", ";\r\n")
    broken = written(lambda p: [*EXCEL(p)[:4], f"{p.note}\r\nand; more"], delimiter=";")
    totals = f"{text}Summe;{german(sum(p.paid for p in people()))};;;\r\n"
    ansi = "windows-1252"
    return {
        "excel": Export(text, f"encoding: {ansi}, {_SEMICOLON}", encoding=ansi),
        "latin-1": Export(text, f"encoding: latin-1, {_SEMICOLON}", encoding="latin-1"),
        "excel, bom": Export(text, _SEMICOLON, encoding="utf-8-sig"),
        "excel, unicode text": Export(
            written(EXCEL, delimiter="\t"), f"encoding: utf-16, {_DE}", "people.txt", "utf-16"
        ),
        "excel, sep=;": Export(f"sep=;\r\n{text}", f"skip: 1, {_SEMICOLON}"),
        "totals": Export(totals, f"skip_last: 1, {_SEMICOLON}"),
        "quoted line breaks": Export(broken, _SEMICOLON),
        "trailing delimiter": Export(ended, _SEMICOLON),
        "trailing delimiter of rows": Export(ended.replace("note;", "note", 1), _SEMICOLON),
        "no header": Export(bare, f"header: false, {_NAMED}, {_SEMICOLON}"),
    }


def _of_databases() -> dict[str, Export]:
    mysql = written(
        cells(null="\\N", words=("0", "1")), None, doublequote=False, escapechar="\\"
    ).replace("\\\\N", "\\N")
    postgres = joined(cells(null="\\N", words=("f", "t")), "\t")
    server = ",".join(NAMES) + "\n" + ",".join("-" * len(name) for name in NAMES) + "\n"
    server += written(cells(null="NULL", born="%Y-%m-%d %H:%M:%S", words=("0", "1")), None)
    server += "\n(300 rows affected)\n"
    oracle = written(cells(born="%d-%b-%y"), quoting=csv.QUOTE_ALL)
    sap = written(cells(lambda paid: german(paid) + " EUR", "%Y/%m/%d", ("", "X")), delimiter="|")
    of_sap = 'delimiter: "|", decimal: ",", thousands: ".", units: EUR, dates: "%Y/%m/%d"'
    no_null = 'nulls: ["\\\\N"]'
    return {
        "mysql": Export(mysql, f'escape: "\\\\", {no_null}, header: false, {_NAMED}'),
        "postgresql": Export(postgres, f"quote: none, {no_null}", "people.tsv"),
        "sql server": Export(server, 'comment: "-", skip_last: 1, nulls: ["NULL"]'),
        "oracle": Export(oracle, 'dates: "%d-%b-%y", century: 1930'),
        "sap": Export(sap, f'{of_sap}, true: [X], false: [""]', "people.txt"),
    }


def _of_programs() -> dict[str, Export]:
    plain = written(PLAIN)
    rows = written(PLAIN, None).splitlines()
    pandas = ",".join(("", *NAMES)) + "\n"
    pandas += "".join(f"{number},{row}\n" for number, row in enumerate(rows))
    sas = written(cells(born="%d%b%Y", words=("N", "Y"), null="."))
    r = written(cells(null="NA", words=("FALSE", "TRUE")), quoting=csv.QUOTE_ALL)
    american = cells(lambda paid: f"${paid:,.2f}", "%m/%d/%Y %I:%M %p", ("No", "Yes"))
    of_google = 'thousands: ",", units: ["$"], dates: "%m/%d/%Y %I:%M %p", true: Yes, false: No'
    french = cells(lambda paid: f"{paid:,.2f}".replace(",", "\u00a0").replace(".", ",") + " %")
    of_libre_office = 'delimiter: ";", decimal: ",", thousands: " ", units: "%"'
    swiss = cells(lambda paid: f"{paid:,.2f}".replace(",", "’"))
    ends = cycle(("\n", "\r\n", "\r"))
    mixed = "".join(f"{line}{end}" for line, end in zip(plain.splitlines(), ends, strict=False))
    return {
        "gzip": Export(gzip.compress(plain.encode()), name="people.csv.gz"),
        "tabs, gzip": Export(
            gzip.compress(written(PLAIN, delimiter="\t").encode()), name="people.tsv.gz"
        ),
        "old mac": Export(plain.replace("\n", "\r"), "encoding: mac-roman", encoding="mac-roman"),
        "pandas, with its index": Export(pandas),
        "r": Export(r, "nulls: [NA]"),
        "sas": Export(sas, 'nulls: ["."], dates: "%d%b%Y", true: Y, false: N'),
        "google forms": Export(written(american, quoting=csv.QUOTE_ALL), of_google),
        "libreoffice, french": Export(written(french, delimiter=";"), of_libre_office),
        "spaces after delimiters": Export(plain.replace(",", ", "), "trim: true"),
        "names twice": Export(
            written(PLAIN, ("town", "a", "", "a", "")), f"header: true, {_NAMED}"
        ),
        "swiss": Export(written(swiss, delimiter=";"), 'delimiter: ";", thousands: "’"'),
        "utf-16 without a mark": Export(plain, "encoding: utf-16-le", encoding="utf-16-le"),
        "line ends of three systems": Export(mixed),
        "empty lines": Export(plain.replace("\n", "\n\n", 50)),
        "comments": Export(f"# made by a machine\n{plain}# the end\n", 'comment: "#"'),
    }
