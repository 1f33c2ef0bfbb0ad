"""What this machine has seen of a ledger: where its chain ended.

A chain shows every change but one: a tail that was cut off, or an old copy put back, is a shorter
chain that holds. The witness is a small file beside the project that remembers the last head; a
ledger that does not hold that record any more has forgotten charges.
"""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from policy_engine.errors import LedgerBroken, LedgerError
from policy_engine.ledger.chain import Head
from policy_engine.ledger.records import Records


@dataclass(frozen=True)
class Witness:
    """The file that remembers a ledger's head."""

    path: Path

    def check(self, records: Records) -> None:
        """Return if the ledger still holds the record that was last seen here.

        Raises LedgerError where it ends before that record, or holds another one in its place.
        """
        seen = self.seen()
        if seen is None or not seen.records:
            return
        found = records.get(seen.records)
        if found is not None and found.hash == seen.hash:
            return
        last = records.last()
        what = f"another record {seen.records}" if found is not None else "no such record"
        raise LedgerBroken(
            f"{records.where}: this machine has seen record {seen.records} of the ledger, and now"
            f" it has {what} and ends at record {last.seq if last is not None else 0}: a tail was"
            " cut off, or an old copy or another ledger was put in its place. Nothing is charged"
            f" on it: restore the newer one; if it is lost for good, remove {self.path}, and the"
            " charges that are missing are forgotten"
        )

    def seen(self) -> Head | None:
        """The head that was last seen, None where none was.

        Raises LedgerError where the file cannot be read.
        """
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            return Head(int(content["records"]), str(content["hash"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LedgerError(
                f"{self.path}: cannot read what was last seen of the ledger: {error}; restore the"
                " file, or remove it once 'policy-engine ledger verify' finds the ledger whole"
            ) from None

    def remember(self, head: Head) -> None:
        """Note the head. An older note is as true as a newer one, so a failure is no error."""
        aside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        text = json.dumps({"records": head.records, "hash": head.hash})
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                aside.write_text(text + "\n", encoding="utf-8")
                aside.replace(self.path)
            finally:
                aside.unlink(missing_ok=True)
