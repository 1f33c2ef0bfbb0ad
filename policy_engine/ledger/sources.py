"""Whose a source is, as a ledger's chain says it.

A source belongs to the account of the last record that names it. People who could be charged to two
accounts would lose the sum of both limits. So a charge names its source, by where it lies. A record
of kind ``move`` gives the source of an entry to another account, by somebody, for a reason; nothing
else does.

An account's limit is of one person of each source. What was told of rows bounds nothing of a
person who has several, and the two do not add up. So a charge says who is one person among the rows
of each place, and what an account is charged for one place has one answer.

The names are keyed, and another key would make each source a new one. So a source says which key
has named it, and a record of kind ``rekey`` says who replaced the sealing key, and why: the new one
is handed the old one and names by it, or the old one is lost, and what it named is forgotten.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from itertools import chain

from policy_engine.errors import BudgetExceeded, LedgerError
from policy_engine.ledger.chain import Record, said
from policy_engine.ledger.chained import Budget, Chain
from policy_engine.ledger.entry import Charge, Units
from policy_engine.ledger.states import NAMED_BY
from policy_engine.values import frozen


@frozen
class Sources:
    """Sources by their names, and the accounts that they belong to."""

    chain: Chain
    budget: Budget

    def check(self, charge: Charge) -> None:
        """Return unless the charge's source belongs to another account than it asks.

        Raises BudgetExceeded, naming the entry that it was charged by before, also where what is
        joined as public was charged as people's, or one person of it was another, and LedgerError
        where the ledger names sources by another key, and would not know this one again.
        """
        if charge.source and self.namer() not in {None, charge.source.get(NAMED_BY)}:
            where = self.chain.where
            raise LedgerError(f"{where}: another key names its sources meanwhile; release again")
        for name in (*places_in(charge.source), *charge.beside):
            record = self._last_naming(name, charge.account)
            if record is not None:
                raise _belongs_elsewhere(charge, record)
            self._check_not_public(charge, name)
        for name, units in charge.units.items():
            self._check_unit(charge, name, units)
        self._check_public(charge)

    def _check_unit(self, charge: Charge, name: str, units: Units) -> None:
        """BudgetExceeded where its account was charged for rows of which another was one person."""
        for record in self._naming(name):
            if record.kind != "reserve" or record.account != charge.account:
                continue
            before = _units_in(record, name)
            if {*before} & {*units} or not self._is_in_force(record):
                continue
            raise _of_others(charge, record, before, units)

    def _check_not_public(self, charge: Charge, name: str) -> None:
        """BudgetExceeded where what is read as people's was joined as public, and nobody said since
        whose it is: what was told of these people then is in no account."""
        if any(record.kind == "move" for record in self._naming(name)):
            return
        for record in self.chain.holding(f'"{name}"'):
            for joined, place in public_in(record).items():
                if place == name and self._is_in_force(record):
                    raise _was_public(charge, record, joined)

    def _check_public(self, charge: Charge) -> None:
        """BudgetExceeded where what is joined as public is known as people's."""
        known = ""
        places, public = places_in(charge.source), (*charge.public.values(), *charge.public_beside)
        if {*public} & {*places} or {*charge.public.values()} & {*charge.beside}:
            known = "it reads as people's"
        for record in chain.from_iterable(map(self._naming, public)):
            if self._is_in_force(record):
                account = _account_in(record)
                known = f"record {record.seq} of the ledger has as people's, of account {account!r}"
                break
        if known:
            raise BudgetExceeded(
                f"policy {charge.policy_name!r} joins as public what {known}: join it by"
                " privacy_unit without public: true, or take a table that is public"
            )

    def check_tells_all(self, charge: Charge, of: str) -> None:
        """BudgetExceeded where another account has told of the rows whose windows an account has.

        What is ever told of one person's rows of a period would be more than its limit.
        """
        named = (self._naming(name) for name in places_in(charge.source))
        for record in chain.from_iterable(named):
            if record.kind != "reserve" or record.account == charge.account:
                continue
            if self.budget.entry(record.seq).state != "cancelled":
                raise BudgetExceeded(
                    f"account {charge.account!r} is of {of}, and promises what is ever told of the"
                    f" rows of one period: account {record.account!r} was charged for the same rows"
                    f" (entry {record.seq}). Write 'account: {record.account}' in the policy, or"
                    " take 'of' out of the account in the project file"
                )

    def _last_naming(self, name: str, account: str) -> Record | None:
        """The last record that gives a source so named to another account; None if it has it."""
        for record in self._naming(name):
            if _account_in(record) == account:  # and what was before it was as good
                return None
            if self._is_in_force(record):
                return record
        return None

    def _is_in_force(self, record: Record) -> bool:
        """Whether a record that names a source still gives it to an account."""
        return record.kind == "move" or self.budget.entry(record.seq).state != "cancelled"

    def _naming(self, name: str) -> Iterator[Record]:
        """The records of a source of this name, or of one that it is joined to, from the last."""
        said = self.chain.holding(f'"{name}"')
        return (each for each in said if name in places_in(source_in(each)))

    def namer(self) -> str | None:
        """The id of the key that names the ledger's sources; None while it names none."""
        # A move repeats names of before.
        records = (each for each in self.chain.saying(NAMED_BY) if each.kind != "move")
        named = (source_in(record).get(NAMED_BY) for record in records)
        return next((name for name in named if name is not None), None)

    def handed_to(self, key: str) -> Mapping[str, str]:
        """The key that the sealing key of this id took over, sealed for it; empty for none."""
        records = self.chain.saying("for", key)
        taken = (said(each, "key") for each in records if said(each, "for") == key)
        return next(taken, {})

    def owners(self, source: Mapping[str, str]) -> set[str]:
        """The accounts that a source of these names belongs to."""
        records = (next(self._naming(name), None) for name in places_in(source))
        return {_account_in(record) for record in records if record is not None} - {""}


