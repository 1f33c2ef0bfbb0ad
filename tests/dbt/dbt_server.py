"""Runs in the environment of dbt 1.x: many commands, and dbt is imported once.

Importing it takes longer than most commands. Each connection is one command, run in a fork, so that
none sees what another left behind: JSON and the file descriptors of its output come in, its exit
code goes out. The server ends with its standard input, which is held by whoever started it.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path


def main() -> None:
    """Import what every command needs, then serve."""
    with suppress(ImportError):
        import dbt.adapters.duckdb
    with suppress(ImportError):
        import dbt.adapters.postgres  # noqa: F401
    from dbt.cli.main import cli

    with suppress(ImportError):
        _remember_macros()
    _warm_up(cli)
    listening = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a fork
    # What is imported stays, and a command ends before it has much to throw away.
    gc.freeze()
    gc.disable()
    while True:
        ready, _, _ = select.select([sys.stdin, listening], [], [])
        if sys.stdin in ready:
            return
        asking, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _answer(cli, asking)
        asking.close()


def _remember_macros() -> None:
    """Parse each text of dbt's own macros once: half of what reading a small project takes."""
    from dbt_common.clients.jinja import MacroFuzzEnvironment

    parse, parsed = MacroFuzzEnvironment._parse, {}

    def remembered(self, source, name, filename):
        if source not in parsed:
            parsed[source] = parse(self, source, name, filename)
        return parsed[source]

    MacroFuzzEnvironment._parse = remembered


_PROJECT = {
    "dbt_project.yml": "name: shop\nprofile: shop\nflags: {send_anonymous_usage_stats: false}\n",
    "profiles.yml": "shop: {target: dev, outputs: {dev: {type: duckdb, path: ':memory:'}}}\n",
    "seeds/raw.csv": "id\n1\n",
    "models/one.sql": "select id, {{ policy() }} as two from {{ ref('raw') }}\n",
    "macros/policy.sql": "{% macro policy() %}2{% endmacro %}\n",
    "models/all.yml": """\
sources: [{name: shop, tables: [{name: people, columns: [{name: id, data_type: integer}]}]}]
exposures: [{name: page, type: dashboard, owner: {name: ana}, depends_on: [ref('one')]}]
models:
  - name: one
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: integer, data_tests: [not_null]}
      - {name: two, data_type: integer}
unit_tests:
  - name: it_is_two
    model: one
    given: [{input: ref('raw'), rows: [{id: 1}]}]
    expect: {rows: [{id: 1, two: 2}]}
""",
}


def _warm_up(cli) -> None:
    """Read a small project twice: dbt makes half of its own code when it first needs it.

    To read opens no connection. That one process runs several commands is a use that dbt supports.
    """
    with tempfile.TemporaryDirectory() as name:
        for file, text in _PROJECT.items():
            path = Path(name, file)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        # The static parser is threads of Rust: a fork of a process that has used it hangs in it.
        words = ["-q", "parse", "--no-static-parser", "--project-dir", name, "--profiles-dir", name]
        for turn in range(2):
            Path(name, "models", "one.sql").write_text(_PROJECT["models/one.sql"] + f"-- {turn}\n")
            with suppress(SystemExit):
                cli(words)


def _answer(cli, asking) -> None:
    """Run what is asked in a fork of its own: its files and locks are free when it is answered."""
    code = 70
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        text, files, _, _ = socket.recv_fds(asking, 1 << 16, 2)
        while more := asking.recv(1 << 16):
            text += more
        running = os.fork()
        if running == 0:
            asking.close()
            _run(cli, json.loads(text), *files)
        for file in files:
            os.close(file)
        _, status = os.waitpid(running, 0)
        code = os.waitstatus_to_exitcode(status)
        asking.sendall(str(code if code >= 0 else 128 - code).encode())
    finally:
        os._exit(code)


def _run(cli, asked, out, error) -> None:
    code = 70
    try:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, file in enumerate((nothing, out, error)):
            os.dup2(file, number)
            os.close(file)
        sys.argv = ["dbt", *asked["words"]]
        cli(asked["words"])
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
