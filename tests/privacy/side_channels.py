"""Everything an observer sees of one release, from real processes that release real sources.

A ``World`` is a source with the secret that samples it. All worlds of a family release the
same rows; all else about them differs. ``observe`` runs ``policy-engine release`` on one, in a
process and folders of its own, and returns whatever left that process.
"""

from __future__ import annotations

import json
import shutil
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from watching import Watched, begun

from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.ledger.chain import Record
from policy_engine.policy.project import load_project
from policy_engine.releasing.books import open_ledger
from policy_engine.warehouse.drawing import draw_rows, key_in_sample

HERE = Path(__file__).parent
MARK = b"SUPPRESSED"
K = 20
RATE = 0.5
POLICY = """\
version: 1
name: people
source: {source}
recode: {{city: keep, age: {{bins: [18, 65]}}, code: keep}}
sample: {{rate: 0.5}}
k: 20
guarantee: {{epsilon: 3, delta: 1.0e-6}}
release: {{{target}, as: {form}}}
account: people
"""
PROJECT = "ledger_begins: in_each_checkout\nwarehouses: {db: {type: duckdb, database: db.duckdb}}\n"
SOURCES = {
    "parquet": "{file: source.parquet}\nprivacy_unit: {column: id, rows: any}",
    "parquet rows": "{file: source.parquet}\nprivacy_unit: row",
    "csv": "{file: source.csv, columns: {age: integer, code: integer}}\nprivacy_unit: row",
    "relation": "{table: source}\nprivacy_unit: row",
}
TARGETS = {"file": "file: people.parquet", "table": "table: people"}
# What the releaser put there.
_INPUTS = ("source.", "policy.yaml", "policy-engine.yaml", ".policy-engine/")

Observed = dict[str, Any]


@dataclass(frozen=True)
class World:
    """A source: who is suppressed in it, in what order and layout it stands, what draws it."""

    rare: int = 0
    order: int | None = None
    secret: bytes = bytes(range(16))
    threads: int = 1
    layout: dict[str, Any] = field(default_factory=dict)


def family(source: str) -> list[World]:
    """Worlds of one release, the first of them without anybody suppressed."""
    # The numbers of rows are units themselves: another order is another sample.
    by_key = source == "parquet"
    plain = {"row_group_size": 30_000, "use_dictionary": False, "compression": "none"}
    return [
        World(),
        World(6000, 1 if by_key else None, b"another secret!!", 2, {"compression": "zstd"}),
        World(1, 2 if by_key else None, b"a third secret..", 4, plain),
    ]


def _inside(world: World, units: int, *, by_key: bool) -> np.ndarray:
    """Whether each unit of ``units`` is in the world's sample."""
    bound = threshold(RATE)
    found = np.zeros(units, dtype=bool)
    if by_key:
        found[:] = [key_in_sample(world.secret, str(unit), bound) for unit in range(units)]
    else:
        found[np.concatenate([*draw_rows(world.secret, units, bound)])] = True
    return found


def people(world: World, sampled: int, groups: int, *, by_key: bool) -> pa.Table:
    """``sampled`` people in the sample, in ``groups`` equal groups, and the world's rare ones.

    Of the rare, K - 1 in the sample share a group that is one short, and each of the others,
    in the sample or not, has a long text and a number of its own.
    """
    units = np.arange(3 * sampled + 3 * world.rare)
    inside = _inside(world, len(units), by_key=by_key)
    place = np.where(inside, np.cumsum(inside), np.cumsum(~inside)) - 1
    is_common = place < sampled
    last = np.flatnonzero(is_common & inside)[-1]
    units = units[: last + 1 + 2 * world.rare]
    is_common, place = is_common[: len(units)], place[: len(units)]
    # Nobody rare is needed where the world has none: those out of the sample are common.
    is_common |= (world.rare == 0) & ~inside[: len(units)]
    is_short = ~is_common & inside[: len(units)] & (place < sampled + K - 1)
    names = np.array([None, *(f"city {group:05}" for group in range(1, groups))], dtype=object)
    city = names[place % groups]
    length = np.random.default_rng(world.rare).integers(1, 90, len(units))
    for unit in np.flatnonzero(~is_common):
        city[unit] = f"SUPPRESSED {unit:08} " + "Z" * int(length[unit])
    city[is_short] = "SUPPRESSED one short"
    code = np.where(is_common, place % groups, np.where(is_short, -7, 10**12 + units))
    age = np.where(is_common, place % groups % 90, -units)
    table = pa.table({"id": units, "city": city, "age": age, "code": code})
    if world.order is None:
        return table
    return table.take(np.random.default_rng(world.order).permutation(len(table)))


