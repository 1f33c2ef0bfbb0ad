"""The fuzz target of policy loading: mutants of the examples' policy and project files."""

from __future__ import annotations

import random
import time
from functools import cache
from pathlib import Path

from fuzz_check import Outcome

from policy_engine.errors import PolicyEngineError, PolicyError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import load_project_text

ROOT = Path(__file__).parents[2]
PIECES = [
    *"[]{}:,-?!&*#|>'\"%@`\\\n\t ~<", "- ", ": ", "\n  ", "\n---\n", "...", "<<: ", "!!str ", "&a ",
    "*a", "|\n", ">-\n", "!!python/object:os.system ", "auto", "keep", "null", "~", "yes", "0x1F",
    "1e999", "1e-999999999", ".nan", "-.inf", "2020-13-45", "2020-01-01", "12:30:45", "\\ud800",
    '"\\U00110000"', "\ufeff", "\u2028", "\x85", "\0", "\x7f", "\ud800", "{{ env_var('X') }}", "{{",
    "9" * 400, "0." + "0" * 400 + "1", "{bins: [1, 2]}", "{prefix: -1}", "{map: {a: b}, other: c}",
    "{truncate: century}", "{hierarchy: ../../etc/passwd, level: 1}", "{round: 0}", "{round: .nan}",
    "sampled_at: 1e-30", "neighbours: replace_one", "1_000", "0o17", "1:30", "=", "[]", "{}", "''",
]  # fmt: skip


@cache
def files() -> tuple[tuple[Path, str], ...]:
    """Every policy and project file of the repository."""
    paths = [*sorted((ROOT / "policies").glob("*/policy.yaml")), ROOT / "policy-engine.yaml"]
    return tuple((path, path.read_text()) for path in paths)


def _by_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    deed = rng.randrange(5)
    if deed == 0:
        del lines[place]
    elif deed == 1:
        lines.insert(place, lines[other])
    elif deed == 2:
        lines[place], lines[other] = lines[other], lines[place]
    elif deed == 3:
        lines[place] = "  " * rng.randrange(4) + lines[place].lstrip()
    else:
        another = rng.choice(files())[1].splitlines(keepends=True)
        lines.insert(place, rng.choice(another))
    return "".join(lines)


def _by_value(text: str, rng: random.Random) -> str:
    places = [i for i, letter in enumerate(text) if letter == ":"]
    start = rng.choice(places or [0]) + 1
    ends = [i for i in range(start, len(text)) if text[i] in ",}\n"]
    end = ends[0] if ends else len(text)
    return f"{text[:start]} {rng.choice(PIECES)}{text[end:]}"


def _by_piece(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text) + 1)
    return text[:start] + rng.choice(PIECES) + text[start + rng.randrange(10) :]


def policy_of(number: int, seed: int) -> tuple[Path, str]:
    """Mutant ``number`` of the run ``seed``, and the file it was made of."""
    rng = random.Random(f"policy {seed} {number}")
    path, text = rng.choice(files())
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        text = rng.choice([_by_line, _by_value, _by_value, _by_piece])(text, rng) or ":"
    return path, text


def check_policy_text(path: Path, text: str, *, timed: bool = False) -> Outcome:
    """Both loaders: a value or an error of ours that says where, and neither takes long."""
    outcome = Outcome()
    for load in (load_policy_text, load_project_text):
        start = time.process_time()
        try:
            load(text, str(path), path.parent)
        except PolicyError as error:
            if not error.problems or any(p.line < 0 or p.column < 0 for p in error.problems):
                outcome.failures.append(("crash", "an error without a place"))
        except PolicyEngineError as error:
            outcome.failures.append(("crash", f"{type(error).__name__} instead of PolicyError"))
        except Exception as error:
            outcome.failures.append(("crash", f"{type(error).__name__}: {error}"))
        else:
            outcome.accepted += 1
        outcome.seconds = max(outcome.seconds, time.process_time() - start)
    if timed and outcome.seconds > max(1.0, len(text.encode(errors="replace")) / 1024):
        outcome.failures.append(("slow", f"{outcome.seconds:.1f} s for {len(text)} letters"))
    return outcome
