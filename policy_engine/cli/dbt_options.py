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
        help="The folder of dbt_project.yml. Default: this folder, or the nearest one above.",
    ),
]
# DBT_PROFILES_DIR is read where the file is looked for, so that a message can say who named it.
ProfilesOption = Annotated[
    Path | None, typer.Option("--profiles-dir", help="The folder of profiles.yml.")
]
VarsOption = Annotated[
    str | None, typer.Option("--vars", help="Variables of the dbt project, in YAML, as for dbt.")
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        envvar=["DBT_TARGET", "DBT_ENGINE_TARGET"],
        help="The target of dbt. Default: that of the profile.",
    ),
]