class Processes(Watched):
    """Runs each release in a new process."""

    def __init__(self) -> None:
        super().__init__("side_channel_process.py")

    def watch(self, root: Path, given: dict[str, Any]) -> Observed:
        """Release the project in ``root``, and collect what left the process."""
        seen: Observed = {"code": self.code_of(root, "cwd", given)}
        return seen | _files(root) | _ledger(root / "project")

    @cached_property
    def base(self) -> Path:
        """A project in which nothing has been released."""
        base = Path(tempfile.mkdtemp())
        duckdb.connect(str(base / "db.duckdb")).close()
        return begun(base, PROJECT)

    def close(self) -> None:
        super().close()
        shutil.rmtree(self.base)


@dataclass(frozen=True)
class Lab:
    """A folder in which worlds are released one after another, under the same names."""

    folder: Path
    processes: Processes
    sampled: int = 2000
    groups: int = 40

    def prepare(self, source: str, target: str, form: str, world: World) -> Path:
        """The project of one world, and nothing of the one before."""
        root = self.folder / "lab"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(self.processes.base, root / "project")
        for name in ("home", "tmp", "cwd"):
            (root / name).mkdir()
        project = root / "project"
        text = POLICY.format(source=SOURCES[source], target=TARGETS[target], form=form)
        (project / "policy.yaml").write_text(text)
        (project / "policy-engine.yaml").write_text(PROJECT)
        table = people(world, self.sampled, self.groups, by_key=source == "parquet")
        self._write(project, table, source, world)
        return root

    @staticmethod
    def _write(project: Path, table: pa.Table, source: str, world: World) -> None:
        if source == "csv":
            pa.csv.write_csv(table, project / "source.csv")
        elif source == "relation":
            with duckdb.connect(str(project / "db.duckdb")) as connection:
                connection.register("people", table)
                connection.execute("CREATE TABLE source AS FROM people")
        else:
            pq.write_table(table, project / "source.parquet", **world.layout)

    def observe(
        self,
        world: World,
        source: str = "parquet",
        target: str = "file",
        form: str = "counts",
        spoil: Callable[[Path], None] = lambda _: None,
        **given: Any,
    ) -> Observed:
        """Release a world; ``given`` goes to the process (side_channel_process.py).

        ``spoil`` changes the project's folder before.
        """
        root = self.prepare(source, target, form, world)
        spoil(root / "project")
        return self.processes.watch(
            root, {"secret": world.secret.hex(), "threads": world.threads, **given}
        )


def _files(root: Path) -> Observed:
    seen: Observed = {}
    # A database file with the source in it tells the source.
    raw = "table: source" in (root / "project/policy.yaml").read_text()
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root / "project" if path.is_relative_to(root / "project")
                                    else root))  # fmt: skip
        if name.startswith(_INPUTS) or name in {"project", "home", "tmp", "cwd", "."}:
            continue
        found = path.stat()
        seen[f"mode of {name}"] = stat.S_IMODE(found.st_mode)
        if path.is_file() and not (raw and path.suffix == ".duckdb"):
            seen[name] = path.read_bytes()
            # A database file and what stands beside it keep the time of the commit.
            if (root / "project/people.parquet").exists() and name.startswith("people."):
                seen[f"time of {name}"] = found.st_mtime_ns
    return seen


def _ledger(folder: Path) -> Observed:
    if not (folder / ".policy-engine/ledger.sqlite").exists():
        return {"ledger": ()}
    with open_ledger(load_project(folder / "policy-engine.yaml")) as ledger:
        return {"ledger": tuple(map(_told, ledger.read().chain.records))}


def _told(record: Record) -> str:
    """What a record tells but four things of one length: its salt, the keyed names of the source
    and of its state, and the secret, sealed. The hashes of the chain are of these and of what is
    told here."""
    payload = json.loads(record.payload)
    payload["salt"] = len(payload["salt"])  # of a record's own, from the operating system
    payload["source"] = {way: len(name) for way, name in payload.get("source", {}).items()}
    if run := payload.get("run"):
        run["of"], sealed = len(run["of"]), run["sealed"]
        run["sealed"] = {key: len(box) for key, box in sealed.items()}
    told = (record.seq, record.kind, record.account, record.entry, record.request, payload)
    return json.dumps(told, sort_keys=True)


def differing(first: Observed, other: Observed) -> list[str]:
    """The names of what two observers do not see alike."""
    return sorted(n for n in first.keys() | other.keys() if first.get(n) != other.get(n))
