"""First questions, five or more of each reader: answered in two clicks and 300 words each.

The answer to each is a section of a page. A test follows the links; that the section answers the
question is for people to judge, and these words of it are what they judged by.
"""

from __future__ import annotations

import re
from pathlib import Path

import pages
import pytest

ROOT = pages.ROOT
README = ROOT / "README.md"
WHY, ASKED = "docs/explanation/why-noise.md", "docs/explanation/questions.md"
APPROVE = "docs/howto/approve.md"
SUMS = "docs/howto/sums-and-groupings.md"
WAREHOUSES = "docs/howto/warehouses.md"
WRITE, RECIPES = "docs/howto/write-a-policy.md", "docs/howto/recipes.md"
TRUST, CERTIFICATE = "docs/explanation/threat-model.md", "docs/explanation/reading-a-certificate.md"
#: Who asks, what, on which page, below which heading, and the words that answer.
QUESTIONS = [
    ("engineer", "What does a policy look like?", "README.md", "policy-engine", "recode: {"),
    ("engineer", "How do I install it?", "README.md", "Install", "pip install ."),
    ("engineer", "Which columns leave?", WRITE, "What is released: `recode`", "not released"),
    ("engineer", "What does another column cost?", WRITE, "What does another column cost?",
     "Only `max_groups` of these groups count"),
    ("engineer", "How do I run it every month?", RECIPES, "Every month", "drawn once"),
    ("engineer", "How do I run it in CI?", RECIPES, "CI: check policies in a pull request",
     "no secret"),
    ("expert", "What is promised?", WHY, "What ε and δ are", "right at most"),
    ("expert", "Which distribution has the noise?", "docs/explanation/mechanism.md",
     "The distributions", "Laplace"),
    ("expert", "What do many releases cost?", "docs/explanation/accounts.md",
     "In short, if you make releases", "cost less than the sum of their prices"),
    ("expert", "What is trusted?", "docs/explanation/how-we-tested.md", "What is trusted",
     "no parser is trusted"),
    ("expert", "How does it compare?", "docs/explanation/beside-others.md",
     "Take another one if", "OpenDP"),
    ("reviewer", "Is it anonymous in law?", ASKED, "Is it anonymous in the sense of the law?",
     "No program can decide this"),
    ("reviewer", "Is ε = 1 much?", ASKED, "Is ε = 1 much?", "73.2 %"),
    ("reviewer", "May we publish twice?", ASKED, "May we publish twice?", "Yes, at a price"),
    ("reviewer", "Who must be trusted?", TRUST, "What you must make true", "Nobody looked first"),
    ("reviewer", "What does it not say?", CERTIFICATE, "What it does not say",
     "releaser is honest"),
    # And what a stranger of 28 November looked for in a wrong place first.
    ("engineer", "How do I publish sums and means?", SUMS, "Sums and means", "measures:"),
    ("engineer", "What of many visits a patient?", WRITE, "People with many rows", "max_groups"),
    ("engineer", "How small a group is still shown?", WHY, "What you pay", "| 12 | 14.8 | 80 |"),
    ("expert", "Who are neighbours?", "docs/explanation/mechanism.md",
     "The mechanism and its proof", "one person with all their rows"),
    ("expert", "How do I compute δ myself?", "docs/howto/verify-a-release.md",
     "Compute δ yourself", "needs only numpy"),
    ("expert", "What if it crashes?", ASKED, "What if it crashes?", "stays charged"),
    ("reviewer", "How do I sign?", ASKED, "What do I check before I sign?", "review approve"),
    # And what a signer who is no programmer, and a stranger of 29 November, did not find.
    ("reviewer", "I was sent a request: what do I read?", APPROVE, "Read the request", "`person`"),
    ("reviewer", "May somebody withdraw?", ASKED, "What if somebody withdraws, or must be erased?",
     "does not count these rows"),
    ("reviewer", "Who has audited it?", ASKED, "Has anybody outside checked it?", "No. Nobody"),
    ("reviewer", "What do I say by my approval?", APPROVE, "Answer", "You do not vouch for the"),
    ("reviewer", "The person column was wrong. What now?", ASKED,
     "One person had two keys, or the key named nobody. What now?", "does not hold as stated"),
    ("expert", "A laptop with the sealing key is stolen. What is lost?",
     "docs/howto/ledger.md", "A new sealing key", "the noise of earlier releases"),
    ("engineer", "Does it run on Snowflake?", "docs/howto/warehouses.md",
     "Release from a warehouse", "certified SQL"),
    # And what a stranger of the evening of 29 November did not find, or found half.
    ("engineer", "How do I release joined tables in dbt?", WRITE,
     "Columns of other tables: `source.join`", "persons: {table: persons"),
    ("engineer", "Why do the numbers not add up?", ASKED, "Why do the numbers not add up?",
     "of a roll-up or of marginals"),
    ("engineer", "Which rights does PostgreSQL need, and what is written there?", WAREHOUSES,
     "What a role needs", "`policy_engine_salts`, which holds a secret until the draw"),
    ("engineer", "Does the limit of a dbt project renew?", "docs/howto/dbt.md", "Once",
     "The limit of `people` never renews"),
    ("expert", "Where does 73.2 % come from?", ASKED, "Is ε = 1 much?",
     "(e^ε + δ)/(1 + e^ε), rounded up"),
    ("expert", "What is hashed for noise, and is a rank harmless?",
     "docs/explanation/mechanism.md", "Which texts are hashed", "Why a rank is harmless"),
    ("expert", "Which Rényi orders, and which cut?", "docs/explanation/accounts.md",
     "The three ways", "The two orders θ are 1.2·s and 1.6·s"),
    ("reviewer", "What if somebody draws again because the result looked odd?", TRUST,
     "What is noticed, and what is not", "the draw is charged"),
    ("reviewer", "We published a wrong number: does the budget come back?", ASKED,
     "We published a wrong number. What now?", "gets nothing back"),
    ("reviewer", "What is δ, in words?", ASKED, "And δ?", "bounds the chance of such results"),
    # And what six strangers of 30 November did not find, or found half.
    ("reviewer", "She was our patient, all know it: what is promised?", ASKED,
     "Everybody knows that she was our patient. What is promised?", "neighbours: replace_one"),
    ("expert", "Are families protected?", ASKED, "Are families protected?", "98.3 %"),
    ("expert", "What does the promise not cover?", TRUST, "What the promise does not cover",
     "people in general"),
    ("reviewer", "Can it go out without me?", ASKED, "Can a release go out without my approval?",
     "it is enough not to approve"),
    ("reviewer", "Does anything leave our house?", ASKED, "Does anything leave our house?",
     "sends nothing to its authors"),
    ("reviewer", "Our guesser suspects 10 %. And then?", ASKED, "Is ε = 1 much?", "23.2 %"),
    ("reviewer", "Our rule: no cell below 10 people.", ASKED, "Why are small groups missing?",
     "write `k: 10`"),
    ("expert", "Can two runs spend the rest twice?", ASKED, "What if it crashes?",
     "one is charged, and the other is refused"),
    ("engineer", "How do I choose max_groups?", WRITE, "People with many rows",
     "by public knowledge: the most groups that a person can have"),
    ("engineer", "When does the limit renew?", "docs/howto/a-years-plan.md",
     "When the limit renews", "A year begins on 1 January"),
    ("engineer", "How far off is a median, in money?", SUMS, "Medians",
     "an error of about 113 euros"),
    ("reviewer", "What is a family promised?", WRITE, "Households", "98.3 %"),
    ("expert", "Does the default promise to hide what a row says?",
     "docs/howto/choose-numbers.md", "Who a neighbour is", "at most 88.1 % of the time"),
]  # fmt: skip


