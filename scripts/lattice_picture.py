"""The picture of docs/howto/choose-a-recoding.md: the lattice of Sweeney's example.

python scripts/lattice_picture.py draws the 12 schemes of the example, and marks what has
k-anonymity and what is k-minimal, by the engine's own search.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from policy_engine.choose.lattice import Histogram, Ladder, Lattice, Scheme
from policy_engine.choose.searching import Anonymity, SchemeSearch, k_minimal

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/_static/sweeney-lattice.svg"
LATTICE = Lattice.of(
    [
        Ladder.of("race", [("Black", "person"), ("White", "person")]),
        Ladder.of("zip", [(z, z[:4], z[:3]) for z in ("02138", "02139", "02141", "02142")]),
    ]
)
PEOPLE = Histogram(np.array([*product(range(2), range(4))]), np.ones(8, dtype=np.int64))
K = 2
WIDE, STEP, BOX, HIGH, TOP = 480, 84, (140, 50), 590, 94
GREEN, GREY, INK = "#2f7d4f", "#999999", "#1a1a1a"


def picture() -> str:
    """The lattice as SVG: the finest scheme at the foot, and a line for one level of one column."""
    search = SchemeSearch(PEOPLE, LATTICE, Anonymity(K))
    minimal = {*k_minimal(search)}
    schemes = [*LATTICE.schemes()]
    places = {scheme: _place(scheme, schemes) for scheme in schemes}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{HIGH}" '
        f'viewBox="0 0 {WIDE} {HIGH}" role="img" '
        'font-family="system-ui, sans-serif" font-size="15" text-anchor="middle">',
        f"<title>The {len(schemes)} schemes of Sweeney's example, with k = {K}</title>",
        f'<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/>',
        *_legend(),
    ]
    parts += [
        f'<line x1="{places[fine][0]}" y1="{places[fine][1]}" x2="{places[coarse][0]}" '
        f'y2="{places[coarse][1]}" stroke="{GREY}"/>'
        for fine, coarse in product(schemes, schemes)
        if sum(coarse) - sum(fine) == 1 and all(a <= b for a, b in zip(fine, coarse, strict=True))
    ]
    for scheme, (x, y) in places.items():
        levels = ", ".join(
            f"{ladder.column} {level}"
            for ladder, level in zip(LATTICE.ladders, scheme, strict=True)
        )
        precision = float(LATTICE.precision(scheme))
        style = _style(is_minimal=scheme in minimal, has_it=search.has(scheme))
        parts += [
            f'<rect x="{x - BOX[0] // 2}" y="{y - BOX[1] // 2}" width="{BOX[0]}" '
            f'height="{BOX[1]}" rx="6" {style}/>',
            f'<text x="{x}" y="{y - 4}" fill="{INK}">{levels}</text>',
            f'<text x="{x}" y="{y + 15}" fill="{INK}">{precision:.3f}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _place(scheme: Scheme, schemes: list[Scheme]) -> tuple[int, int]:
    """The middle of a scheme's box: as high as the sum of its levels."""
    height = sum(scheme)
    beside = sorted((each for each in schemes if sum(each) == height), reverse=True)
    highest = max(map(sum, schemes))
    room = WIDE // 3
    left = (WIDE - room * len(beside)) // 2
    return left + room * beside.index(scheme) + room // 2, TOP + 40 + STEP * (highest - height)


def _style(*, is_minimal: bool, has_it: bool) -> str:
    if is_minimal:
        return f'fill="#cdebd8" stroke="{GREEN}" stroke-width="4"'
    if has_it:
        return f'fill="#e9f6ee" stroke="{GREEN}"'
    return f'fill="#ffffff" stroke="{GREY}" stroke-dasharray="5 4"'


def _legend() -> list[str]:
    told = (
        (_style(is_minimal=True, has_it=True), f"k-minimal, for k = {K}"),
        (_style(is_minimal=False, has_it=True), "k-anonymous, and a finer scheme is too"),
        (_style(is_minimal=False, has_it=False), "not k-anonymous"),
    )
    return [
        f'<rect x="14" y="{12 + 26 * at}" width="26" height="16" rx="3" {style}/>'
        f'<text x="50" y="{25 + 26 * at}" text-anchor="start" fill="{INK}">{text}</text>'
        for at, (style, text) in enumerate(told)
    ]


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
