"""Columns of whatever names, each with a type and a recoding of it, for hypothesis to choose."""

from __future__ import annotations

from hypothesis import strategies as st

LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"])
TEXTS = st.text(LETTERS, max_size=6)
NAMES = st.text(LETTERS, min_size=1, max_size=8).filter(str.strip)
CUTS = st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=4)


def yaml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def bins(cuts: list[int], places: int) -> str:
    return f"{{bins: [{', '.join(f'{cut / 10**places:.{places}f}' for cut in sorted(set(cuts)))}]}}"


def lookup(table: dict[str, str], other: str) -> str:
    pairs = ", ".join(f"{yaml(key)}: {yaml(label)}" for key, label in table.items())
    return f"{{map: {{{pairs}}}, other: {yaml(other)}}}"


def lookups(keys: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lookup, st.dictionaries(keys, TEXTS, min_size=1, max_size=3), TEXTS)


NUMBERS = lookups(st.integers(-(10**6), 10**6).map(str))
RECODES: dict[str, st.SearchStrategy[str]] = {
    "BIGINT": st.one_of(st.just("keep"), st.builds(bins, CUTS, st.just(0)), NUMBERS),
    "DOUBLE": st.one_of(
        st.builds(bins, CUTS, st.integers(0, 4)),
        st.integers(1, 999).map(lambda step: f"{{round: {step / 100:.2f}}}"),
    ),
    "DECIMAL(12,3)": st.one_of(st.just("keep"), st.builds(bins, CUTS, st.integers(0, 3)), NUMBERS),
    "VARCHAR": st.one_of(
        st.just("keep"), lookups(TEXTS), st.integers(1, 99).map("{{prefix: {}}}".format)
    ),
    "DATE": st.sampled_from(["keep", "{truncate: month}", "{bins: [1970-01-01, 2000-02-29]}"]),
    "TIMESTAMP": st.sampled_from(["keep", "{truncate: hour}", "{bins: [1970-01-01]}"]),
    "ANYTHING": TEXTS.map(lambda text: f"{{constant: {yaml(text)}}}"),
}
COLUMNS = st.dictionaries(
    NAMES,
    st.sampled_from(sorted(RECODES)).flatmap(lambda kind: st.tuples(st.just(kind), RECODES[kind])),
    min_size=1,
    max_size=4,
).filter(lambda found: len({name.casefold() for name in found} - {"the count"}) == len(found))
