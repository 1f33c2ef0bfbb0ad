"""A partition's name: whatever decides who is in which part is in it, [PART]."""

from dataclasses import replace
from decimal import Decimal

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.accounting.noise_laws import laplace
from policy_engine.attest.sealing import secret_of_parts
from policy_engine.kernel.certificate import Terms, certify
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import IntegerTable, Noisy, NoisyPart
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, People, Relation
from policy_engine.kernel.types import Type
from policy_engine.releasing.requests import part_of

MADE = laplace(1, 14)
LAW = NoisyPart(IntegerTable(MADE.entries, MADE.least), 1, parts=3, number=2)
KEY, OTHER = Column("id", Type("integer")), Column("other", Type("integer"))
SEX = Shown("sex", Column("sex", Type("text")), Keep())
CLAIM = Claim(Relation(("main", "people")), People(KEY, None), LAW, (SEX,))
TERMS = Terms("a", "", "people", Bounded(Decimal(1), Decimal("1e-6")))
NAMING = X25519PrivateKey.generate()


def part(claim=CLAIM, engine="duckdb", place="ab12", naming=NAMING):
    return part_of(certify(printed(claim, engine), claim, engine, TERMS), place, naming)


def test_parts_of_one_partition_have_its_name_and_secret():
    first, second = part(), part(replace(CLAIM, law=replace(LAW, number=3)))
    assert first[0] == second[0] and (first[1], second[1]) == ("2", "3")
    assert secret_of_parts(first[0], NAMING) == secret_of_parts(second[0], NAMING)


def test_what_draws_other_parts_is_another_partition():
    """The name of a table on a server is the same for all: another project's key is not."""
    unit = People(replace(KEY, type=Type("text")), None)
    others = [
        part(replace(CLAIM, law=replace(LAW, parts=4))),
        part(replace(CLAIM, unit=People(OTHER, None))),
        part(replace(CLAIM, unit=unit)),
        part(engine="postgres"),
        part(place="ab13"),
        part(naming=X25519PrivateKey.generate()),
    ]
    assert len({name for name, _ in [part(), *others]}) == 1 + len(others)


def test_of_everybody_there_is_no_part():
    assert part(replace(CLAIM, law=Noisy(LAW.table, 1))) is None
