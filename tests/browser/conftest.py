"""One browser, and one world of releases whose names are as hostile as names can be."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from chromium import running

from policy_engine.cli.main import run

SCRIPT = "<script>window.pwned = 1</script>"
MARKUP = "\"'><img src=https://example.org/x onerror='window.pwned = 1'>"
BIDI = "user\u202efdp.exe\u2066\u200f"
STYLE = "</style></head><body><svg onload=window.pwned=1>{{ 7*7 }}{% raw %}"
HOSTILE = (SCRIPT, MARKUP, BIDI, STYLE)
#: Columns of the widest release.
WIDE = 5000 if os.environ.get("EVIDENCE") else 800
RTL = "עברית العربية"

PROJECT = "accounts: {people: {epsilon: 9.0, delta: 1.0e-3}}\n"
POLICY = """\
version: 1
name: {name}
description: {text}
purpose: {text}
about: {{contact: {text}, recipients: {text}, access: {text}, justification: {text}, region: {text},
  sector: {text}}}
source: {{file: {name}.source.parquet}}
privacy_unit: row
recode:
{recode}
{mechanism}
guarantee: {{epsilon: 0.5, delta: 1.0e-7}}
release: {{file: {name}.parquet}}
account: {budget}
"""
SAMPLED, NOISY = "sample: {rate: 0.2}\nk: 40", "mechanism: noisy_counts"


def quoted(text: str) -> str:
    return '"' + text.encode("unicode_escape").decode().replace('"', '\\"') + '"'


@dataclass(frozen=True)
class World:
    """A project's folder, in which reports are made."""

    folder: Path

    def release(
        self,
        name: str,
        columns: dict[str, list[str]],
        mechanism: str = SAMPLED,
        text: str = SCRIPT,
        budget: str = "people",
    ) -> None:
        pq.write_table(pa.table(columns), self.folder / f"{name}.source.parquet")
        recode = "\n".join(f"  {quoted(column)}: keep" for column in columns)
        (self.folder / f"{name}.yaml").write_text(
            POLICY.format(
                name=name,
                text=quoted(text),
                recode=recode,
                mechanism=mechanism,
                budget=quoted(budget),
            )
        )
        assert self.run("release", f"{name}.yaml") == 0

    def choose(self, name: str) -> None:
        """Choose a recoding of a policy privately, and release by the one that was chosen."""
        text = (self.folder / f"{name}.yaml").read_text()
        text = text.replace(f"name: {name}\n", "name: chosen\n")
        text = text.replace(f"{{file: {name}.parquet}}", "{file: chosen.parquet}")
        (self.folder / "choice.yaml").write_text(f"{text}search: {{epsilon: 1}}\n")
        for words in (("search", "choice.yaml"), ("release", "choice.chosen.yaml")):
            assert self.run(*words) == 0

    def report(self, name: str, *words: str, code: int = 0) -> str:
        page = self.folder / f"{name}.html"
        kind = "yaml" if name == "choice.chosen" else "parquet"
        release = () if "--bare" in words else ("--release", f"{name}.{kind}")
        given = [word for word in words if word != "--bare"]
        out = ("-o", page.name, "--replace")
        assert self.run("report", f"{name}.certificate.json", *release, *given, *out) == code
        return page.as_uri()

    def run(self, *words: str) -> int:
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            return run([*words])
        finally:
            os.chdir(before)


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    with running() as found:
        yield found


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Releases that are hostile, wide, of nothing, and with noise."""
    made = World(tmp_path_factory.mktemp("world"))
    (made.folder / "policy-engine.yaml").write_text(PROJECT)
    values = [*HOSTILE, RTL]
    made.release(
        "hostile",
        {each: [values[i % 5] for i in range(3000)] for each in (*HOSTILE[:3], RTL)},
    )
    made.choose("hostile")
    made.release("noisy", {"town": ["a", "b"] * 500, "sex": ["f", "m", "m", "f"] * 250}, NOISY)
    made.release("nothing", {"town": ["a", "b"] * 5})
    made.release("wide", {f"column_{number}": ["x"] * 500 for number in range(WIDE)})
    return made
