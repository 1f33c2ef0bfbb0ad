"""Plan → text, through the envelopes in ``sql_templates/``.

A template can place nodes and nothing else: its finalizer refuses every other value, so no
text of a policy can reach SQL without having been an identifier or a literal.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from policy_engine.compile.plan import Plan
from policy_engine.dialects.base import Dialect
from policy_engine.errors import InternalError

if TYPE_CHECKING:
    import jinja2

_PACKAGED = Path(__file__).parent.parent / "sql_templates"
_CHECKOUT = Path(__file__).parent.parent.parent / "sql_templates"


def _templates() -> Path:
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


@lru_cache
def _environment(dialect: Dialect) -> jinja2.Environment:
    import jinja2

    def finalize(value: object) -> str:
        if not isinstance(value, exp.Expr):
            raise InternalError(f"a template was given {type(value).__name__}, not a node")
        return dialect.sql(value)

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_templates()),
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        autoescape=False,
        keep_trailing_newline=True,
    )


def render(plan: Plan) -> str:
    """The text that will be proved, and then run, letter by letter.

    Raises:
        InternalError: a template asked for something that is not a node.
    """
    template = "select" if plan.target is None else "create_table"
    if plan.replaces and plan.target is not None and plan.dialect.replaces:
        template = "replace_table"
    environment = _environment(plan.dialect)
    nodes = {"query": plan.query, "target": plan.target}
    return _header(plan) + environment.get_template(f"{template}.sql.j2").render(nodes)


def _header(plan: Plan) -> str:
    """Two comment lines: the policy's name is a plain word and the digest is hex."""
    return f"-- policy: {plan.policy_name}\n-- digest: {plan.policy_digest}\n"
