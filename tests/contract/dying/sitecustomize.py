"""A process that dies before a step of a release; what a test starts alone has it on its path."""

import os

from policy_engine.releasing import job


def die(*_: object, **__: object) -> None:
    """As when the machine goes down."""
    os._exit(9)


if "DIES_BEFORE" in os.environ:
    setattr(job.Job, os.environ["DIES_BEFORE"], die)
