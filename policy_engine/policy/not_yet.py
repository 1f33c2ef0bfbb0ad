"""What the language has and nothing runs yet: it is read and checked, and refused here alone.

Whoever makes a part run takes it from here, and from ``waits`` of its document.
"""

from __future__ import annotations

from policy_engine.policy.laws import inside, mapping
from policy_engine.policy.project_models import AccountSpec, ProjectDocument
from policy_engine.policy.reading import HalfRead


def refuse_windows(reading: HalfRead[ProjectDocument]) -> None:
    """Refuse what a project file says of windows: every limit is for ever."""
    data = mapping(reading.root.data())
    law = "is understood, and every limit is for ever yet"
    remedy = "remove it: epsilon and delta are of all that the account ever pays"
    for name in mapping(data.get("accounts")):
        for key in AccountSpec.waits:
            if inside(data, "accounts", name, key) is not None:
                reading.refuse(("accounts", name, key), law, remedy, on_key=True)
