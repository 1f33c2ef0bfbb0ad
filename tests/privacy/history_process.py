"""The process that the game of histories watches: it runs commands of ``policy-engine``.

Secrets come one after another from a list, and the clocks stand at the night. A *crash* kills the
process at a step. A *plant* is a product that decides something by the source; the game must
notice each.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pyarrow.parquet import read_metadata
from watched_process import command, fix, job, serve

from policy_engine.errors import PolicyError

# The module: the package's own ``release`` is a function.
releasing = import_module("policy_engine.releasing.release")
due = import_module("policy_engine.releasing.due")
placing = import_module("policy_engine.releasing.placing")

#: What a process dies before, or behind: the step, of which object, and whether it was done.
CRASHES: dict[str, tuple[Any, str, bool]] = {
    "reserved": (job.Job, "begin", False),
    "started": (job.Job, "draw", False),
    "drawn": (job.Job, "_record", False),
    "recorded": (job.Job, "_record", True),
    "placed": (placing.Spot, "keep", False),
    "kept": (releasing, "_commit", False),
}


LOADED = (
    "jinja2",
    "pandas",  # by pyarrow, where it is
    "pyarrow.parquet",
    "policy_engine.cli.records",
    "policy_engine.cli.releases",
    "policy_engine.cli.showing",
    "policy_engine.ledger.engines",
    "policy_engine.releasing.validation",
    "policy_engine.warehouse.duckdb",
    "policy_engine.warehouse.postgres",
)
"""What the commands import."""


def _fixed(root: Path, night: int) -> None:
    def next_secret() -> bytes:
        drawn = root / "secrets"
        number = int(drawn.read_text()) if drawn.exists() else 0
        drawn.write_text(str(number + 1))
        return hashlib.sha256(str(number).encode()).digest()[:16]

    fix(next_secret, night)
    real = job.Job.draw

    def draw(self: Any, entry: Any, secret: bytes) -> None:
        with (root / "sampled").open("a") as under:
            under.write(secret.hex() + "\n")
        real(self, entry, secret)

    job.Job.draw = draw


def _dying(crash: str) -> None:
    place, name, is_done = CRASHES[crash]
    real = getattr(place, name)

    def dies(*words: Any, **named: Any) -> None:
        if is_done:
            real(*words, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(place, name, dies)


# Plants.


def _is_unchanged(root: Path) -> bool:
    """Whether the source is what it was when this was asked last."""
    files = [root / "project/source.parquet", *sorted((root / "project/parts").glob("*"))]
    content = b"".join(file.read_bytes() for file in files if file.exists())
    now = hashlib.sha256(content).hexdigest()
    note = root / "project/.policy-engine/note"
    before = note.read_text() if note.exists() else now
    note.write_text(now)
    return before == now


def a_charge_where_the_source_changed(root: Path) -> None:
    real = releasing.release

    def release(*words: Any, revise: bool, **named: Any) -> Any:
        return real(*words, revise=revise or not _is_unchanged(root), **named)

    releasing.release = release


def a_free_run_where_the_source_changed(root: Path) -> None:
    real = releasing._released_before

    def before(policy: Any, project: Any, reached: Any, *words: Any) -> Any:
        found = real(policy, project, reached, *words)
        if not _is_unchanged(root) and found is not None:
            with releasing.books.open_ledger(project) as ledger:
                run = ledger.read().budget.entry(found.entry).run
                secret = job.secret_of(run, project, ledger)
            plan = releasing.plan_of(policy, project, reached.warehouse)
            with plan.warehouse.sampled(policy, plan.table, secret):
                rows = plan.warehouse.rows(run.query)
            job.write_parquet(rows, plan.ends.path, {job.METADATA_KEY: run.record})
        return found

    releasing._released_before = before


def a_second_attempt_under_the_first_secret(root: Path) -> None:
    real = job.Job.begin

    def begin(self: Any, entry: Any) -> Any:
        if entry.state == "reserved":
            return real(self, entry)
        run = entry.run
        secret = job.secret_of(run, self.plan.project, self.ledger)
        return self.ledger.start(entry.id, sealed=run.sealed), secret

    job.Job.begin = begin


def a_month_is_drawn_again_for_late_rows(root: Path) -> None:
    real = due.give_up

    def give_up(schedule: Any, project: Any) -> None:
        real(schedule, project)
        if not _is_unchanged(root) and schedule.last is not None:
            policy = import_module("policy_engine.policy.loading").load_policy(Path("policy.yaml"))
            named = {"edition": schedule.last.run.edition, "revise": True, "replace": True}
            releasing.release(policy, project, **named)

    due.give_up = give_up


def an_exit_code_of_a_source_that_changed(root: Path) -> None:
    real = releasing.release

    def release(*words: Any, **named: Any) -> Any:
        done = real(*words, **named)
        if not _is_unchanged(root):
            raise SystemExit(7)
        return done

    releasing.release = release


def an_edition_is_left_out_where_nothing_changed(root: Path) -> None:
    real = due.drawn

    def drawn(*words: Any) -> Any:
        return () if _is_unchanged(root) else real(*words)

    due.drawn = drawn


def a_refusal_of_a_small_source(root: Path) -> None:
    real = releasing.release

    def release(*words: Any, **named: Any) -> Any:
        if read_metadata(root / "project/source.parquet").num_rows <= 300:
            raise PolicyError(("the source has too few rows",))
        return real(*words, **named)

    releasing.release = release


PLANTS: dict[str, Callable[[Path], None]] = {
    plant.__name__: plant
    for plant in (
        a_charge_where_the_source_changed,
        a_free_run_where_the_source_changed,
        a_second_attempt_under_the_first_secret,
        a_month_is_drawn_again_for_late_rows,
        an_exit_code_of_a_source_that_changed,
        an_edition_is_left_out_where_nothing_changed,
        a_refusal_of_a_small_source,
    )
}


def run(given: dict[str, Any]) -> None:
    """One command of one night."""
    root = Path(given["root"])
    _fixed(root, given["night"])
    if given.get("crash"):
        _dying(given["crash"])
    if given.get("plant"):
        PLANTS[given["plant"]](root)
    command(given["words"])


if __name__ == "__main__":
    serve(run, LOADED)
