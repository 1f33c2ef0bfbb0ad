"""The numbers and the picture of the README: a real release beside the truth.

python scripts/front.py releases policies/hospital_groups in a folder of its own, counts the same
groups exactly (the visits are invented, so that the truth may be shown), and writes both.
"""

from __future__ import annotations

import contextlib
import math
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import duckdb

from policy_engine.policy.loading import load_policy_text
from policy_engine.release import release

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PICTURE = ROOT / "docs/_static/front.svg"
NEIGHBOURS = ROOT / "docs/_static/with-and-without.svg"
POLICY = ROOT / "policies/hospital_groups/policy.yaml"
VISITS = ROOT / "policies/hospital_visits/data/visits.parquet"
#: The table of one run: all that the README says of it, with the picture.
TABLE = re.compile(r"^\| Emergency \|.*?\n(?=\n)", re.DOTALL | re.MULTILINE)
TRUTH = """
select department, date_trunc('quarter', visit_date)::date as quarter,
       count(distinct person_id) as n
from read_parquet(?) group by all order by all
"""


@dataclass(frozen=True)
class Group:
    """A department in a quarter: how many patients there were, and how many were published."""

    department: str
    quarter: str
    truth: int
    published: int

    @property
    def error(self) -> int:
        """How far what was published is from what is true."""
        return self.published - self.truth


def truth() -> dict[tuple[str, str], int]:
    """The patients of each group, counted exactly."""
    rows = duckdb.execute(TRUTH, [str(VISITS)]).fetchall()
    return {(name, f"Q{(day.month + 2) // 3} {day.year}"): n for name, day, n in rows}


def run() -> list[Group]:
    """A release of its own, beside the truth."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy2(VISITS, folder)  # a project and a ledger of its own
        text = POLICY.read_text("utf-8").replace("../hospital_visits/data/", "")
        with contextlib.chdir(folder):
            made = release(load_policy_text(text, Path(folder) / "policy.yaml", folder)).release
        shown = duckdb.execute("from read_parquet(?)", [str(Path(folder) / made)]).fetchall()
    exact = truth()
    found = [
        Group(name, quarter, exact[name, quarter], n)
        for name, day, n in shown
        for quarter in [f"Q{(day.month + 2) // 3} {day.year}"]
    ]
    assert len(found) == len(exact)
    return found


def table(groups: list[Group]) -> str:
    """Two of the groups as rows of a table."""
    first = [g for g in groups if g.department == "Emergency"][:2]
    rows = "".join(
        f"| {g.quarter} | {g.truth:,} | {g.published:,} | {g.error:+} |\n" for g in first
    )
    return f"| Emergency | true | published | error |\n|---|---|---|---|\n{rows}"


def picture(groups: list[Group]) -> str:
    """Bars as published, and to the right of each its error beside the noise's own spread."""
    wide, row, top, left, scale = 760, 20, 46, 172, 290 / 9000
    middle, reach = 640, 90 / 60
    high = top + row * len(groups) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        "<title>Patients by department and quarter: published counts and their errors</title>",
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
        f'<text x="{left}" y="20" font-weight="bold" fill="#1a1a1a">published</text>',
        f'<text x="{middle}" y="20" text-anchor="middle" font-weight="bold" fill="#1a1a1a">'
        "error: published − true</text>",
        f'<rect x="{middle - 11 * reach:.0f}" y="{top - 8}" width="{22 * reach:.0f}" '
        f'height="{row * len(groups) + 8}" fill="#dbe7f3"/>',
    ]
    for tick in (-50, 0, 50):
        place = middle + tick * reach
        parts.append(
            f'<line x1="{place:.0f}" x2="{place:.0f}" y1="{top - 8}" '
            f'y2="{top + row * len(groups)}" stroke="#8a8a8a" stroke-width="0.7"/>'
            f'<text x="{place:.0f}" y="{top - 12}" text-anchor="middle" fill="#444444">'
            f"{f'{tick:+}' if tick else '0'}</text>"
        )
    for place, group in enumerate(groups):
        y = top + row * place
        parts.append(
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end" fill="#1a1a1a">'
            f"{group.department}, {group.quarter[:2]}</text>"
            f'<rect x="{left}" y="{y + 2}" width="{group.published * scale:.1f}" height="13" '
            'fill="#2f6da3"/>'
            f'<text x="{left + group.published * scale + 6:.1f}" y="{y + 12}" fill="#1a1a1a">'
            f"{group.published:,}</text>"
            f'<circle cx="{middle + group.error * reach:.1f}" cy="{y + 8}" r="4" fill="#a3402f">'
            f"<title>{group.department}, {group.quarter}: {group.truth:,} in the data, "
            f"{group.published:,} published, error {group.error:+}</title></circle>"
        )
    parts.append(
        f'<text x="{left}" y="{high - 10}" fill="#444444">One run on invented visits. The band is '
        "± 11, one standard deviation of the noise.</text></svg>"
    )
    return "\n".join(parts) + "\n"


def neighbours() -> str:
    """How likely each published number is, with a person and without one, at ε = 0.5."""
    wide, high, foot, step, tall = 760, 250, 200, 26, 600
    shift = math.exp(-0.5)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        "<title>How likely each published number is, with Bob and without him</title>",
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>',
        '<rect x="30" y="14" width="12" height="12" fill="#2f6da3"/>'
        '<text x="48" y="24" fill="#1a1a1a">with Bob: 1,000 people</text>'
        '<rect x="230" y="14" width="12" height="12" fill="#c98a2b"/>'
        '<text x="248" y="24" fill="#1a1a1a">without Bob: 999 people</text>',
    ]
    for number in range(987, 1014):
        x = 30 + (number - 987) * step
        for place, (truth_, colour) in enumerate(((1000, "#2f6da3"), (999, "#c98a2b"))):
            chance = (1 - shift) / (1 + shift) * shift ** abs(number - truth_)
            tip = chance * tall
            parts.append(
                f'<rect x="{x + 10 * place}" y="{foot - tip:.1f}" width="9" height="{tip:.1f}" '
                f'fill="{colour}"/>'
            )
        if number % 5 == 0:
            parts.append(
                f'<text x="{x + 9}" y="{foot + 18}" text-anchor="middle" fill="#1a1a1a">'
                f"{number:,}</text>"
            )
    parts.append(
        f'<text x="30" y="{foot + 40}" fill="#444444">the published number; a bar is as high as '
        "it is likely (ε = 0.5)</text></svg>"
    )
    return "\n".join(parts) + "\n"


def main() -> None:
    """Release once, and write the table and the picture of that run, and the picture of noise."""
    NEIGHBOURS.write_text(neighbours(), "utf-8")
    groups = run()
    README.write_text(TABLE.sub(table(groups), README.read_text("utf-8")), "utf-8")
    PICTURE.write_text(picture(groups), "utf-8")
    print(f"{len(groups)} groups, largest error {max(abs(g.error) for g in groups)}")


if __name__ == "__main__":
    main()
