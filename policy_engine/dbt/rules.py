"""The rules of the gate: what each code means, why, and what mends it.

A code never changes its meaning, and a retired one is not used again: G05 was what hooks and macros
did with sensitive data, as far as an analysis could tell.
"""

from __future__ import annotations

import hashlib
import json

from policy_engine.errors import UsageError
from policy_engine.values import frozen


@frozen
class GateRule:
    """One rule: a sentence, why it stands, and what mends a breach."""

    title: str
    why: str
    remedy: str


@frozen
class GateFinding:
    """One breach of a rule.

    ``path`` are the names from where the data is to where it goes. ``file`` is relative to the
    project; ``line`` counts from 1, and is 0 where there is none to show. ``names`` are what it is
    about, the node or the code first, and what of it; ``origins`` all that is marked and reaches
    it.

    >>> print(GateFinding("G01", "exposure board shows sensitive data", "models/a.yml", 3,
    ...                   path=("raw.people", "exposure board"), remedy="read a release"))
    models/a.yml:3: G01 exposure board shows sensitive data
        raw.people → exposure board
        read a release
    """

    code: str
    message: str
    file: str = ""
    line: int = 0
    path: tuple[str, ...] = ()
    remedy: str = ""
    names: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """What it is of, wherever it stands and whatever words are made of it."""
        said = json.dumps([self.code, self.names, self.origins])
        return hashlib.sha256(said.encode()).hexdigest()

    @property
    def place(self) -> str:
        """The file and the line, as compilers write them."""
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def shown_path(self) -> str:
        """The path with arrows."""
        return " → ".join(self.path)

    @property
    def lines(self) -> tuple[str, ...]:
        """What is shown: the finding, the path and the remedy, a line each."""
        head = f"{self.place}: {self.code}" if self.file else self.code
        more = [f"    {each}" for each in (self.shown_path, self.remedy) if each]
        return (f"{head} {self.message}", *more)

    def __str__(self) -> str:
        return "\n".join(self.lines)


_RELEASE_IT = (
    "Let it read a certified release ('policy-engine dbt init' starts one), or do not show it."
)

_SHOWN_TO = (
    "Let it read a certified release ('policy-engine dbt init' starts one), or do not show it."
    " Or list its readers in meta.privacy.audience, and let somebody review the list."
)

