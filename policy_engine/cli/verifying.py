"""verify: a certificate and its release, checked from the files alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from policy_engine.attest import count_certificate as counts
from policy_engine.attest.attestation import CHOICE_TYPE, LEDGER_TYPE, UNPROMISED_TYPE, stated_type
from policy_engine.attest.choices import verify_choice
from policy_engine.attest.keyring import Keyring
from policy_engine.attest.keys import SIGNING_KEY_VARIABLE, TrustedKeys, load_private_key
from policy_engine.attest.owners import believed, check_signed, newer_at
from policy_engine.attest.release_check import verify_release
from policy_engine.attest.results import Verified
from policy_engine.attest.ring_text import Seal
from policy_engine.attest.validity import written
from policy_engine.cli.options import CertificateArgument, KeyOption, KeyringOption, ReleaseOption
from policy_engine.cli.output import conclude, confirm, one_line, shown
from policy_engine.cli.reading import read_certificate
from policy_engine.cli.results import WithoutPromise, attacks_on
from policy_engine.compile.column_names import promise_sentences
from policy_engine.errors import NothingChecked, UsageError
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.editions import comes_and_goes, unit_words
from policy_engine.kernel.mechanisms.whole_classes.meaning import (
    first_lines,
)
from policy_engine.policy import project as projects
from policy_engine.policy.escapes import escaped
from policy_engine.policy.project import Project
from policy_engine.policy.scalars import counted
from policy_engine.values import frozen


def verify(
    certificate: CertificateArgument,
    release: ReleaseOption = None,
    key: KeyOption = None,
    keyring: KeyringOption = None,
    review_policy: Annotated[
        Path | None,
        Option(
            help="A review policy. The approvals beside the certificate are checked against it."
        ),
    ] = None,
) -> None:
    """Check a certificate and its release from the files alone.

    The certificate contains a claim, which describes the release completely. The command checks the
    signature, writes the SQL anew from the claim, and compares it with the certificate's SQL. It
    also computes δ by brute force, as a sum over all results. If there are too many results, it
    computes an upper and a lower bound of this sum.

    With --release, the command also checks the digest, the columns and the order of the release.
    Each group must have at least k people. Apart from the rows, the file must contain nothing. A
    release that is a file must have the signed bytes: a CSV file that 'show' made of it is refused.
    If the release is a table of a warehouse, give an export of the table as Parquet or CSV. Without
    --release, or if brute force cannot compute δ, the exit code is 4.

    The trusted keys are those of --key and --keyring. Without these options, the project's own key
    and keyring are trusted. The output says which keys counted, and how old a signed keyring is. A
    newer keys.json can be beside the certificate. If the owners of your keyring have signed the
    newer file, it is used instead of the keyring in --keyring.

    --review-policy names a file from somebody you trust. Then the certificate needs as many
    approvals as this file asks for.

    For the certificate of a count, the command checks the signature, assumptions and numbers. For a
    statement of 'ledger export', it checks the signature, charges, sums and limits. For a release
    without (ε, δ), it checks the signature, digest, columns, k and models. A release without (ε, δ)
    has no certificate, so the exit code is 4.

    Example: policy-engine verify out/adult.certificate.json --release out/adult.parquet
    """
    text = read_certificate(certificate)
    trusted, places = trusted_keys(key or [], keyring, beside=certificate)
    kind = stated_type(text)
    if kind in _NO_RELEASE:
        if review_policy is not None:
            raise UsageError("--review-policy is for the certificate of a release; leave it out")
        if release is not None:
            raise UsageError(
                f"--release names a release, and this is {_NO_RELEASE[kind]}; leave --release out"
            )
    if kind == UNPROMISED_TYPE:
        found = verify_release(text, trusted, release, UNPROMISED_TYPE)
        told = _unpromised(found, places, is_whole=release is not None)
        conclude(*told, NothingChecked.exit_code)
    elif kind == LEDGER_TYPE:
        # What a ledger is made of is much, and a release is verified without it.
        from policy_engine.ledger.statement import verify_statement

        found = verify_statement(text, trusted)
        document = {"verified": True, **vars(LookedAt.at(found, places)), **dict(found.numbers)}
        confirm(document, [_verified(found), *checked_lines(found, places)])
    elif kind == CHOICE_TYPE:
        if review_policy is not None:
            raise UsageError("--review-policy is for the certificate of a release; leave it out")
        found = verify_choice(text, trusted, release)
        document = {"verified": release is not None, **vars(LookedAt.at(found, places))}
        lines = [_verified(found), *checked_lines(found, places), *_assuming(found)]
        if release is None:
            lines[0] = "the certificate is valid; the chosen policy was not checked"
        code = 0 if release is not None else NothingChecked.exit_code
        conclude({**document, **dict(found.numbers)}, lines, code)
    elif kind == counts.COUNT_PREDICATE_TYPE:
        confirm(*_count(counts.verify_count(text, trusted), places))
    else:
        found = verify_release(text, trusted, release)
        if review_policy is not None:
            from policy_engine.report.approvals import with_approvals

            found = with_approvals(found, text, certificate, review_policy)
        _tell(found, places, is_whole=release is not None)


_NO_RELEASE = {
    LEDGER_TYPE: "the statement of a ledger",
    counts.COUNT_PREDICATE_TYPE: "the certificate of a noiseless count, which speaks of no release",
}


def _tell(found: Verified, places: tuple[Trusted, ...], *, is_whole: bool) -> None:
    """Say what was checked of a certificate, and of its release where it ``is_whole``."""
    is_verified = is_whole and found.is_recomputed
    edition = certified(found).terms.edition
    document = {
        "verified": is_verified,
        "release": found.subject,
        **vars(LookedAt.at(found, places)),
        "edition": None if edition is None else edition.to_json(),
        "assumptions": found.assumptions,
        **vars(Numbers.of(certified(found))),
    }
    head = "the certificate is valid; the release was not checked"
    if is_verified:
        head = _verified(found)
    elif not found.is_recomputed:
        head = "not verified: nothing but the accountant recomputed δ; all else is valid"
    own = [] if edition is None else [f"edition {edition.words}"]
    lines = [head, *checked_lines(found, places), *own, meaning(found), *_assuming(found)]
    conclude(document, lines, 0 if is_verified else NothingChecked.exit_code)


def _verified(found: Verified) -> str:
    return f"verified: {one_line(found.subject)}"


def _assuming(found: Verified) -> list[str]:
    return ["assuming:", *(f"  - {text}" for text in found.assumptions)]


@frozen
class LookedAt:
    """What was checked, what was not, and which keys were trusted."""

    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    trusted: tuple[TrustSaid, ...]

    @classmethod
    def at(cls, found: Verified, places: tuple[Trusted, ...]) -> LookedAt:
        """What is said of a check."""
        return cls(found.checked, found.unchecked, tuple(place.said for place in places))


def checked_lines(found: Verified, places: tuple[Trusted, ...]) -> list[str]:
    """What was checked, the signature first, with whose word it is that its key counts."""
    signed, *others = [f"  ✓ {text}" for text in found.checked]
    trusting = [f"    {line}" for place in places for line in place.lines()]
    return [signed, *trusting, *others, *[f"  – {text}" for text in found.unchecked]]


@frozen
class Numbers:
    """The numbers of a certificate, in its own digits."""

    k: int
    rate: str
    epsilon: str
    delta: str
    neighbours: str
    unit: str

    @classmethod
    def of(cls, certificate: Certificate) -> Numbers:
        """Those of a certificate."""
        promise = certificate.promise
        return cls(
            certificate.k,
            f"{promise.rate:f}",
            f"{promise.epsilon:f}",
            str(promise.delta),
            promise.neighbours,
            certificate.unit,
        )


def certified(found: Verified) -> Certificate:
    """The certificate of a release that was verified."""
    assert found.certificate is not None  # of a release
    return found.certificate


def meaning(found: Verified) -> str:
    """What the numbers of a certificate mean to somebody who guesses."""
    certificate = certified(found)
    promise = certificate.promise
    unit = unit_words(certificate.unit, certificate.terms.edition)
    told = f"ε = {shown(promise.epsilon)}, δ = {shown(promise.delta)}, unit: {unit}"
    numbers = promise.epsilon, promise.delta, promise.neighbours
    said = " ".join(promise_sentences(*numbers, certificate.unit))
    apart = comes_and_goes(certificate.terms.edition, promise.neighbours)
    return f"meaning ({told}): {said}" + (f" That is {apart}." if apart else "")


def _count(found: Verified, places: tuple[Trusted, ...]) -> tuple[Mapping[str, object], list[str]]:
    """The certificate of a noiseless count, verified; its assumptions are printed first."""
    document = {
        "assumptions": found.assumptions,
        "kind": counts.KIND,
        "verified": True,
        **vars(LookedAt.at(found, places)),
        "limits": counts.LIMITS,
        **dict(found.numbers),
    }
    checked = [_verified(found), *checked_lines(found, places)]
    limits = ["its limits:", *(f"  - {text}" for text in counts.LIMITS)]
    return document, [counts.KIND, *_assuming(found), *checked, *limits]


@frozen(kw_only=True)
class UnpromisedChecked(WithoutPromise):
    """A statement without (ε, δ) that is valid: never ``verified``, as a certificate is."""

    verified: bool = field(init=False, default=False)
    release_checked: bool
    release: str
    k: int
    unit: str
    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    trusted: tuple[TrustSaid, ...]
    assumptions: tuple[str, ...]


def _unpromised(
    found: Verified, places: tuple[Trusted, ...], *, is_whole: bool
) -> tuple[UnpromisedChecked, Iterator[str]]:
    """A statement without (ε, δ) that is valid: never ``verified`` as a certificate is."""
    certificate = certified(found)
    attacks = attacks_on(certificate.k, certificate.terms.models)
    looked = LookedAt.at(found, places)
    said = UnpromisedChecked(
        still_works=attacks,
        release_checked=is_whole,
        release=found.subject,
        k=certificate.k,
        unit=certificate.unit,
        checked=looked.checked,
        unchecked=looked.unchecked,
        trusted=looked.trusted,
        assumptions=found.assumptions,
    )

    def lines() -> Iterator[str]:
        yield from first_lines((escaped(each.attack), escaped(each.why)) for each in attacks)
        what = ", and belongs to this release" if is_whole else "; the release was not checked"
        yield f"the statement is valid{what}; it is no certificate: {one_line(found.subject)}"
        yield from checked_lines(found, places)
        yield from map(escaped, _assuming(found))

    return said, lines()


_BECAUSE = {
    "project": ": nothing was named, and it is this project's own",
    "beside": ": it stands beside the certificate, and the owners of yours have signed it;"
    " keep it with 'policy-engine keys update'",
}


@frozen
class TrustSaid:
    """Whose keys are trusted, and why; the rest is of a signed keyring."""

    place: str
    because: str
    serial: int | None = None
    issued: str | None = None
    expires: str | None = None
    expired: bool | None = None


@frozen
class Trusted:
    """A file, or the environment, whose keys are trusted, and why; of a signed keyring its seal."""

    place: str
    because: Literal["--key", "--keyring", "project", "environment", "beside"]
    seal: Seal | None = None

    def __str__(self) -> str:
        if self.because == "environment":
            return f"trusting the key in {self.place}"
        return f"trusting {self.place}{_BECAUSE.get(self.because, f', named by {self.because}')}"

    @property
    def said(self) -> TrustSaid:
        """The same as data."""
        seal = self.seal
        if seal is None:
            return TrustSaid(self.place, self.because)
        return TrustSaid(
            self.place,
            self.because,
            seal.serial,
            written(seal.issued),
            written(seal.expires),
            seal.expires < datetime.now(UTC),
        )

    def lines(self) -> list[str]:
        """The same as lines, with the age of a signed keyring."""
        if self.seal is None:
            return [str(self)]
        now, ends = datetime.now(UTC), written(self.seal.expires)
        days = counted(max(0, (now - self.seal.issued).days), "day")
        expires = f"expires on {ends}"
        if self.seal.expires < now:
            expires = (
                f"expired on {ends}: keys may have been revoked since; get a newer one from its"
                " owners"
            )
        return [str(self), f"keyring {self.seal.serial}, signed {days} ago, {expires}"]


def trusted_keys(
    paths: list[Path],
    keyring: Path | None = None,
    project: Project | None = None,
    beside: Path | None = None,
) -> tuple[TrustedKeys, tuple[Trusted, ...]]:
    """The keys that were named, else the project's own and its keyring's; and where they lie.

    The project is that of the working directory, unless another is meant.

    Where a keyring has a key, its word on it counts, however else the key was named. A newer one
    in the folder of the certificate ``beside`` counts in its stead where its owners have signed it.

    Raises:
        UsageError: no key was named and no project is near.
        FileError: a key or a keyring cannot be read, or the keyring is not signed as it says.
    """
    if not paths and keyring is None:
        return _projects_own(project or _project_with_keys())
    named = TrustedKeys.load(paths)
    places = tuple(Trusted(str(path), "--key") for path in paths)
    if keyring is None:
        return named, places
    ring = Keyring.read(keyring)
    check_signed(ring)
    places = (*places, Trusted(str(keyring), "--keyring", ring.seal))
    newer = None if beside is None else newer_at(beside.with_name(projects.KEYRING_FILE), ring)
    if newer is not None:
        places, ring = (*places, Trusted(newer.where, "beside", newer.seal)), newer
    return named.within(ring.trusted()), places


def _projects_own(project: Project | None) -> tuple[TrustedKeys, tuple[Trusted, ...]]:
    """The key of the environment or the project, and the project's keyring."""
    trusted, places = TrustedKeys.of(), list[Trusted]()
    ring = None if project is None else believed(project)
    if ring is not None and ring.seal is not None:
        return ring.trusted(), (Trusted(ring.where, "project", ring.seal),)
    if os.environ.get(SIGNING_KEY_VARIABLE):
        trusted = TrustedKeys.of(load_private_key().public_key())
        places.append(Trusted(SIGNING_KEY_VARIABLE, "environment"))
    elif project is not None and project.public_key.exists():
        trusted = TrustedKeys.load(project.public_key)
        places.append(Trusted(project.named(project.public_key), "project"))
    if ring is not None and project is not None and project.keyring.exists():
        trusted = trusted.within(ring.trusted())
        places.append(Trusted(project.named(project.keyring), "project"))
    if not trusted.by_id:
        raise UsageError(
            "no key to trust: name the public key of whoever signed the certificate,"
            " --key signing.pub, or their keyring, --keyring keys.json (the project of a release"
            " keeps both in .policy-engine/)"
        )
    return trusted, tuple(places)


def _project_with_keys() -> Project | None:
    """The project of the working directory, or the nearest folder above it with keys.

    Never one beside the certificate: whoever sends a certificate can send a key with it.
    """
    found = projects.find_project(Path.cwd())
    near = [] if found is None else [projects.load_project(found)]
    near += [projects.default_project(folder) for folder in (Path.cwd(), *Path.cwd().parents)]
    return next((p for p in near if p.public_key.exists() or p.keyring.exists()), None)
