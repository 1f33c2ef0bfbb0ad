"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

PolicyArgument = Annotated[Path, Argument(help="A policy file.", readable=False)]
CertificateArgument = Annotated[
    Path, Argument(help="A certificate: a DSSE envelope.", readable=False)
]
ReleaseOption = Annotated[Path | None, Option(help="The release that the certificate describes.")]
PolicyOption = Annotated[Path | None, Option(help="A policy to compare with.")]
KeyOption = Annotated[
    list[Path] | None, Option("--key", help="A public key to trust. Default: the project's key.")
]
KeyringOption = Annotated[
    Path | None,
    Option(
        help="Trust the keys of this keyring. A key counts until it expires or is "
        "retired. A revoked key never counts."
    ),
]
SignerOption = Annotated[
    Path | None,
    Option(
        "--key", help="The PEM file of a private key. Default: the key that signs for the project."
    ),
]
KeyArgument = Annotated[
    str, Argument(metavar="KEYID", help="The id of a key, or at least its first 8 digits.")
]
ByOption = Annotated[str, Option(help="The person who decided.")]
WhyOption = Annotated[str, Option(help="The reason.")]
NewEpsilonOption = Annotated[str, Option("--epsilon", help="The new limit of ε.")]
NewDeltaOption = Annotated[str, Option("--delta", help="The new limit of δ.")]
NeighboursOption = Annotated[
    str,
    Option(help="add_remove: one person is added or removed. replace_one: one person is replaced."),
]
ReleasesOption = Annotated[int, Option(help="The number of releases, each from a new sample.")]
ReplacePlotOption = Annotated[
    bool, Option("--replace", help="Replace the plot if the file exists.")
]
QuasiOption = Annotated[
    str | None,
    Option(help="The columns that an attacker knows about a person. Default: all others."),
]
SuppressedOption = Annotated[
    str | None,
    Option(
        help="A row is suppressed if it has this text, such as '*', in every column of "
        "--quasi. Suppressed rows are left out."
    ),
]
PublishedOption = Annotated[
    bool,
    Option(
        "--published",
        help="You state that the table is public, although it is not a release of this program.",
    ),
]
EditionOption = Annotated[
    str | None,
    Option("--edition", metavar="NAME", help="The name of the edition, such as 2026-11."),
]
