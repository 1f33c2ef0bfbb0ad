"""The command line as its users have it: real processes in a project of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POLICY = """\
version: 1
name: {name}
source: {{file: people.parquet}}
privacy_unit: row
recode:
  age: {{bins: [30, 60]}}
  sex: keep
sample: {{rate: 0.1}}
k: 20
guarantee: {{epsilon: 0.5, delta: 1.0e-9}}
release: {{file: out/{name}.parquet}}
account: people
"""
COMMAND = (sys.executable, "-m", "policy_engine")


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Project:
    """A project's folder, and the program run in it."""

    root: Path

    def policy(self, name: str = "a") -> str:
        (self.root / f"{name}.yaml").write_text(POLICY.format(name=name))
        return f"{name}.yaml"

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        given = {"stdin": subprocess.DEVNULL, "cwd": self.root, "encoding": "utf-8",
                 "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}  # fmt: skip
        return subprocess.Popen([*COMMAND, *words], **{**given, **options})

    def run(self, *words: str, **options: Any) -> Done:
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=600)
        assert "Traceback" not in (err or "")
        return Done(process.returncode, out or "", err or "")

    def shell(self, script: str) -> Done:
        """A bash script in which ``pe`` is the program."""
        pe = " ".join(COMMAND)
        done = subprocess.run(
            ["bash", "-c", f'pe() {{ {pe} "$@"; }}\n{script}'],
            cwd=self.root, capture_output=True, encoding="utf-8", timeout=600, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def released(self) -> list[str]:
        """The files that are published, without the copies of them."""
        return sorted(path.name for path in self.root.glob("out/*") if path.name != ".released")

    def leftovers(self) -> list[str]:
        ours = {".policy-engine", ".gitignore", ".lock"}
        if self.released():
            ours |= {".released"}
        return [str(path) for path in self.root.rglob(".*") if path.name not in ours]

    def account(self) -> dict[str, Any]:
        shown = self.run("ledger", "show", "people", "--format", "json")
        account: dict[str, Any] = shown.document["accounts"][0]
        return account
