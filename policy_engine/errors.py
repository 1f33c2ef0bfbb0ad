"""Every error the engine raises, drawn as a tree.

    PolicyEngineError            exit code 1 unless said otherwise
    ├── UsageError               2   a command was called in a way it does not have
    │   └── DomainError          2   a number outside the domain of a formula
    ├── PolicyError              1   one or more problems in a policy or project file
    ├── NotCertifiable           1   SQL the kernel could not prove, with its findings
    ├── VerificationFailed       1   a certificate or release that does not hold
    ├── NotReleasable            1   it stands otherwise, or would be drawn a second time
    ├── BudgetExceeded           1   an account cannot pay for a release
    ├── NotApproved              1   approvals that an account requires are missing
    ├── NothingChecked           4   there was nothing that a check could look at
    ├── EnvironmentFailed        3   a warehouse, a file or the ledger failed
    │   ├── WarehouseError       3   it cannot be used, or not for what is asked
    │   │   ├── PlaceRefused     3   a table cannot stand where release.table says
    │   │   └── WarehouseFailed  3   it was asked, and failed
    │   ├── FileError            3
    │   └── LedgerError          3
    │       ├── LedgerBroken     3   it was changed, cut or replaced
    │       └── NoLedger         3   there is none at its place
    └── InternalError            70  an internal error

A message says where, which law, what was found and what to do. It never quotes a value
that was read from the source.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from policy_engine.base_errors import DomainError, InternalError, PolicyEngineError, UsageError
from policy_engine.values import frozen

__all__ = [
    "BudgetExceeded", "Code", "DomainError", "EnvironmentFailed", "FileError", "Finding",
    "InternalError", "LedgerBroken", "LedgerError", "NoLedger", "NotApproved", "NotCertifiable",
    "NotReleasable", "NothingChecked", "PlaceRefused", "PolicyEngineError", "PolicyError",
    "Problem", "UsageError", "VerificationFailed", "WarehouseError", "WarehouseFailed",
    "to_install",
]  # fmt: skip


def to_install(extra: str) -> str:
    """How to get an extra of this package, whose name is on no index yet.

    >>> to_install("plot")
    "pip install '.[plot]' in a clone of policy-engine"
    """
    return f"pip install '.[{extra}]' in a clone of policy-engine"


Code = Literal[
    "clock_leapt",
    "clock_went_back", "disk_full", "driver_missing", "failed", "file_failed", "key_missing",
    "key_not_entered", "key_refused", "key_unknown", "ledger_broken", "ledger_failed",
    "ledger_forgot", "ledger_locked", "ledger_missing", "limit_reached", "no_right",
    "place_taken", "setting_missing", "source_missing", "warehouse_failed", "warehouse_locked",
    "warehouse_unusable",
]  # fmt: skip
"""Why something outside failed: stable, as ``code`` in JSON."""


@frozen
class Problem:
    """One thing wrong with a file: where it is, the law, what was found, what to do.

    ``line`` and ``column`` count from 1; both are 0 where a file has no position to show. A policy
    within a file, ``FILE#NAME``, has its lines there: with one the file alone is named.

    >>> print(Problem("policy.yaml", 14, 4, "k", "k must be at least 2, found 1"))
    policy.yaml:14:4: k must be at least 2, found 1
    >>> Problem("models/schema.yml#towns", 14, 4, "k", "k must be at least 2, found 1").file
    'models/schema.yml'
    """

    file: str
    line: int
    column: int
    path: str
    message: str
    remedy: str = ""
    account: str = ""
    """The account that is not known, of a problem that says so of one."""

    def __post_init__(self) -> None:
        file, mark, name = self.file.rpartition("#")
        if self.line and mark and "/" not in name and file.endswith((".yml", ".yaml")):
            object.__setattr__(self, "file", file)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.message}" + (f"; {self.remedy}" if self.remedy else "")


class PolicyError(PolicyEngineError):
    """A policy or project file has problems. All of them are in ``problems``."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(*map(str, problems))
        self.problems = problems


