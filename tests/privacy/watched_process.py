"""A process that runs a command of ``policy-engine`` for each line of stdin, and is watched.

Fixed here is what is random or a time by design: where secrets come from, the mark of what is
written aside, and the clocks of certificate and ledger.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

job = import_module("policy_engine.releasing.job")


class Clock:
    """A clock that stands at a night, after every real record: a ledger's clock never goes back."""

    night = 0
    strptime = datetime.strptime
    fromisoformat = datetime.fromisoformat

    @classmethod
    def now(cls, zone: Any) -> datetime:
        return datetime(2126, 11, 21, tzinfo=zone) + timedelta(days=cls.night)


def fix(new_secret: Callable[[], bytes], night: int = 0) -> None:
    """Let secrets come from ``new_secret``, and all clocks stand at a night."""
    Clock.night = night
    job.new_secret = new_secret
    import_module("policy_engine.releasing.requests").secrets = SimpleNamespace(
        token_hex=lambda size: "00" * size
    )
    import_module("policy_engine.kernel.certificate").datetime = Clock
    import_module("policy_engine.ledger.store").datetime = Clock
    import_module("policy_engine.releasing.editions").datetime = Clock


def command(words: list[str]) -> None:
    """Run a command of ``policy-engine``."""
    from policy_engine.cli.main import main

    sys.argv = ["policy-engine", *words]
    main()


def _in_a_child(given: dict[str, Any], run: Callable[[dict[str, Any]], None]) -> NoReturn:
    """Run in the folders of ``given["root"]``, and end as the command ends."""
    root = Path(given["root"])
    os.environ.clear()
    os.environ.update(HOME=str(root / "home"), TMPDIR=str(root / "tmp"))
    tempfile.tempdir = None
    os.chdir(root / given["folder"])
    for number, name in enumerate(("/dev/null", root / "stdout", root / "stderr")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
    code: Any = 99
    try:
        run(given)
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code or 0)


_NEEDED = (
    "encodings.utf_8_sig",
    "jinja2",
    "policy_engine.cli.app",
    "policy_engine.cli.output",
    "pyarrow.parquet",
    "pydantic.type_adapter",
    "typer._adapters",
)
_POLICY = """\
version: 1
name: nobody
source: {file: nobody.parquet}
privacy_unit: row
recode: {sex: keep}
sample: {rate: 0.5}
k: 4
guarantee: {epsilon: 3, delta: 0.1}
release: {file: out/nobody.parquet}
"""


def _warm_up() -> None:
    """Make what every command makes at first: the models of a policy, and a template's code."""
    import_module("policy_engine.policy.loading").load_policy_text(_POLICY, "nobody.yaml", ".")
    environment = import_module("policy_engine.kernel.printing").environment("duckdb")
    environment.get_template("mechanisms/sampled_suppression.sql.j2")


def serve(run: Callable[[dict[str, Any]], None], loaded: tuple[str, ...]) -> None:
    """Fork for every line of stdin; what is ``loaded`` here has read no source."""
    for name in (*_NEEDED, *loaded):
        import_module(name)
    _warm_up()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _in_a_child(json.loads(line), run)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
