"""What each command imports: the libraries that it uses, and no other.

A library of 50 to 200 ms that one import too many brings in is seen by nobody and paid by
everybody, so the list is exact: what a command does not import any more is taken off it.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
POLICY = "policies/adult/policy.yaml"
RELEASE = "policies/adult/out/adult_public.parquet"
CERTIFICATE = "policies/adult/out/adult_public.certificate.json"
HEAVY = {
    "cryptography", "duckdb", "jinja2", "matplotlib", "numpy", "pandas", "psycopg", "pyarrow",
    "pydantic", "rich", "ruamel", "scipy", "sqlalchemy", "sqlglot",
}  # fmt: skip
_READS = {"cryptography", "pydantic", "ruamel"}
#: In this order: what a release left is there for those behind it.
MAY = {
    "--version": set(),
    "--help": set(),
    "schema": {"pydantic"},
    f"validate {POLICY}": _READS | {"duckdb", "jinja2"},
    f"compile {POLICY}": _READS | {"duckdb", "jinja2"},
    f"plan {POLICY}": _READS | {"duckdb", "jinja2", "numpy"},
    f"release {POLICY}": _READS | {"duckdb", "jinja2", "numpy", "pyarrow"},
    f"show {RELEASE}": _READS | {"numpy", "pyarrow"},
    f"verify {CERTIFICATE} --release {RELEASE}": _READS | {"jinja2", "numpy", "pyarrow"},
    "ledger show": _READS | {"numpy"},
    "ledger verify": _READS,
    "keys list": _READS,
}
_RUN = f"""
import sys
from policy_engine.cli.main import run
code = run(sys.argv[1:])
print(code, *sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("startup")
    shutil.copy(ROOT / "policy-engine.yaml", root)
    shutil.copytree(
        ROOT / "policies" / "adult",
        root / "policies" / "adult",
        ignore=shutil.ignore_patterns("out"),
    )
    return root


def test_no_command_imports_what_it_does_not_use(project):
    found = {}
    for words in MAY:
        done = subprocess.run(
            [sys.executable, "-c", _RUN, *words.split()],
            cwd=project,
            capture_output=True,
            text=True,
            check=True,
        )
        code, *imported = done.stderr.splitlines()[-1].split()
        assert code == "0", (words, done.stderr)
        found[words] = set(imported)
    assert found == MAY