def source_in(record: Record) -> Mapping[str, str]:
    """The names of a source that a record has; none where it has none."""
    return json.loads(record.payload).get("source") or {}


def public_in(record: Record) -> Mapping[str, str]:
    """The places of what a record's policy joined as public, by its names for them."""
    return json.loads(record.payload).get("public") or {}


def places_in(source: Mapping[str, str]) -> tuple[str, ...]:
    """The names of where a source lies, and of the relations of a person that it is joined to."""
    return tuple(name for what, name in source.items() if what != NAMED_BY)


def _units_in(record: Record, name: str) -> Units:
    """Who was one person among the rows of a place; nothing where a record does not say it."""
    told = json.loads(record.payload).get("units") or {}
    return tuple(map(tuple, told.get(name, ())))


def _account_in(record: Record) -> str:
    """The account that a record charges or gives its source to."""
    return str(json.loads(record.payload)["to"]) if record.kind == "move" else record.account


def _was_public(charge: Charge, record: Record, joined: str) -> BudgetExceeded:
    """Why a source is nobody's yet: what is told of it was said to be told of no people."""
    name = json.loads(record.payload)["policy_name"]
    return BudgetExceeded(
        f"policy {charge.policy_name!r} reads as people's what entry {record.seq} ({name}) joined"
        f" as public, by the name {joined!r}. If it is people's, what that entry released tells of"
        " them beyond every limit: withdraw it, and say so by 'policy-engine ledger move"
        f" {record.seq} {shlex.quote(charge.account)} --public {shlex.quote(joined)} --by NAME"
        " --why TEXT'; if it is nobody's, join it with public: true"
    )


def _belongs_elsewhere(charge: Charge, record: Record) -> BudgetExceeded:
    """Why a source cannot be charged to this account: it belongs to that of ``record``."""
    told, account, entry = json.loads(record.payload), _account_in(record), record.seq
    cannot = f"account {charge.account!r} cannot pay for policy {charge.policy_name!r}:"
    if record.kind == "move":
        entry = told["of"]
        gave = f"record {record.seq} gave"
        if not entry:
            return BudgetExceeded(
                f"{cannot} {gave} its source to account {account!r}. Write 'account: {account}' in"
                " the policy"
            )
        by = f"entry {entry}, and {gave} it to account {account!r}"
    else:
        by = f"entry {entry} ({told['policy_name']}), charged to account {account!r}"
    return BudgetExceeded(
        f"{cannot} its source is that of {by}, and people who pay from two accounts lose the sum of"
        f" both limits. Write 'account: {account}' in the policy; if the source is to belong to"
        f" {charge.account!r} from now on, run 'policy-engine ledger move {entry}"
        f" {shlex.quote(charge.account)} --by NAME --why TEXT'"
    )


def _of_others(charge: Charge, record: Record, before: Units, units: Units) -> BudgetExceeded:
    """Why an account cannot pay for a source that it was charged for as other people's."""
    of = json.loads(record.payload)["policy_name"]
    move = (
        "list another account in the project file, write it into the policy, and run"
        f" 'policy-engine ledger move {record.seq} ACCOUNT --by NAME --why TEXT': the source is"
        " that one's from then on, and the same people lose the sum of both limits"
    )
    remedy = f"To count this way from now on, {move}"
    if before and before[0]:
        columns = before[0]
        unit = f"column: {columns[0]}" if len(columns) == 1 else f"columns: [{', '.join(columns)}]"
        remedy = f"Write 'privacy_unit: {{{unit}}}'; else {move}"
    return BudgetExceeded(
        f"account {charge.account!r} cannot pay for policy {charge.policy_name!r}: entry"
        f" {record.seq} ({of}) was charged to it for the same source, where one person is"
        f" {one_person(before)}, and here it is {one_person(units)}: what they tell of somebody"
        f" does not add up to the account's limit. {remedy}"
    )


def one_person(units: Units) -> str:
    """What is one person.

    >>> one_person(((),)), one_person((("ward", "patient"),)), one_person(())
    ('each row', 'each value of ward and patient', 'not recorded')
    """
    if not units:
        return "not recorded"
    return f"each value of {' and '.join(units[0])}" if units[0] else "each row"