@frozen
class Finding:
    """One reason why SQL text cannot be certified, at a line and column of that text.

    >>> print(Finding("V14", "rank() is not known", 3, 14))
    line 3, column 14: V14 rank() is not known
    """

    code: str
    message: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = f"line {self.line}, column {self.column}: " if self.line else ""
        return f"{place}{self.code} {self.message}"


class NotCertifiable(PolicyEngineError):
    """The kernel could not prove the SQL text. The reasons are in ``findings``.

    ``file`` is the policy whose SQL it is, where that is known; lines are those of the SQL.

    >>> print(NotCertifiable((Finding("V29", "δ = 0.1, promised 0.01"),), "policy.yaml"))
    policy.yaml: V29 δ = 0.1, promised 0.01
    """

    def __init__(self, findings: tuple[Finding, ...], file: str = "") -> None:
        where = f"{file}: " if file else ""
        sql = "its SQL, " if file else ""
        super().__init__(*(f"{where}{sql if f.line else ''}{f}" for f in findings))
        self.findings = findings
        self.file = file


MOST_REASON = 2000
"""Characters of a reason why something does not hold."""


class VerificationFailed(PolicyEngineError):
    """A certificate is not valid, or its release is not the certified one. The reasons are in
    ``reasons``.

    A reason may quote a certificate that anybody has written: it is cut where no line is so long.
    """

    def __init__(self, reasons: tuple[str, ...]) -> None:
        self.reasons = tuple(
            reason if len(reason) <= MOST_REASON else f"{reason[:MOST_REASON]} …"
            for reason in reasons
        )
        super().__init__(*self.reasons)


class NotReleasable(PolicyEngineError):
    """This release cannot be made now. For example, it is lost, its edition is not due, or it is a
    second draw of an edition.
    """


class BudgetExceeded(PolicyEngineError):
    """An account cannot pay. The message says how much was asked, and how much is left.

    ``account`` is its name, and ``left`` what it would still pay for, where a limit is the cause.
    """

    def __init__(self, *lines: str, account: str = "", left: object = None) -> None:
        super().__init__(*lines)
        self.account = account
        self.left = left


class NotApproved(PolicyEngineError):
    """An account requires approvals that are missing. The message says which, and how to ask for
    them.
    """


class NothingChecked(PolicyEngineError):
    """There was nothing to check, so no finding does not mean that all is well."""

    exit_code = 4


class EnvironmentFailed(PolicyEngineError):
    """Something outside the engine failed: a warehouse, a file or the ledger.

    ``of_setup`` says that no row of the source can have brought it about, as where a right is
    missing. It is False wherever that is not known: an attempt that ended so has told something.
    ``code`` is its cause, which programs may go by.

    >>> WarehouseError("there is no database people.db", of_setup=True).of_setup
    True
    """

    exit_code = 3
    usual: ClassVar[Code] = "failed"
    """The code where nothing more is known."""

    def __init__(self, *lines: str, of_setup: bool = False, code: Code | None = None) -> None:
        super().__init__(*lines)
        self.of_setup = of_setup
        self.code = code or self.usual


class WarehouseError(EnvironmentFailed):
    """The warehouse cannot be used, or lacks something that is needed."""

    usual: ClassVar[Code] = "warehouse_unusable"


class PlaceRefused(WarehouseError):
    """No table can be made with the name in ``release.table``."""


class WarehouseFailed(WarehouseError):
    """A query failed. The warehouse's own text is not shown if it could quote data."""

    usual: ClassVar[Code] = "warehouse_failed"


class FileError(EnvironmentFailed):
    """A file is missing, cannot be read or written, or is in the way, or the disk is full."""

    usual: ClassVar[Code] = "file_failed"


class LedgerError(EnvironmentFailed):
    """The ledger cannot be opened, or another process uses it for too long."""

    usual: ClassVar[Code] = "ledger_failed"


class LedgerBroken(LedgerError):
    """The ledger was read, but its chain of records is broken: it was changed, cut or replaced."""

    usual: ClassVar[Code] = "ledger_broken"


class NoLedger(LedgerError):
    """There is no ledger at this place, and the command does not make one."""

    usual: ClassVar[Code] = "ledger_missing"
