"""What this machine has seen of a ledger: where its chain ended.

A chain shows every change but one: a tail that was cut off, or an old copy put back, is a shorter
chain that holds. The witness is a small file beside the project that remembers the last head; a
ledger that does not hold that record any more has forgotten charges.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from policy_engine.attest.keys import OWNER_ONLY, make_folder, put_file
from policy_engine.errors import LedgerBroken, LedgerError
from policy_engine.ledger.chain import Head, Record
from policy_engine.opening import text_in
from policy_engine.values import frozen


@frozen
class Witness:
    """The file that remembers a ledger's head."""

    path: Path

    def check(self, seen: Head | None, chain: Sequence[Record], where: str) -> None:
        """Return if a chain, which is verified, still holds the record that was last seen here.

        ``seen`` is what was seen before the chain was read: what is noted later may be of a record
        that another process has written since. Raises LedgerBroken where the ledger ends before
        that record, or holds another one in its place.
        """
        if seen is not None and seen.records:
            found = chain[seen.records - 1] if seen.records <= len(chain) else None
            self._compare(seen, found, chain[-1] if chain else None, where)

    def _compare(self, seen: Head, found: Record | None, last: Record | None, where: str) -> None:
        there = found is not None and found.seq == seen.records
        if found is not None and there and found.hash == seen.hash:
            return
        what = f"another record {seen.records}" if there else "no such record"
        raise LedgerBroken(
            f"{where}: this machine has seen record {seen.records} of the ledger, and now"
            f" it has {what} and ends at record {last.seq if last is not None else 0}: a tail was"
            " cut off, or an old copy or another ledger was put in its place. Nothing is charged"
            " on it: restore the newer one; if it is lost for good, 'policy-engine ledger reconcile"
            " --from-certificates' books what certificates prove, and goes on from here; what none"
            f" proves is forgotten then ({self.path} has what was seen)",
            code="ledger_forgot",
        )

    def seen(self) -> Head | None:
        """The head that was last seen, None where none was; LedgerError for an unreadable file."""
        try:
            told = json.loads(text_in(self.path))
            records, digest = told["records"], told["hash"]
            if type(records) is not int or not 0 <= records < 2**63:  # what a database counts to
                raise ValueError("records is no number of records")
            if type(digest) is not str or len(digest) != 64:
                raise ValueError("hash is no SHA-256")
            return Head(records, digest)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise LedgerError(
                f"{self.path}: cannot read what was last seen of the ledger: {why}; restore the"
                " file, or remove it once 'policy-engine ledger verify' has found the chain whole"
                " and its head is the one that you keep elsewhere"
            ) from None

    def fault(self) -> str:
        """Why the file cannot be read; empty where it can, or is not there."""
        try:
            self.seen()
        except LedgerError as error:
            return str(error)
        return ""

    def remember(self, head: Head) -> None:
        """Note the head durably, unless a later one is noted; if it fails, the old one is true."""
        text = json.dumps({"records": head.records, "hash": head.hash}) + "\n"
        with suppress(OSError, LedgerError):
            make_folder(self.path.parent)
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                with suppress(OSError):  # some network file systems cannot
                    fcntl.flock(folder, fcntl.LOCK_EX)  # whoever notes a head here waits
                seen = self.seen()
                if seen is None or seen.records < head.records:
                    put_file(self.path, text.encode(), OWNER_ONLY)
            finally:
                os.close(folder)