def section(page: Path, heading: str) -> str:
    """The text below a heading, up to the next one of any level, fences left as they are."""
    parts = re.split(r"^#+ (.+)$", page.read_text("utf-8"), flags=re.MULTILINE)
    [found] = [text for name, text in zip(parts[1::2], parts[2::2], strict=True) if name == heading]
    return found


def links(page: Path) -> set[Path]:
    """The pages that a page links to."""
    targets = re.findall(r"\]\(([^)#\s:]+\.md)(?:#[^)]*)?\)", page.read_text("utf-8"))
    return {(page.parent / target).resolve() for target in targets}


@pytest.mark.parametrize(("who", "question", "page", "heading", "words"), QUESTIONS)
def test_a_first_question_is_answered_in_two_clicks_and_300_words(
    who: str, question: str, page: str, heading: str, words: str
) -> None:
    answer = ROOT / page
    once = links(README) | {README}
    twice = {there for here in once for there in links(here)}
    assert answer in once | twice, f"{who}: {question} is more than two clicks away"
    text = section(answer, heading)
    assert words in " ".join(text.split()), question
    assert len(text.split()) <= 300, f"{question}: {len(text.split())} words"


def test_each_reader_asks_at_least_five() -> None:
    askers = [who for who, *_ in QUESTIONS]
    assert set(askers) == {"engineer", "expert", "reviewer"}
    assert all(askers.count(who) >= 5 for who in askers)
