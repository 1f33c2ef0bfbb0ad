"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

PolicyArgument = Annotated[Path, Argument(help="A policy file.", readable=False)]
CertificateArgument = Annotated[
    Path, Argument(help="A certificate: a DSSE envelope.", readable=False)
]
ReleaseOption = Annotated[Path | None, Option(help="The release it speaks of.")]
PolicyOption = Annotated[Path | None, Option(help="Compare with this policy as well.")]
KeyOption = Annotated[
    list[Path] | None, Option("--key", help="A public key to trust; default: the project's.")
]
KeyringOption = Annotated[
    Path | None, Option(help="Trust the keys of this keyring, within their dates.")
]
SignerOption = Annotated[
    Path | None,
    Option("--key", help="A private key, a PEM file; default: what signs for the project."),
]
KeyArgument = Annotated[
    str, Argument(metavar="KEYID", help="A key id, or its first 8 or more digits.")
]
ByOption = Annotated[str, Option(help="Who decided.")]
WhyOption = Annotated[str, Option(help="Why.")]
NewEpsilonOption = Annotated[str, Option("--epsilon", help="The new limit of ε.")]
NewDeltaOption = Annotated[str, Option("--delta", help="The new limit of δ.")]
NeighboursOption = Annotated[str, Option(help="add_remove (a person more or less) or replace_one.")]
ReleasesOption = Annotated[int, Option(help="So many releases, each from a fresh sample.")]
ReplacePlotOption = Annotated[bool, Option("--replace", help="Replace a plot that stands there.")]
QuasiOption = Annotated[
    str | None, Option(help="The columns that are known of a person; default: all others.")
]
SuppressedOption = Annotated[
    str | None,
    Option(help="What stands in every known column of a row that is not shown, as '*': no class."),
]
PublishedOption = Annotated[
    bool, Option("--published", help="It is no release of ours, and public by your word.")
]
EditionOption = Annotated[
    str | None, Option("--edition", metavar="NAME", help="The edition that is meant, as 2026-11.")
]
