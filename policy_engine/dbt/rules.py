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
    "Let it read a certified release ('policy-engine dbt init' starts one), or do not show it; or"
    " write meta.privacy.audience, and somebody reviews it."
)

RULES = {
    "G01": GateRule(
        "An exposure shows no sensitive data but through a certified release.",
        "An exposure is where data leaves the warehouse for people: a dashboard, a notebook, an"
        " application. What it reads is seen by everyone who sees it.",
        _SHOWN_TO,
    ),
    "G02": GateRule(
        "A public model holds no sensitive data but through a certified release.",
        "access: public lets every project ref the model; classification: public, everybody reads.",
        _RELEASE_IT,
    ),
    "G03": GateRule(
        "Nothing that holds sensitive data is granted to everybody.",
        "A grant to public, to all users or to every account of the warehouse is a publication.",
        "Grant it to the roles that need it, or grant a certified release.",
    ),
    "G04": GateRule(
        "No saved query exports sensitive data, and no semantic model serves it.",
        "An export writes a table or a view that other tools read; whoever asks a metric asks its"
        " semantic model, for any group.",
        _SHOWN_TO,
    ),
    "G06": GateRule(
        "No sensitive data is written to files or sent away by a model.",
        "A file outside the warehouse has none of its access rules.",
        "Materialize it as a table or a view; export a certified release instead.",
    ),
    "G07": GateRule(
        "A test of sensitive data stores no failures, and prints no value of them.",
        "store_failures keeps the raw rows that fail, in a table that others may read; fail_calc"
        " prints what it computes of them.",
        "Set store_failures: false for the test, or test the release.",
    ),
    "G08": GateRule(
        "Sensitive data is read by ref() or source(), never by the name of its table.",
        "A name that is written out is no edge of dbt's graph: lineage, access and groups miss it.",
        "Write {{ ref('…') }} or {{ source('…', '…') }} in its place.",
    ),
    "G09": GateRule(
        "What stands before an exposure, a public model or a grant is known to dbt.",
        "A table that dbt does not know, or a file, may hold anything: it counts as sensitive.",
        "Declare it as a source and write meta.privacy.classification on it; or make it a seed.",
    ),
    "G10": GateRule(
        "What stands before an exposure, a public model or a grant has a text that can be read.",
        "Without its compiled text nobody can tell what a model with macros or conditions reads.",
        "Compile the whole project (dbt compile --select '*'), and run the gate again.",
    ),
    "G11": GateRule(
        "Models are built by dbt's own macros.",
        "A macro in the place of dbt's own or the adapter's runs between the text that was read and"
        " the warehouse, for every model, and may put data anywhere.",
        "Rename the macro, or remove it; or read it, and 'policy-engine dbt review' writes so.",
    ),
    "G13": GateRule(
        "What is switched off here shows no sensitive data where it is switched on.",
        "enabled may hang on the target or a variable. A manifest has no compiled text of what is"
        " off, and another target builds it.",
        "Delete it or write enabled: false, or mend what it reads; what cannot be read here is read"
        " in the manifest of the target that builds it: 'dbt compile --target …', and the gate.",
    ),
    "G14": GateRule(
        "Code that runs beside the models was read by somebody.",
        "Packages, hooks, operations, materializations, Python models and what runs statements may"
        " copy, export, grant, log or drop; a template may put together the name of a table that"
        " only another target reads. No graph shows it, so a person reads it, once.",
        "Read it; 'policy-engine dbt review' shows it and writes who read it into"
        " privacy-review.yml.",
    ),
    "G15": GateRule(
        "Sensitive relations stand in private schemas and are granted to private roles.",
        "What dbt makes elsewhere is read by whoever reads there, whether an exposure names it or"
        " not: a mart is what a BI tool reads. dbt.private in policy-engine.yaml says where.",
        "Write schema: of a private one, or let it read a certified release.",
    ),
    "G20": GateRule(
        "A release is certified from its text.",
        "A release is a SQL model whose text is what the kernel prints for its policy. What cannot"
        " be certified does not cut the way of sensitive data.",
        "Mend what is found; 'policy-engine dbt sync' writes the model of a policy.",
    ),
    "G21": GateRule(
        "A release has a policy, and is the one that it asks for.",
        "The guarantee and its price are those of the policy: a model without one is no release.",
        "Run 'policy-engine dbt sync'; what should be different is changed in the policy.",
    ),
    "G22": GateRule(
        "A release is drawn once.",
        "A view or an ephemeral model draws a new sample at every read, a table at every build, an"
        " incremental model at every full refresh. Every draw is a new release at a new price.",
        "Write config(materialized='incremental', full_refresh=false) and, where"
        " is_incremental(), select * from {{ this }} where false.",
    ),
    "G23": GateRule(
        "A release has one text, whatever the target, the variables and the day.",
        "What was certified must be what runs. A condition on the target, on a variable or on what"
        " a query answers makes another text elsewhere.",
        "Take the condition out of the release, or generate it: 'policy-engine dbt sync'.",
    ),
    "G24": GateRule(
        "A generated release is as it was generated.",
        "Its meta says which text was certified (text_md5), and this is another.",
        "Run 'policy-engine dbt sync'; what should be different is changed in the policy.",
    ),
    "G25": GateRule(
        "No macro that a release rests on is replaced.",
        "The project's own macro of that name would run in the place of dbt's or the engine's, and"
        " do something else than what was certified.",
        "Remove the macro or rename it; 'policy-engine dbt sync' renews the engine's package.",
    ),
    "G26": GateRule(
        "A release is compiled, or can be read without.",
        "Macros and conditions may make anything of a text; only the compiled text shows what.",
        "Run 'dbt compile' where the release does not exist yet, and the gate again.",
    ),
    "G27": GateRule(
        "The secrets of the samples are touched by nobody but the engine.",
        "Who knows the secret of a sample knows who is in it, and the release has no guarantee.",
        "Take the table of the secrets out of the model, hook or macro.",
    ),
    "G30": GateRule(
        "meta.privacy can be read.",
        "A slip of the pen must not leave data exposed: what cannot be read counts as sensitive.",
        "Write classification: sensitive, internal or public; and release: true on a release.",
    ),
    "G31": GateRule(
        "A policy of the project can be read, and names a source that dbt knows.",
        "A policy's source is sensitive by that. A policy that cannot be read protects nothing.",
        "Mend the policy; 'policy-engine validate' lists all that is wrong with it.",
    ),
    "G32": GateRule(
        "A policy is as it was when its release was signed for.",
        "A release never changes. What the project says of it comes from the policy, and is not"
        " true of the table that stands once the policy is another.",
        "Put the policy back, and write the change into a policy of its own with the next version.",
    ),
    "G33": GateRule(
        "What was sensitive is sensitive still.",
        "Taking a mark away opens every way out behind it, and the change looks harmless.",
        "Mark it again; or a waiver says why it is not sensitive any more.",
    ),
    "G34": GateRule(
        "What a policy joins as public has nothing sensitive.",
        "As public one row may stand beside everybody's: the person it is of would move them all.",
        "Join it by privacy_unit without public: true, or make it of what is public.",
    ),
    "G40": GateRule(
        "The manifest is of the project as it is.",
        "What is read is the manifest: it must be made of the files that are there.",
        "Run 'dbt compile', and the gate again.",
    ),
}
"""Every rule by its code."""


def rule_named(code: str) -> GateRule:
    """The rule of a code.

    Raises:
        UsageError: there is none.

    >>> rule_named("g07").title
    'A test of sensitive data stores no failures, and prints no value of them.'
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
