"""The engines by the names that users give them."""

import pytest
import sqlglot

from policy_engine.dialects import ENGINES, dialect_named
from policy_engine.engines.types import parser_of
from policy_engine.errors import UsageError


def test_an_unknown_dialect_is_told_with_the_known_ones():
    with pytest.raises(UsageError, match=r"the dialect must be one of duckdb, .*found 'oracle'"):
        dialect_named("oracle")


def test_a_name_that_is_nearly_one_is_told():
    with pytest.raises(UsageError, match="did you mean 'postgres'"):
        dialect_named("postgresql")


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_has_a_parser(name):
    assert dialect_named(name).name == name
    assert sqlglot.parse_one("SELECT 1", dialect=parser_of(name)).sql() == "SELECT 1"
