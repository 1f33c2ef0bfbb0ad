"""Pages of the documentation as sessions: what runs, what is written, what must come out.

The convention is in CONTRIBUTING.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
COPIED = (
    "examples",
    "policies",
    "policy-engine.yaml",
    "scripts",
    "Makefile",
    "pyproject.toml",
    "uv.lock",
)
_FENCE = re.compile(r"^(?P<ticks>```+)(?P<info>[^`]*)$")
_FILE = re.compile(r"^`(?P<name>[^`]+)`:$")


@dataclass
class Block:
    """A fenced block: its language, the file that it is if it is one, its lines."""

    language: str
    line: int
    lines: list[str] = field(default_factory=list)
    file: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


@dataclass
class Command:
    """A command and the output that the page shows."""

    line: int
    text: str
    expected: list[str] = field(default_factory=list)


def pages() -> list[Path]:
    """Every page that may hold something that runs."""
    docs = [p for p in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in p.parts]
    return [ROOT / "README.md", *sorted((ROOT / "contributing").glob("*.md")), *docs]


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    current: Block | None = None
    ticks, name = "", ""
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if current is None:
            if fence:
                ticks = fence["ticks"]
                current = Block(fence["info"].strip(), number, file=name)
            elif line:
                named = _FILE.match(line)
                name = named["name"] if named else ""
        elif line == ticks:
            yield current
            current, name = None, ""
        else:
            current.lines.append(line)
    assert current is None, f"{page}: a fence is not closed"


def commands(block: Block) -> list[Command]:
    """The commands of a ``console`` block."""
    found: list[Command] = []
    for number, line in enumerate(block.lines, block.line + 1):
        if line.startswith("$ "):
            found.append(Command(number, line[2:]))
        elif line.startswith("> ") and found and not found[-1].expected:
            found[-1].text += "\n" + line[2:]
        else:
            assert found, f"line {number}: output before the first command"
            found[-1].expected.append(line)
    return found


def commands_of(block: Block) -> list[Command]:
    """The commands of any block; none where it does not run."""
    return commands(block) if block.language == "console" else []


def matches(expected: list[str], found: str) -> bool:
    """Whether ``found`` is what the page shows, ``...`` standing for any text."""
    shown = "\n".join(line.rstrip() for line in expected).strip("\n")
    real = "\n".join(line.rstrip() for line in found.splitlines()).strip("\n")
    pattern = ".*?".join(re.escape(part) for part in shown.split("..."))
    return re.fullmatch(pattern, real, re.DOTALL) is not None


def checkout(folder: Path) -> Path:
    """A copy of what a user runs, without releases, and with an environment that is set up."""
    folder = folder / "policy-engine"
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            leave = shutil.ignore_patterns("out", "__pycache__", ".policy-engine")
            shutil.copytree(source, folder / name, ignore=leave)
        else:
            shutil.copy2(source, folder / name)
    commands_folder = folder / ".venv" / "bin"
    commands_folder.mkdir(parents=True)
    for name in ("python", "policy-engine"):
        # Not a link: through one, Python would look for its packages in this folder.
        wrapper = commands_folder / name
        wrapper.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).parent / name}" "$@"\n')
        wrapper.chmod(0o755)
    (folder / ".venv" / ".ready").touch()
    return folder


def environment() -> dict[str, str]:
    """The user's environment, with this interpreter's commands first."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("POLICY_ENGINE", "COV_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    fixed = {"PATH": path, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "PYTHONWARNINGS": "ignore"}
    return {**kept, **fixed}


def run_page(page: Path, folder: Path) -> list[str]:
    """Run a page in ``folder``; what did not come out as shown."""
    script, shown = ["set +e"], []
    for block in blocks(page):
        if block.file:
            assert ".." not in block.file and not block.file.startswith("/")
            script.append(_writing(Path(block.file), block.text))
        elif block.language == "console":
            for command in commands(block):
                # The mark does not change $?, which the page may ask for next.
                script += [command.text, 'rc=$?; printf "\\n@@ %s @@\\n" $rc; (exit $rc)']
                shown.append(command)
    if not shown:
        return []
    run = subprocess.run(
        ["sh", "-c", "\n".join(script)],
        cwd=folder, env=environment(), text=True, timeout=900, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    parts = re.split(r"\n@@ (\d+) @@\n", run.stdout)
    outputs = list(zip(parts[::2], parts[1::2], strict=False))
    wrong = []
    if len(outputs) != len(shown):
        wrong.append(f"{page.name}: {len(shown)} commands, {len(outputs)} ran:\n{run.stdout}")
    for place, (command, (output, status)) in enumerate(zip(shown, outputs, strict=False)):
        asked = place + 1 < len(shown) and shown[place + 1].text == "echo $?"
        if status != "0" and not asked:
            wrong.append(f"{page.name}:{command.line}: $ {command.text} → {status}:\n{output}")
        elif not matches(command.expected, output):
            wrong.append(
                f"{page.name}:{command.line}: $ {command.text}\nshown:\n"
                + "\n".join(command.expected)
                + f"\nreal:\n{output}"
            )
    return wrong


def _writing(path: Path, text: str) -> str:
    mark = "END_OF_THE_FILE"
    return f"mkdir -p '{path.parent}'\ncat > '{path}' <<'{mark}'\n{text}{mark}"


def run_doctests(page: Path, folder: Path) -> str:
    """Run the ``pycon`` blocks of a page in a process of its own; its report if they fail."""
    text = "\n\n".join(block.text for block in blocks(page) if block.language == "pycon")
    if not text:
        return ""
    file = folder / f"{page.stem}.doctest.txt"
    file.write_text(text, "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "doctest", "-o", "ELLIPSIS", file.name],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    return run.stdout + run.stderr if run.returncode else ""
