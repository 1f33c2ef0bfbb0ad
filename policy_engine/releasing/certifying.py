"""Whether a text is the SQL of a policy, in one of its editions. Nothing runs."""

from __future__ import annotations

from policy_engine.check.answer import Answer, answer
from policy_engine.check.findings import findings_of
from policy_engine.check.laws import EDITION_IS_THE_POLICYS
from policy_engine.check.schema import Schema
from policy_engine.kernel.editions import Edition
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.naming import editions_in, in_named_edition
from policy_engine.releasing.planning import project_of


def answer_of(
    text: str, dialect: str, schema: Schema, policy: Policy, name: str | None = None
) -> tuple[Edition, Answer]:
    """The answer to a text that must be the SQL of a policy, and of which edition of it.

    The edition is chosen by ``name`` as in ``compile_policy``. The SQL of another one is not
    certified, and the finding names that where the days in the text tell it.

    Raises as ``answer``; and UsageError: no edition can be called so.
    """
    project = project_of(policy)
    wanted = in_named_edition(policy, project, name)
    found = answer(text, dialect, schema, wanted)
    own = wanted.edition.name
    others = editions_in(text, policy, project.zone) if found.findings else ()
    for told in (other.name for other in others if other.name != own):
        other = in_named_edition(policy, project, told)
        if not answer(text, dialect, schema, other).findings:
            says = f"the SQL of {told}, compared with {own}; add --edition {told}"
            found = Answer(findings=findings_of(EDITION_IS_THE_POLICYS.broken_by(says)))
    return wanted.edition, found
