"""The forms of an engine are parsed when a text of it is read, and not when a command starts."""

from __future__ import annotations

import subprocess
import sys

CODE = """
from policy_engine.syntax.readings import READINGS
forms = {name: (*each.forms, *each.order_forms) for name, each in READINGS.items()}
parsed = lambda name: sum(bool({"text", "meaning"} & set(vars(form))) for form in forms[name])
print(sum(map(parsed, forms)), end=" ")
READINGS["postgres"].known
print(parsed("postgres") == len(forms["postgres"]), parsed("trino"))
"""


def test_no_form_is_parsed_before_its_engine_is_read():
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["0", "True", "0"]
