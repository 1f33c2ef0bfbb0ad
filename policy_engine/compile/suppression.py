"""The text of a release without (ε, δ): raw classes of k people and more, by the kernel's recodes.

Nothing here is certified, and nothing that certifies reads it: the template stands beside this
module, and not among those whose prints the kernel compares.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from policy_engine.engines import ENGINES
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.printing import asked_of, environment, values_of
from policy_engine.policy.syntactic import WholeClasses

if TYPE_CHECKING:
    import jinja2

_TEMPLATE = "suppression.sql.j2"
NO_GUARANTEE = "-- no epsilon, no delta: nothing of this text is certified\n"


def printed_classes(claim: Claim, engine: str) -> str:
    """The one text of a claim of ``WholeClasses`` on an engine.

    It counts people by what is shown of them, and leaves out the classes of less than k. What else
    its models ask for is decided on its rows.

    Raises:
        Refused: the engine cannot do it, with the reason and a remedy.
    """
    ENGINES[engine].check(*asked_of(claim))
    law = cast("WholeClasses", claim.law)
    values = values_of(claim, ENGINES[engine])
    return NO_GUARANTEE + _template(engine).render({**values, "classes": law.classes(claim)})


@lru_cache
def _template(engine: str) -> jinja2.Template:
    text = files("policy_engine.compile").joinpath(_TEMPLATE).read_text("utf-8")
    return environment(engine).from_string(text)
