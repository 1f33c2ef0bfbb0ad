"""Releases of each law, in a folder, under names as hostile as names can be."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from policy_engine.cli.main import run

HOSTILE = "{ env_var('HOME') } <script> [x](http://e.org) {raw}\u202e\nnot stated: `|"
_PROJECT = "accounts: {people: {epsilon: 90.0, delta: 1.0e-3}, others: {}}\n"
_POLICY = """\
version: 1
name: {name}
{about}
source: {{file: {account}.parquet}}
privacy_unit: row
filter: {{year: {{at_least: 2000}}}}
recode:
  age: {{bins: [30, 60]}}
  "{town}": {town_recode}
{law}
release: {{file: {name}.parquet{shown_as}}}
account: {account}
"""
_LAWS = {
    "sampled": "sample: {rate: 0.2}\nk: 40\nguarantee: {epsilon: 0.5, delta: 1.0e-6}",
    "noisy": "mechanism: noisy_counts\n"
    "measures: {pay: {mean: pay, bounds: [0, 100], missing: {as: 0}}}\n"
    "guarantee: {epsilon: 1, delta: 1.0e-6}",
    "answers": "mechanism: randomised_response\n"
    "guarantee: {epsilon: 2, delta: 0, neighbours: replace_one}",
    "tuples": "mechanism: ab_insertion\nguarantee: {epsilon: 1, delta: 0}",
}
ENDINGS = {"nist": "md"}
TOWN = "town {x}|<b>"


def make_world(folder: Path, text: str | None = HOSTILE) -> None:
    """A release of each law; ``text`` is what the author says of everything."""
    (folder / "policy-engine.yaml").write_text(_PROJECT)
    rows = 4000
    source = {
        "age": [20 + i % 60 for i in range(rows)],
        TOWN: ["ab"[i % 2] for i in range(rows)],
        "pay": [i % 100 for i in range(rows)],
        "year": [2001] * rows,
    }
    for account in ("people", "others"):
        source["year"][0] += 1
        pq.write_table(pa.table(source), folder / f"{account}.parquet")
    for name, law in _LAWS.items():
        (folder / f"{name}.yaml").write_text(_policy(name, law, text))
        assert in_folder(folder, "release", f"{name}.yaml") == 0


def _policy(name: str, law: str, text: str | None) -> str:
    is_public = name in ("answers", "tuples")
    quoted = "" if text is None else '"' + text.encode("unicode_escape").decode() + '"'
    # A purpose is one line.
    purpose = quoted.replace("\\n", " ")
    keys = ("contact", "recipients", "access", "justification", "region", "sector")
    told = ", ".join(f"{key}: {quoted}" for key in keys)
    about = f"description: {quoted}\npurpose: {purpose}\nabout: {{{told}}}"
    made = _POLICY.format(
        name=name,
        account="others" if name == "answers" else "people",
        about="" if text is None else about,
        town=TOWN,
        town_recode="{map: {a: A}, other: B}" if is_public else "keep",
        law=law,
        shown_as=", as: rows" if name == "tuples" else "",
    )
    return "\n".join(
        line for line in made.split("\n") if not (is_public and line.startswith("filter"))
    )


def in_folder(folder: Path, *words: str) -> int:
    """The exit code of a command that is run in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        return run([*words])
    finally:
        os.chdir(before)


def exported(folder: Path, name: str, form: str, *words: str) -> str:
    """A release in a form of others."""
    files = (f"{name}.certificate.json", "--release", f"{name}.parquet")
    out = f"{name}.{form}.{ENDINGS.get(form, 'yaml')}"
    given = ("--policy", f"{name}.yaml", "--format", form, "-o", out, "--replace", *words)
    assert in_folder(folder, "report", *files, *given) == 0
    return (folder / out).read_text("utf-8")
