"""The options of ``policy-engine dbt``, named as dbt names them, with its environment variables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project-dir",
        envvar=["DBT_PROJECT_DIR", "DBT_ENGINE_PROJECT_DIR"],
        help="The folder of dbt_project.yml; default: here, or above.",
    ),
]
# DBT_PROFILES_DIR is read where the file is looked for, so that a message can say who named it.
ProfilesOption = Annotated[
    Path | None, typer.Option("--profiles-dir", help="The folder of profiles.yml.")
]
VarsOption = Annotated[
    str | None, typer.Option("--vars", help="Variables of the project, as dbt takes them: YAML.")
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        envvar=["DBT_TARGET", "DBT_ENGINE_TARGET"],
        help="The target; default: the profile's.",
    ),
]
