"""The pages for contributors name files, modules and classes of the code: each of them exists."""

from __future__ import annotations

import importlib
import re
import subprocess
from functools import cache
from pathlib import PurePosixPath

import pages
import pytest

PAGES = sorted(
    str(page.relative_to(pages.ROOT))
    for pattern in ("contributing/*.md", "CONTRIBUTING.md")
    for page in pages.ROOT.glob(pattern)
)
_FENCE = re.compile(r"^( *)(```+).*?^ *\2$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_PATH = re.compile(r"[\w./<>*-]*(?:/|\.(?:py|md|ya?ml|toml|json|j2))[\w./<>*-]*")
#: What a page says to be gone, or to be made by a program.
GONE = frozenset({"rough.py", "target.py", "sql_templates/__pycache__"})
#: Classes of other libraries and values of Python.
OF_OTHERS = frozenset({"Envelope", "False", "Root", "True", "TrustedMetadataSet"})
#: "`STEPS` in `releasing/placing.py`" and "`Books` (`ledger/books.py`)".
_IN_FILE = re.compile(r"`(\w+)`,?\s+(?:\(|in\s|of\s)`([\w/]+\.py)`")


@cache
def files() -> frozenset[str]:
    """Every file of the repository and every folder above one."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=pages.ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    above = {str(folder) for name in listed for folder in PurePosixPath(name).parents}
    return frozenset(listed) | above


@cache
def defined() -> frozenset[str]:
    """Every class and function of the repository."""
    names: set[str] = set()
    for name in files():
        if name.endswith(".py"):
            text = (pages.ROOT / name).read_text("utf-8")
            names |= set(re.findall(r"(?m)^ *(?:class|def) (\w+)", text))
    return frozenset(names)


def missing(text: str) -> list[str]:
    """What a page names and is not there: of what it shows how to add, its fences speak."""
    shown = set(re.findall(r"(?m)^\+\+\+ b/(\S+)$", text))
    shown |= set(re.findall(r"(?m)^`([^`]+)`:$", text))
    made = {PurePosixPath(name) for name in shown}
    made |= {folder for name in made for folder in name.parents}
    known = files() | {str(name) for name in made}
    plain = _FENCE.sub("", text)
    # Mutants are code as it was, in the tables of what survived.
    plain = re.sub(r"(?m)^\| accounting/.*$", "", plain)
    gone = [name for name in _CODE.findall(plain) if not _is_there(name, known)]
    pairs = _IN_FILE.findall(plain)
    return gone + [f"{name} in {file}" for name, file in pairs if not _is_in(name, file)]


def _is_in(name: str, file: str) -> bool:
    """Whether a file of this name, or one of several, has the word."""
    found = [each for each in files() if f"/{each}".endswith(f"/{file}")]
    word = re.compile(rf"\b{name}\b")
    return any(word.search((pages.ROOT / each).read_text("utf-8")) for each in found)


def _is_there(name: str, known: frozenset[str] | set[str]) -> bool:
    if name in GONE | OF_OTHERS:
        return True
    if re.fullmatch(r"policy_engine(?:\.\w+)+", name):
        return _is_imported(name)
    if _PATH.fullmatch(name) and not name.startswith(("/", "~", ".")):
        wanted = re.sub(
            r"<\w+>|\*", lambda _: "[^/]+", re.escape(name.rstrip("/")).replace("\\*", "*")
        )
        return any(re.fullmatch(rf"(?:.*/)?{wanted}", each) for each in known)
    if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name):
        return name in defined()
    return True


def _is_imported(name: str) -> bool:
    """Whether a dotted name is a module, or of one."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return "." in name and hasattr(importlib.import_module(module), last)
    return True


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_is_there(page: str) -> None:
    assert missing((pages.ROOT / page).read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`kernel/printing.py` and `policy_engine/kernel/` and `docs/index.md`", []),
        ("`kernel/mechanisms/<name>/` and `sql_templates/mechanisms/<name>.sql.j2`", []),
        (
            "`kernel/painting.py` in `policy_engine/kernels/`",
            ["kernel/painting.py", "policy_engine/kernels/"],
        ),
        ("`policy_engine.warehouse.base.Warehouse`, `policy_engine.values`", []),
        ("`policy_engine.warehouse.base.Storehouse`", ["policy_engine.warehouse.base.Storehouse"]),
        ("`ReleasePlan`, `RelicPlan`, `VARCHAR`", ["RelicPlan"]),
        ("`STEPS` in `releasing/placing.py`; `Books` (`ledger/books.py`)", []),
        ("`STAIRS` in `releasing/placing.py`", ["STAIRS in releasing/placing.py"]),
        ("`kernel/recodes/<nonsense>/recipe.py`", ["kernel/recodes/<nonsense>/recipe.py"]),
        ("`make docs`, `SELECT`, `k: auto`, `../x.md`\n```\n`gone.py`\n```\n", []),
        ("`new.py` is added\n```diff\n+++ b/kernel/new.py\n```\n", []),
    ],
)
def test_what_is_missing_is_found(text: str, found: list[str]) -> None:
    assert missing(text) == found