RULES = {
    "G01": GateRule(
        "An exposure shows no sensitive data, except from a certified release.",
        "An exposure is a dashboard, a notebook or an application. It shows its readers what it"
        " reads.",
        _SHOWN_TO,
    ),
    "G02": GateRule(
        "A public model holds no sensitive data, except from a certified release.",
        "With access: public every project can use the model. With classification: public"
        " everybody may read it.",
        _RELEASE_IT,
    ),
    "G03": GateRule(
        "Sensitive data is not granted to everybody.",
        "A grant to public, to all users or to every account of the warehouse is a publication.",
        "Grant it to the roles that need it, or grant a certified release.",
    ),
    "G04": GateRule(
        "No saved query exports sensitive data, and no semantic model serves it.",
        "An export writes a table or view that other tools read. A semantic model answers metrics,"
        " for any group.",
        _SHOWN_TO,
    ),
    "G06": GateRule(
        "No model writes sensitive data to files or sends it away.",
        "The access rules of the warehouse do not protect a file outside of it.",
        "Materialize it as a table or a view. Export a certified release instead.",
    ),
    "G07": GateRule(
        "A test of sensitive data stores no failing rows, and prints no value of them.",
        "store_failures writes the failing raw rows into a table that others may read. fail_calc"
        " prints a value computed from them.",
        "Set store_failures: false for the test, or test the release.",
    ),
    "G08": GateRule(
        "Sensitive data is read by ref() or source(), never by the name of its table.",
        "dbt does not see a table that is read by its name. So lineage, access and groups do not"
        " include it.",
        "Write {{ ref('…') }} or {{ source('…', '…') }} instead of the name.",
    ),
    "G09": GateRule(
        "dbt knows everything that an exposure, a public model or a grant reads.",
        "A file, or a table that dbt does not know, can hold anything. So it counts as sensitive.",
        "Declare it as a source with meta.privacy.classification, or make it a seed.",
    ),
    "G10": GateRule(
        "The SQL of everything that an exposure, a public model or a grant reads is known.",
        "If a model has macros or conditions, only its compiled SQL shows what it reads.",
        "Compile the whole project (dbt compile --select '*'), and run the gate again.",
    ),
    "G11": GateRule(
        "Models are built by dbt's own macros.",
        "A macro that replaces one of dbt or of the adapter runs for every model, after the gate"
        " has read its text. It can write data anywhere.",
        "Rename the macro or remove it. Or read it, and record that with 'policy-engine dbt"
        " review'.",
    ),
    "G13": GateRule(
        "Whatever is switched off here shows no sensitive data when it is switched on.",
        "enabled can depend on the target or a variable, so another target may build it. The"
        " manifest has no compiled SQL of it.",
        "Delete it, write enabled: false, or change what it reads. If the gate cannot read it"
        " here, run 'dbt compile --target …' with the target that builds it, and the gate.",
    ),
    "G14": GateRule(
        "Somebody has read the code that runs beside the models.",
        "Packages, hooks, operations, materializations, Python models and code that runs"
        " statements can copy, export, grant, log or drop data. A template can build the name of a"
        " table that only another target reads. dbt's graph does not show this, so a person reads"
        " the code once.",
        "'policy-engine dbt review' shows the code. Read it, and record your name with the same"
        " command in privacy-review.yml.",
    ),
    "G15": GateRule(
        "Sensitive relations are in private schemas and are granted to private roles.",
        "Everyone who can read a schema reads its tables, even if no exposure names them. BI tools"
        " do this. dbt.private in policy-engine.yaml names the private schemas and roles.",
        "Write schema: with a private schema, or let it read a certified release.",
    ),
    "G20": GateRule(
        "A release is certified from its SQL.",
        "The SQL of a release must equal what the program prints for its policy. If it cannot be"
        " certified, everything that reads it counts as sensitive.",
        "Correct what the finding names. 'policy-engine dbt sync' writes the model of a policy.",
    ),
    "G21": GateRule(
        "A release has a policy, and is what this policy asks for.",
        "The guarantee and the price are those of the policy. Without a policy a model is not a"
        " release.",
        "Run 'policy-engine dbt sync'. Make every change in the policy.",
    ),
    "G22": GateRule(
        "A release is drawn once.",
        "A view or an ephemeral model draws a new sample at every read. A table draws one at every"
        " build, and an incremental model at every full refresh. Every draw is a new release at a"
        " new price.",
        "Write config(materialized='incremental', full_refresh=false). Where is_incremental() is"
        " true, write select * from {{ this }} where false.",
    ),
    "G23": GateRule(
        "A release has one SQL text for all targets, variables and days.",
        "The certified SQL must be the SQL that runs. A condition on the target, a variable or the"
        " result of a query changes it.",
        "Remove the condition, or let 'policy-engine dbt sync' write the release.",
    ),
    "G24": GateRule(
        "A generated release was not changed.",
        "text_md5 in its meta is the digest of the certified text. The text of the model has"
        " another digest.",
        "Run 'policy-engine dbt sync'. Make every change in the policy.",
    ),
    "G25": GateRule(
        "No macro that a release needs is replaced.",
        "The project's macro of the same name would run instead of that of dbt or of this program."
        " It could do something else than the certified SQL.",
        "Remove the macro or rename it. 'policy-engine dbt sync' writes the program's package"
        " again.",
    ),
    "G26": GateRule(
        "A release is compiled, or its template can be read.",
        "Macros and conditions can produce any SQL. Only the compiled SQL shows the result.",
        "Run 'dbt compile' in a target where the release does not exist yet, and then the gate.",
    ),
    "G27": GateRule(
        "Only this program uses the secrets of the samples.",
        "Whoever knows the secret of a sample knows the people in it. Then the release has no"
        " guarantee.",
        "Remove the table of the secrets from the model, hook or macro.",
    ),
    "G30": GateRule(
        "meta.privacy can be read.",
        "A typing mistake must not expose data. So data with a mark that cannot be read counts as"
        " sensitive.",
        "Write classification: sensitive, internal or public. On a release write release: true.",
    ),
    "G31": GateRule(
        "Each policy of the project can be read, and names a source that dbt knows.",
        "A policy marks its source as sensitive. A policy that cannot be read protects nothing.",
        "Correct the policy. 'policy-engine validate' lists everything that is wrong with it.",
    ),
    "G32": GateRule(
        "A policy has not changed since its release was signed.",
        "A release never changes. The project describes it by the policy. If the policy changes,"
        " this description is false.",
        "Restore the policy. Write the change into a new policy with the next version.",
    ),
    "G33": GateRule(
        "Data that was sensitive is still sensitive.",
        "If a mark is removed, nothing behind it is protected any more, and the change looks"
        " harmless.",
        "Mark it again, or write a waiver with the reason why it is not sensitive any more.",
    ),
    "G34": GateRule(
        "A table that a policy joins as public holds no sensitive data.",
        "One row of a public table can be joined to the rows of all people. If the row is about a"
        " person, removing this person changes all of them.",
        "Join it by privacy_unit without public: true, or build it from public data.",
    ),
    "G40": GateRule(
        "The manifest matches the files of the project.",
        "The gate reads the manifest. If files were changed later, it does not see the change.",
        "Run 'dbt compile', and the gate again.",
    ),
}
"""Every rule by its code."""


def rule_named(code: str) -> GateRule:
    """The rule of a code.

    Raises:
        UsageError: there is none.

    >>> rule_named("g07").title
    'A test of sensitive data stores no failing rows, and prints no value of them.'
    """
    found = RULES.get(code.upper())
    if found is None:
        raise UsageError(f"the code must be one of {', '.join(RULES)}, found {code}")
    return found


def finding(
    code: str,
    message: str,
    file: str = "",
    line: int = 0,
    *,
    path: tuple[str, ...] = (),
    remedy: str = "",
    names: tuple[str, ...] = (),
    origins: tuple[str, ...] = (),
) -> GateFinding:
    """A breach of a rule, with the rule's own remedy where no other is given."""
    remedy = remedy or RULES[code].remedy
    return GateFinding(code, message, file, line, path, remedy, names or (file,), origins)
