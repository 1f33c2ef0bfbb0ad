"""Runs in the environment of dbt 1.x: many commands, and dbt is imported once.

Importing it takes longer than most commands. Each line of standard input is a command as JSON, run
in a fork, so that none sees what another left behind; its exit code is the line that answers.
"""

import json
import os
import sys
from contextlib import suppress


def main() -> None:
    """Import what every command needs, then serve."""
    with suppress(ImportError):
        import dbt.adapters.duckdb
    with suppress(ImportError):
        import dbt.adapters.postgres  # noqa: F401
    from dbt.cli.main import cli

    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(cli, asked)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(cli, asked) -> None:
    code = 70
    try:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        nothing = os.open(os.devnull, os.O_RDONLY)
        out = os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for number, file in enumerate((nothing, out, out)):
            os.dup2(file, number)
        sys.argv = ["dbt", *asked["words"]]
        cli(asked["words"])
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
