"""Names and texts as each engine writes them, or why it does not."""

import pytest

from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused

HOSTILE = ["a", "a b", "it's", 'a"b', "a`b", "a]b", "a\nb", "a\r\nb", "--", "/* */", "\u202e",
           "a;b", "{{ x }}", "%s", ":salt", "$1", "😀", " a", "a "]  # fmt: skip


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_name_ends_at_its_quote_alone(name, text):
    engine = ENGINES[name]
    last = engine.closing or engine.quote
    if any(sign in text for sign in engine.unnamed):
        with pytest.raises(Refused, match="a sign that it cannot write"):
            engine.identifier(text)
        return
    if engine.bounds_names and text in (" a", "a ", "😀"):
        with pytest.raises(Refused, match="no blank at its ends and no character beyond"):
            engine.identifier(text)
        return
    written = engine.identifier(text)
    inner = written.removeprefix(engine.quote).removesuffix(last)
    assert last not in inner.replace(last * 2, "")
    assert inner.replace(last * 2, last) == text


@pytest.mark.parametrize("name", ENGINES)
def test_a_name_has_no_nul_no_half_character_and_no_more_than_the_engine_takes(name):
    engine = ENGINES[name]
    for wrong in ("a\0", "\ud800", "é" * (engine.longest_name // 2 + 1)):
        with pytest.raises(Refused, match=f"^{engine.title} cannot do this"):
            engine.identifier(wrong)
    assert engine.identifier("a" * engine.longest_name)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("text", [*HOSTILE, "a\\b", "\\", "'", "\\'", ""])
def test_a_text_ends_at_its_quote_alone(name, text):
    engine = ENGINES[name]
    if "\\" in text and engine.backslash == "refused":
        with pytest.raises(Refused, match="backslash") as refused:
            engine.text(text)
        assert refused.value.remedy == "write another sign"
        return
    assert unquoted(engine.text(text), engine.backslash) == text


def unquoted(written: str, backslash: str) -> str:
    """What a text in quotes says, read sign by sign."""
    escapes = backslash == "escapes" or written.startswith("E")
    inner = written.removeprefix("E")
    assert (inner[0], inner[-1]) == ("'", "'")
    found, place, inner = "", 0, inner[1:-1]
    while place < len(inner):
        sign = inner[place]
        if sign == "\\" and escapes:
            place += 1
            found += {"n": "\n", "r": "\r"}.get(inner[place], inner[place])
        elif sign == "'":
            place += 1
            assert inner[place] == "'"
            found += "'"
        else:
            found += sign
        place += 1
    return found


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800", "\udfff"])
def test_a_text_has_no_nul_and_no_half_of_a_character(name, text):
    with pytest.raises(Refused, match="half of a character"):
        ENGINES[name].text(text)


def test_spark_writes_no_text_that_it_would_replace():
    for name in ("spark", "databricks"):
        with pytest.raises(Refused, match="which it may replace"):
            ENGINES[name].text("${env:HOME}")


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("label", ["a ", "é"])
def test_a_label_is_one_that_the_engine_tells_from_others(name, label):
    engine = ENGINES[name]
    told = engine.labels == "any" or (engine.labels == "no last blank" and label == "é")
    if told:
        assert unquoted(engine.label(label), engine.backslash) == label
    else:
        with pytest.raises(Refused) as refused:
            engine.label(label)
        assert refused.value.remedy


def test_what_is_lacked_has_a_reason_and_a_remedy():
    for engine in ENGINES.values():
        for lack in engine.lacks.values():
            refused = Refused(engine.title, *lack)
            assert refused.reason
            assert refused.remedy
            assert str(refused) == f"{engine.title} cannot do this: {'; '.join(lack)}"
