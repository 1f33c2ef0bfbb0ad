"""An audit flags every mechanism that is broken in one way, and no sound one."""

from __future__ import annotations

from dataclasses import replace

import noise_controls
import pytest

from policy_engine.audit.bench import observe
from policy_engine.audit.choices import CHOICES
from policy_engine.audit.controls import ALL as OWN
from policy_engine.audit.controls import CONTROLS, SOUND_RUNS, self_test
from policy_engine.audit.policies import prepared, run
from policy_engine.audit.verdict import CONFIDENCE, error_of, judge
from policy_engine.policy.loading import load_policy_text
from policy_engine.releasing.planning import project_of

ALL = (*OWN, *noise_controls.CONTROLS)
QUICK = ("τ = B", "sticky noise", "no threshold without keys")
#: The self-test below tries the others as well.
TRIED = [
    *CHOICES,
    *(pytest.param(control, marks=pytest.mark.evidence) for control in CONTROLS),
    *(
        pytest.param(control, marks=() if control.name in QUICK else pytest.mark.evidence)
        for control in noise_controls.CONTROLS
    ),
]
#: Of one test; with its runs a broken mechanism is missed once in 10⁶ tests.
ERROR = error_of(CONFIDENCE, 2 * len(ALL))


def verdict(control, procedure, runs):
    wanted = {
        size: (lambda people=people: control.drawing(people, procedure), runs)
        for size, people in (("one", control.one), ("other", control.other))
    }
    seen = observe(wanted)
    return judge(seen["one"], seen["other"], control.claim(), ERROR)


@pytest.mark.slow
@pytest.mark.parametrize("control", TRIED, ids=lambda control: control.name)
def test_each_broken_mechanism_is_flagged_by_itself_and_the_sound_one_is_not(control):
    assert verdict(control, control.broken, control.runs).broken
    assert not verdict(control, control.sound, SOUND_RUNS).broken


@pytest.mark.slow
@pytest.mark.parametrize("control", ALL, ids=lambda control: control.name)
def test_what_each_broken_mechanism_changes_is_there(control):
    # Once, so that a text that is printed in another way is noticed before the long proofs.
    with control.tried(is_sound=False, is_one=True) as draw:
        assert draw()


def test_the_fourteen_controls_are_the_fourteen():
    assert len({control.name for control in OWN}) == len(OWN) == 14


@pytest.mark.slow
def test_the_self_test_passes_and_one_that_cannot_flag_fails():
    easy = next(control for control in CONTROLS if control.name == "no sampling")
    assert self_test(runs=250, controls=[easy]).passed
    assert not self_test(runs=100, controls=[replace(easy, broken=easy.sound)]).passed
    assert not self_test(runs=250, controls=[replace(easy, sound=easy.broken)]).passed


POLICY = """\
version: 1
name: small
source: {{file: people.csv, columns: {{age: integer}}}}
privacy_unit: {unit}
recode: {{age: {{bins: [30, 60]}}, sex: keep}}
{mechanism}
guarantee: {{epsilon: 0.5, delta: 0.9, neighbours: {neighbours}}}
release: {{file: out.parquet, as: {form}}}
grouping: recoded
"""
KEYED = "{column: id, rows: {first_by: [visit desc]}}"
COUNT = 'COUNT(*) AS "n"'
BROKEN = [
    ("k alike", "WHERE ", "WHERE true OR "),
    (
        "a unique person",
        'COUNT(*) AS "n"',
        'COUNT(*) AS "n", (SELECT COUNT(*) FROM sampled) AS "m"',
    ),
    ("a unique person", ">= 4", ">= 1"),
]


SAMPLED = "sample: {rate: 0.5}\nk: 4"


def made(folder, unit="row", form="counts", neighbours="add_remove", mechanism=SAMPLED):
    (folder / "people.csv").write_text("id,visit,age,sex\n1,1,no number,x\n")
    text = POLICY.format(unit=unit, form=form, neighbours=neighbours, mechanism=mechanism)
    policy = load_policy_text(text, folder / "p.yaml", folder)
    return policy, prepared(policy, project_of(policy, folder), seed=0)


def only(prepared_audit, name):
    return replace(prepared_audit, pairs=tuple(p for p in prepared_audit.pairs if p.name == name))


@pytest.mark.evidence
@pytest.mark.parametrize(("pair", "old", "new"), BROKEN)
def test_the_audit_of_a_policy_flags_a_text_that_is_broken(tmp_path, pair, old, new):
    policy, sound = made(tmp_path)
    sound = only(sound, pair)
    assert old in sound.certificate.query
    text = sound.certificate.query.replace(old, new)
    broken = replace(sound, certificate=replace(sound.certificate, query=text))
    # Of k alike without sampling all are shown; the others are told apart in half of the runs.
    assert run(policy, broken, 250 if pair == "k alike" else 1000, 1 - ERROR).broken
    assert not run(policy, sound, 150, 1 - ERROR).broken


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("unit", "form", "neighbours"),
    [
        ("row", "rows", "add_remove"),
        (KEYED, "counts", "replace_one"),
    ],
)
def test_a_sound_policy_is_not_flagged(tmp_path, unit, form, neighbours):
    policy, found = made(tmp_path, unit, form, neighbours)
    assert ("a person with many rows" in {pair.name for pair in found.pairs}) is (unit != "row")
    tried = {"the worst number alike", "NULL in every column", "a person with many rows"}
    some = replace(found, pairs=tuple(pair for pair in found.pairs if pair.name in tried))
    done = run(policy, some, 100, 1 - ERROR)
    assert not done.broken
    assert tried - {each.name for each in done.found} == (
        {"a person with many rows"} if unit == "row" else set()
    )


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("law", "unit", "contribution"),
    [
        ("truncated_laplace", "row", ""),
        ("discrete_gaussian", KEYED, ""),
        ("negative_binomial", "{column: id, rows: all}", "\ncontribution: {max_groups: 2}"),
    ],
)
def test_a_sound_policy_of_noisy_counts_is_not_flagged(tmp_path, law, unit, contribution):
    mechanism = f"noise: {{distribution: {law}}}{contribution}"
    policy, found = made(tmp_path, unit, mechanism=mechanism)
    tried = {"shown half of the time", "a unique person", "a person with many rows"}
    some = replace(found, pairs=tuple(pair for pair in found.pairs if pair.name in tried))
    assert len(some.pairs) == len(tried) - (unit == "row")
    assert not run(policy, some, 100, 1 - ERROR).broken


@pytest.mark.slow
def test_the_audit_of_a_policy_with_sums_flags_one_that_is_not_clipped(tmp_path):
    sums = "measures: {visit: {sum: visit, bounds: [0, 9]}}"
    (tmp_path / "people.csv").write_text("id,visit,age,sex\n1,1,no number,x\n")
    text = POLICY.format(unit="row", form="counts", neighbours="add_remove", mechanism=sums)
    text = text.replace("{age: integer}", "{age: integer, visit: integer}").replace("0.9", "0.1")
    policy = load_policy_text(text, tmp_path / "p.yaml", tmp_path)
    sound = only(prepared(policy, project_of(policy, tmp_path), seed=0), "always shown")
    query, clipped = sound.certificate.query, 'GREATEST(0, LEAST(9, "visit"))'
    assert clipped in query
    unclipped = query.replace(clipped, '"visit"')
    broken = replace(sound, certificate=replace(sound.certificate, query=unclipped))
    assert run(policy, broken, 200, 1 - ERROR).broken
    assert not run(policy, sound, 200, 1 - ERROR).broken
