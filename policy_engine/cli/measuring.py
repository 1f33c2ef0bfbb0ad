"""assess: what a release, or raw data, tells of its people by the syntactic models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from policy_engine.cli.measured import MeasurementSaid, lines, said, workload_lines
from policy_engine.cli.options import (
    EditionOption,
    PublishedOption,
    QuasiOption,
    SuppressedOption,
)
from policy_engine.cli.output import emit
from policy_engine.cli.reading import names_in, read_file, read_levels
from policy_engine.errors import FileError, UsageError
from policy_engine.measure.measuring import Questions
from policy_engine.measure.measuring import measure as ask
from policy_engine.measure.statement import Tree
from policy_engine.policy.resolve import Policy
from policy_engine.values import frozen

_YAML = (".yaml", ".yml")


def assess(
    subject: Annotated[
        Path,
        Argument(
            help="The Parquet file of a release, a policy whose release is measured, or raw data.",
            readable=False,
        ),
    ],
    sensitive: Annotated[
        list[str] | None,
        Option(
            help="A column that an attacker wants to learn about a person. Repeat the option for"
            " more."
        ),
    ] = None,
    quasi: QuasiOption = None,
    count: Annotated[
        str | None,
        Option(help="For raw data: the column that says for how many people a row stands."),
    ] = None,
    key: Annotated[
        str | None,
        Option(
            help="For raw data: the column that identifies a person. Default: each row is a person."
        ),
    ] = None,
    order: Annotated[
        list[str] | None,
        Option(
            help="COLUMN=FILE: the order of the column's values. The file has one value a line,"
            " the smallest first."
        ),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        Option(help="COLUMN=FILE: the column's hierarchy, a CSV file as for a policy."),
    ] = None,
    population: Annotated[
        Path | None,
        Option(
            help="A file with everybody who could be in the data. It is needed for the"
            " journalist's risk."
        ),
    ] = None,
    sampled: Annotated[
        float | None,
        Option(help="The rate at which the people in the data were sampled from a population."),
    ] = None,
    marginals: Annotated[
        list[str] | None,
        Option(
            help="The columns of one published table of counts. Repeat the option for each table."
            " All tables are measured together."
        ),
    ] = None,
    published: PublishedOption = False,
    suppressed: SuppressedOption = None,
    workload: Annotated[
        bool,
        Option(
            "--workload",
            help="Measure how well a decision tree learns --sensitive from the release.",
        ),
    ] = False,
    raw: Annotated[
        bool,
        Option(
            "--raw",
            help="With --workload and a policy: also read the policy's source, and compare.",
        ),
    ] = False,
    edition: EditionOption = None,
    all_editions: Annotated[
        bool,
        Option("--all-editions", help="For a policy: measure each of its editions separately."),
    ] = False,
) -> None:
    """Measure k-anonymity, ℓ-diversity, t-closeness, risks and utility of a release or of raw data.

    The results about a release are as public as the release, because the command reads only its
    rows. With --population or --raw, it reads other data, and the results are confidential. NULL
    counts as a value. For each model, such as ℓ-diversity, the output names the worst group.

    If the file is not a release, it counts as raw data, so the results are confidential. The first
    line of the output says this. --published states that such a file is public. Each row counts as
    one person, except with --key or --count.

    If a policy has several editions, the command measures the last one that was drawn. --edition
    names another one, and --all-editions measures every edition.

    Example: policy-engine assess out/adult.parquet --sensitive income
    """
    if sampled is not None and not 0 < sampled <= 1:
        raise UsageError(f"--sampled must be above 0 and at most 1, found {sampled}")
    questions = Questions(
        tuple(dict.fromkeys(sensitive or ())),
        names_in(quasi),
        count,
        {column: _values_in(path) for column, path in _files(order, "--order")},
        {
            column: Tree.of(read_levels(path).rows)
            for column, path in _files(hierarchy, "--hierarchy")
        },
        population,
        sampled,
        is_public=published,
        marginals=tuple(map(names_in, marginals or ())),
        key=key,
        suppressed=suppressed,
    )
    is_policy = subject.suffix.lower() in _YAML
    if raw and not (is_policy and workload):
        raise UsageError("--raw stands beside --workload, of a policy, which names its source")
    if (edition is not None or all_editions) and not is_policy:
        raise UsageError("an edition is of a policy: name the policy, or the file alone")
    if edition is not None and all_editions:
        raise UsageError("--edition is one, and --all-editions are all: keep one of them")
    subjects = [_Subject(subject)]
    if is_policy:
        subjects = list(_of_policy(subject, edition, every=all_editions))
    measured = [_measured(each, questions, workload=workload, raw=raw) for each in subjects]
    if not all_editions:
        emit(*measured[0])
        return
    document = {
        "editions": [
            {"edition": each.edition, **vars(found)}
            for each, (found, _) in zip(subjects, measured, strict=True)
        ]
    }
    texts = (
        (f"edition {each.edition}", *told)
        for each, (_, told) in zip(subjects, measured, strict=True)
    )
    emit(document, [line for told in texts for line in told])


@frozen
class _Subject:
    """A file to measure; of a policy its release, with its edition."""

    path: Path
    policy: Policy | None = None

    @property
    def edition(self) -> str:
        """The name of the edition."""
        return "" if self.policy is None else self.policy.edition.name


def _measured(
    subject: _Subject, questions: Questions, *, workload: bool, raw: bool
) -> tuple[MeasurementSaid, list[str]]:
    """The measurement of one file, as data and as text."""
    path, policy = subject.path, subject.policy
    recoded = None if policy is None else policy.recoded
    found = ask(path, questions)
    if not workload:
        return said(found, recoded), [*lines(found, recoded)]
    from policy_engine.measure.workload import utility_of

    good_for = utility_of(path, questions.sensitive, policy if raw else None)
    found = replace(found, is_public=found.is_public and good_for.is_public)
    texts = [*lines(found, recoded), *workload_lines(good_for)]
    return said(found, recoded, good_for), texts


def _of_policy(file: Path, edition: str | None, *, every: bool) -> Iterator[_Subject]:
    """The releases of a policy that are to be measured: one edition, or all that stand."""
    from policy_engine.policy.loading import load_policy
    from policy_engine.releasing.editions import drawn_before, drawn_of, known_books
    from policy_engine.releasing.planning import project_of

    policy = load_policy(file, unpromised=True)
    project = project_of(policy)
    known = known_books(project)
    if every:
        names = sorted(drawn_of(policy, known))
        drawn = [drawn_before(policy, project, known, name) for name in names]
        found = [each for each in drawn if each.release_path and each.release_path.exists()]
        if policy.release_path is not None and found:
            yield from (_Subject(_release_of(each), each) for each in found)
            return
    if policy.schedule is not None or edition is not None:
        policy = drawn_before(policy, project, known, edition)
    yield _Subject(_release_of(policy), policy)


def _release_of(policy: Policy) -> Path:
    """The file of a policy's release."""
    if policy.release_path is None:
        release = policy.release
        counts = f" --count {quote(release.count_as)}" if release.form == "counts" else ""
        raise UsageError(
            f"the release of {policy.name} is a table: export it to a Parquet file, and name that,"
            f" with --published{counts}"
        )
    if not policy.release_path.exists():
        raise FileError(
            f"the release of {policy.name} is not there, {policy.release_path}: release it first"
        )
    return policy.release_path


def _files(given: list[str] | None, option: str) -> Iterator[tuple[str, Path]]:
    for each in given or ():
        column, equals, path = each.partition("=")
        if not equals or not column or not path:
            raise UsageError(f"{option} must be COLUMN=FILE, found {each!r}")
        yield column, Path(path)


def _values_in(path: Path) -> tuple[str, ...]:
    lines = tuple(line for line in read_file(path).splitlines() if line)
    if len(set(lines)) < len(lines):
        raise UsageError(f"{path} names a value twice")
    return lines
