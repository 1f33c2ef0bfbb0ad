"""The pictures of docs/howto/attack.md, into docs/_static/lecture.

    PYTHONPATH=. .venv/bin/python benchmarks/attack_figures.py

The lecture's tables are read from the page, the coins from the table of
docs/explanation/how-we-tested.md; the sample of password prefixes is drawn here, with a fixed
seed, by the law that the release has.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from policy_engine.cli.comparing import BLUE, DARK, GREY, RED, draw, legend

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "docs/_static/lecture"
PAGE = ROOT / "docs/howto/attack.md"
EVIDENCE = ROOT / "docs/explanation/how-we-tested.md"
_PALE, _SAND = "#9cc4d2", "#e3b7a6"
_COLOURS = (RED, BLUE, DARK, _PALE, _SAND, GREY)
RATE, K = 0.25, 10


def listing(name: str) -> list[dict[str, str]]:
    """A CSV file that the page shows."""
    return list(csv.DictReader(_lines(name)))


def _stacks(axes: Axes, title: str, cells: Counter[tuple[str, str]]) -> None:
    """A bar for each class, of the shares of what its people have."""
    classes = list(dict.fromkeys(key for key, _ in cells))
    values = list(dict.fromkeys(value for _, value in cells))
    below = np.zeros(len(classes))
    for colour, value in zip(_COLOURS, values, strict=False):
        people = np.array([cells[key, value] for key in classes])
        shares = people / np.array([sum(cells[key, v] for v in values) for key in classes])
        axes.bar(classes, shares, bottom=below, color=colour, width=0.6, label=value)
        below += shares
    axes.set_title(title, fontsize=9)
    axes.set_ylim(0, 1)
    axes.grid(visible=False)
    legend(axes)


def paint_classes(figure: Figure) -> None:
    """The lecture's three tables: what each class of people has."""
    left, middle, right = figure.subplots(1, 3, sharey=True)
    patients = Counter((f"{r['zip']}\n{r['age']}", r["disease"]) for r in listing("patients.csv"))
    _stacks(left, "3-anonymous patients", patients)
    kinds = dict(line.split(";")[:2] for line in _lines("kinds.csv"))
    salaries = Counter(
        (f"{r['zip']}\n{r['age']}", kinds[r["disease"]]) for r in listing("salaries.csv")
    )
    _stacks(middle, "3-diverse salaries: kinds of illness", salaries)
    tests = Counter({("476**", "positive"): 5, ("476**", "negative"): 5,
                     ("479**", "positive"): 5, ("479**", "negative"): 985})  # fmt: skip
    _stacks(right, "a test, positive once in a hundred", tests)
    left.set_ylabel("share of the class")


def _lines(name: str) -> list[str]:
    found = re.search(rf"^`{name}`:\n\n```\w+\n(.+?)```", PAGE.read_text("utf-8"), re.DOTALL | re.M)
    assert found is not None, name
    return found[1].splitlines()


def paint_passwords(figure: Figure) -> None:
    """Sizes of the buckets of three digits: all of them, and those that a sample shows."""
    file = ROOT / "policies/password_prefix/data/digests.parquet"
    digests = pq.read_table(file).column("sha1").to_pylist()
    exact = np.sort(list(Counter(digest[:3] for digest in digests).values()))[::-1]
    sampled = np.random.default_rng(5).binomial(exact, RATE)
    places = np.arange(1, len(exact) + 1)
    shown = sampled >= K
    axes = figure.subplots()
    axes.plot(places[shown], sampled[shown] / RATE, ".", color=_PALE, markersize=3,
              label=f"released: {shown.sum():,} of {len(exact):,} buckets, sampled count / {RATE}",
              rasterized=False)  # fmt: skip
    axes.plot(places, exact, color=RED, label="published exactly")
    axes.axhline(K / RATE, color=GREY, linestyle="--", label=f"k / rate = {K / RATE:.0f}")
    axes.set_yscale("log")
    axes.set_xlabel("buckets, the fullest first")
    axes.set_ylabel("accounts in the bucket")
    legend(axes)


def rows() -> Iterator[tuple[str, str, float, float, float, float]]:
    """Of the table of evidence: attack, how published, share, its interval, and bound."""
    text = EVIDENCE.read_text("utf-8")
    [head] = re.findall(r"^\| attack \| (.+) \| at most \|$", text, re.MULTILINE)
    for name, cells, bound in re.findall(
        r"^\| ([^|]+) \| (.+\(.+) \| ([\d.]+) \|$", text, re.MULTILINE
    ):
        for how, cell in zip(head.split(" | "), cells.split(" | "), strict=True):
            if cell != "–":
                share, low, high = map(float, re.findall(r"[\d.]+", cell))
                yield name, how, share, low, high, float(bound)


def paint_coins(figure: Figure) -> None:
    """How often each attack was right, with its interval, and the bound."""
    axes = figure.subplots()
    found = list(rows())
    names = list(dict.fromkeys(name for name, *_ in found))
    styles = {"sampled suppression": (BLUE, "o"), "counts with noise": (DARK, "D"),
              "αβ insertion": (GREY, "^")}  # fmt: skip
    for offset, (how, (colour, marker)) in enumerate(styles.items()):
        mine = [row for row in found if row[1] == how]
        at = [names.index(row[0]) + 0.2 * (offset - 1) for row in mine]
        errors = [[row[2] - row[3] for row in mine], [row[4] - row[2] for row in mine]]
        axes.errorbar([row[2] for row in mine], at, xerr=errors, fmt=marker, color=colour,
                      markersize=3, linewidth=1, label=how)  # fmt: skip
    for row in found:
        place = names.index(row[0])
        label = "at most, by (ε, δ)" if row is found[0] else None
        bound = [row[5]] * 2
        axes.plot(bound, [place - 0.4, place + 0.4], color=GREY, linestyle=":", label=label)
    axes.axvline(50, color="#dddddd", linewidth=1)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(45, 101)
    axes.set_xlabel("right, of 100 guesses (95 % intervals)")
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.4, -0.12), ncols=5)


PICTURES = {
    "classes": (paint_classes, 8.4),
    "passwords": (paint_passwords, 6.4),
    "coins": (paint_coins, 8.4),
}


def main() -> None:
    """Draw all."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name, (paint, width) in PICTURES.items():
        draw(OUTPUT / f"{name}.svg", paint, width)


if __name__ == "__main__":
    main()
