"""The other side of ``watched_process``: what starts such a process, and asks it for commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from policy_engine.attest.keys import generate_key
from policy_engine.attest.sealing import generate_sealing_key

HERE = Path(__file__).parent


class Watched:
    """Runs each command in a new process: a copy of one that has seen no source at all."""

    def __init__(self, script: str) -> None:
        path = os.pathsep.join([str(HERE.parent.parent), str(HERE)])
        self._process = subprocess.Popen(
            [sys.executable, "-B", str(HERE / script)],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def code_of(self, root: Path, folder: str, given: dict[str, Any]) -> int:
        """Run in ``folder`` of ``root``, and return what the command exited with."""
        sent, answered = self._process.stdin, self._process.stdout
        assert sent is not None
        assert answered is not None
        sent.write(json.dumps({**given, "root": str(root), "folder": folder}) + "\n")
        sent.flush()
        return int(answered.readline())

    def close(self) -> None:
        self._process.communicate()


def begun(base: Path, project: str) -> Path:
    """A project of its own keys and ledger, in which nothing has been released."""
    (base / ".policy-engine").mkdir(parents=True)
    generate_key(base / ".policy-engine/signing.pem")
    (base / "policy-engine.yaml").write_text(project)
    begin = [sys.executable, "-m", "policy_engine", "ledger", "begin"]
    subprocess.run(begin, cwd=base, check=True, capture_output=True)
    generate_sealing_key(base / ".policy-engine/sealing.pem")
    return base
