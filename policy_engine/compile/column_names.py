"""What a column's name and type say of it by convention: whose row it is, and what it counts.

Names and types alone are looked at, and no value. Whoever starts a policy, checks it or approves it
is told by the same rule: a policy that protects a row where a person has many is the worst mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from unicodedata import combining, normalize

from policy_engine.accounting.domain import Number
from policy_engine.accounting.odds import odds_sentence
from policy_engine.compile.catalog import TIMES, Field, Kind, Table
from policy_engine.kernel.assumptions import ROW_UNIT

_WORD = r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_]+"
POSTCODE = "zip zipcode postcode postal postalcode plz"
_NUMBERS = (
    ("age alter edad idade leeftijd", "{bins: [18, 30, 45, 65]}"),
    ("weeks", "{bins: [13, 26, 40, 50]}"),
    ("days tage jours dias", "{bins: [7, 14, 28, 84, 364]}"),
    ("year yob jahr annee ano", "{bins: [1950, 1960, 1970, 1980, 1990, 2000, 2010, 2020]}"),
    ("month monat mois mes", "{bins: [4, 7, 10]}"),
    ("hours stunden", "{bins: [10, 20, 30, 40, 50]}"),
    ("minutes minute mins duration delay", "{bins: [0, 15, 30, 60, 120]}"),
    ("hour", "{bins: [6, 12, 18]}"),
    (
        "income salary wage wages earnings revenue turnover gehalt lohn einkommen"
        " salaire revenu sueldo salario ingresos",
        "{bins: [10000, 20000, 30000, 50000, 75000, 100000]}",
    ),
    (
        "price amount cost costs fee fare total spend spent balance payment charge rent preis"
        " betrag kosten miete prix montant cout loyer precio importe coste monto alquiler",
        "{bins: [10, 20, 50, 100, 200, 500, 1000]}",
    ),
    ("gain gains loss losses dividend dividends", "{bins: [1, 1000, 10000, 100000]}"),
    (
        "count counts num number quantity qty children persons visits items orders bags anzahl",
        "{bins: [1, 2, 3, 5, 10]}",
    ),
    ("percent pct percentage score", "{bins: [20, 40, 60, 80]}"),
    ("rate ratio share fraction", "{bins: [0.2, 0.4, 0.6, 0.8]}"),
    ("rating stars", "{bins: [2, 3, 4, 5]}"),
    ("weight gewicht", "{bins: [50, 60, 70, 80, 90, 100]}"),
    ("height", "{bins: [150, 160, 170, 180, 190]}"),
    ("bmi", "{bins: [18.5, 25, 30]}"),
    ("temperature", "{bins: [0, 10, 20, 30]}"),
    ("distance km miles", "{bins: [10, 50, 100, 500, 1000]}"),
    ("latitude longitude lat lon lng", "{round: 1}"),
    (POSTCODE, "{bins: [10000, 20000, 30000, 40000, 50000, 60000, 70000, 80000, 90000]}"),
)
_WHOLE = "age weeks days year month hour count"
"""Of what is counted in whole numbers; others may have a part."""
_DATES = "date datum fecha dato birthdate birthday dob born geboren"
LABELS = "code type class category group level status kind"
PEOPLE = (
    "person patient customer client user member employee student subject passenger visitor"
    " kunde patientin mitglied mitarbeiter versicherte personne adherent salarie eleve"
    " borrower reader pupil tenant guest resident driver donor voter applicant taxpayer subscriber"
    " learner citizen worker nurse doctor caller player persona cliente paciente usuario alumno"
    " empleado socio socia abonado asegurado beneficiario"
    " abonne beneficiaire assure usager titulaire utilisateur laaner laner borger medlem"
    " participant respondent beneficiary policyholder enrollee shopper buyer"
    " paziente utente klant medewerker aluno segurado"
    " pacjent pacjenta pacjentka pacjentki osoba osoby klient klienta klientka klientki pracownik"
    " pracownika czlonek czlonka uzytkownik uzytkownika ubezpieczony ubezpieczonego"
    " kundin kundinne mitarbeiterin klientin beschaftigte beschaeftigte angestellte nutzer benutzer"
    " patiente employe membre miembro empleada trabajador trabajadora"
    " cust emp usr pers subj pat"
)
_A_PERSON = f"({'|'.join(PEOPLE.split())})(?:s|n|en)?"
_NOUN = rf"{_A_PERSON}(?:nummer|nr|id|key|no|num)?"
"""How a name speaks of people: kunden, Mitglieds, Kundennummer, userid."""
_KEYS = "id key uuid guid no nr number num numero numer sk hash pseudonym"
_LAST = "id key uuid guid nr nummer"
"""How names of keys end in many languages: kunde_id, Patienten-Nr, Kundennummer."""
_FIRST = "id num numero codigo cod matricule"
"""How they begin in others: id_cliente, numéro_patient."""
_ENDS = ("nummer", "nr")
_COUNTS = "n nb no nr num number numero"
"""How a name begins that counts people: num_customers, number_of_patients."""
_BETWEEN = "de del du des di da do la le el of the"
_THINGS = (
    "order product item article store shop invoice receipt visit event transaction session record"
    " row line ticket case booking trip flight station ward region country state city category"
    " department house room flat phone loan claim contract sale payment purchase message log entry"
    " sample device vehicle car bestellung artikel rechnung beleg haus zimmer telefon zeile"
    " besuch commande facture produit magasin visite sejour ligne pedido factura producto articulo"
    " tienda visita cita"
)
"""What a key with such a name is of is a thing."""
_LASTING = "case device house haus phone record room telefon"
"""What may stand for one person: some tables know people by nothing else."""
_SHARED = (
    "account card household phone mobile telephone telefon iban token code plate oid pan vin imei"
)
"""What several people may have together, and one may have several of."""
_OF_ONE = (
    "name surname forename lastname firstname fullname username login email mail passport ssn mrn"
    f" uid pid {_SHARED}"
    " nachname vorname nom prenom apellido apellidos nombre naam navn cognome nome sobrenome"
)
"""What may tell one person from others, though it is not called a key."""
_OF_MANY = (
    "date datum fecha day month time timestamp birthdate dob sex gender geschlecht sexe sexo race"
    " ethnicity nationality ward county district stadt ville ciudad pays pais abteilung"
)
"""What many people have alike."""


def words_in(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters and without accents: année is one word.

    >>> words_in("customerId"), words_in("Numéro_Año"), words_in("N.º socio")
    (('customer', 'id'), ('numero', 'ano'), ('num', 'socio'))
    """
    whole = re.sub(r"\b[Nn]\.?\s?[º°]", "num ", name)
    apart = normalize("NFKD", whole).replace("ł", "l").replace("Ł", "L")
    plain = "".join(sign for sign in apart if not combining(sign))
    return tuple(word.lower() for word in re.findall(_WORD, plain))


def by_name(name: str) -> str:
    """What numbers of that name are recoded to by convention; empty where there is none.

    >>> by_name("HoursPerWeek"), by_name("x")
    ('{bins: [10, 20, 30, 40, 50]}', '')
    """
    words = {*words_in(name)}
    return next((told for names, told in _NUMBERS if words & {*names.split()}), "")


def type_by_name(name: str) -> str:
    """As what a text may be read by its name: ``integer``, ``double``, ``date`` or ``timestamp``.

    Empty where the name does not say it.

    >>> [type_by_name(name) for name in ("loan_date", "created_at", "fee", "days_kept", "branch")]
    ['date', 'timestamp', 'double', 'integer', '']
    """
    words = words_in(name)
    if cuts := by_name(name):
        return "integer" if cuts in map(by_name, _WHOLE.split()) else "double"
    if "timestamp" in words or (len(words) > 1 and words[-1] == "at"):
        return "timestamp"
    return "date" if {*words} & {*_DATES.split()} else ""


def person_key(columns: Iterable[Field]) -> Field | None:
    """The key that is named as people are; None where no name says who is one person.

    >>> person_key([Field("order_id", "BIGINT"), Field("customer_id", "BIGINT")]).name
    'customer_id'
    >>> person_key([Field("loan_id", "BIGINT"), Field("Mitglieds-Nr", "BIGINT")]).name
    'Mitglieds-Nr'
    >>> person_key([Field("loan_id", "BIGINT")]) is None  # as likely a row as a person
    True
    """
    return next((each for each in columns if _is_a_persons(each)), None)


def likely_key(columns: Iterable[Field]) -> Field | None:
    """What an author may choose as a person's key: a person's noun, or a key of no known thing.

    >>> likely_key([Field("loan_id", "BIGINT"), Field("borrower", "VARCHAR")]).name
    'borrower'
    >>> likely_key([Field("id_sklepu", "BIGINT"), Field("asmuo_id", "BIGINT")]).name
    'asmuo_id'
    """
    things = {*_THINGS.split()}
    nouns = [each for each in columns if _is_of_people(words_in(each.name))]
    shaped = [
        each
        for each in columns
        if _is_shaped(words := words_in(each.name)) and not {*words} & things
    ]
    return next(iter(nouns or sorted(shaped, key=_ends_otherwise)), None)


def key_beside(keys: Iterable[str], table: Table) -> str:
    """A column of a source that by its name says whose row it is, beside the ``keys`` of its unit.

    Empty where there is none. Where each row is a unit, a column says no more than the row if its
    engine enforces that no two rows have one value of it, or the source is a list of its people.
    """
    own = {*map(table.find, keys)}
    others = [each for each in table.alone.columns if each not in own]
    if not own:
        others = [n for n in others if n.name not in table.unique and not _is_a_list_of(table, n)]
    found = person_key(others)
    return "" if found is None else found.name


def key_meant(keys: Iterable[str], table: Table) -> str:
    """The column beside a unit that by its name says whose row it is, and the unit's do not.

    Empty where there is none, or a column of the unit may tell one person from others.

    >>> table = Table(tuple(Field(name, "VARCHAR") for name in ("genre", "email", "member_id")))
    >>> key_meant(["genre"], table), key_meant(["email"], table), key_meant([], table)
    ('member_id', '', 'member_id')
    """
    own = filter(None, map(table.find, keys))
    return "" if any(map(_may_tell_one, own)) else key_beside(keys, table)


def _may_tell_one(column: Field) -> bool:
    """Whether a name leaves it open that a column tells one person from others."""
    words = words_in(column.name)
    known = {*_KEYS.split(), *_OF_ONE.split()}
    is_called_so = is_key(column) or _is_of_people(words) or bool({*words} & known)
    return is_called_so and not names_no_person(column.name)


def _is_a_list_of(table: Table, key: Field) -> bool:
    """Whether a source is called as the people of a key are: members has a row for each member."""
    name = table.parts[-1] if table.parts else PurePath(table.path or "").name.split(".")[0]
    words = words_in(name)
    is_of_things = any(word.removesuffix("s") in _THINGS.split() for word in words)
    return not is_of_things and bool(_nouns(words[-1:]) & _nouns(words_in(key.name)))


def names_no_person(name: str) -> bool:
    """Whether a column of that name tells no person from others: an age, a fee, a visit's key.

    >>> [names_no_person(name) for name in ("fee", "visit_id", "patient_age", "patient_id", "pid")]
    [True, True, True, False, False]
    """
    words = words_in(name)
    if _names_a_person(words):
        return False
    things, labels = {*_THINGS.split()} - {*_LASTING.split()}, {*LABELS.split()} - {"code"}
    if _counts_people(words):
        return True
    if _is_key(words) or (words[-1:] and words[-1] in _KEYS.split()):
        return _head(words) in things | labels
    of_many = labels | {*_OF_MANY.split()}
    others = [word for word in words if not re.fullmatch(_NOUN, word)]
    is_of_many = any(word in of_many or by_name(word) for word in others)
    return is_of_many or (bool(words) and words[-1].removesuffix("id") in things)


def promise_sentences(
    epsilon: Number, delta: Number, neighbours: str, unit: str
) -> tuple[str, ...]:
    """What (ε, δ) means to whoever guesses, and who a person is if the ``unit`` may be another.

    >>> promise_sentences(1, 0, "add_remove", "household_id")[1].partition(": ")[0]
    'A person here is one value of household_id'
    >>> len(promise_sentences(1, 0, "add_remove", "patient_id"))
    1
    """
    who = who_is_one(unit)
    return (odds_sentence(epsilon, delta, neighbours), *([f"A{who[1:]}."] if who else []))


def who_is_one(unit: str) -> str:
    """What every sentence means by a person, where the name of the ``unit`` is not a person's.

    Empty of a row, of what is called as people are, and of a key of nothing said, as is ``id``.

    >>> who_is_one("card_no").partition(": ")[0]
    'a person here is one value of card_no'
    >>> [who_is_one(unit) for unit in ("row", "id", "user_id", "household and user")]
    ['', '', '', '']
    """
    if unit == ROW_UNIT or any(map(_may_be_a_persons, unit.split(" and "))):
        return ""
    return (
        f"a person here is one value of {unit}: people who share one count as one person, and one"
        " with several as several"
    )


def _may_be_a_persons(name: str) -> bool:
    words = words_in(name)
    if names_no_person(name) or _head(words) in {*_SHARED.split(), *_THINGS.split()}:
        return False
    known = {*_OF_ONE.split()}
    return _is_of_people(words) or bool({*words} & known) or {*words} <= {*_KEYS.split()}


def is_key(column: Field) -> bool:
    """Whether a column seems to be a key: it is called so, or is a UUID."""
    return column.kind is Kind.UUID or _is_key(words_in(column.name))


def _is_a_persons(column: Field) -> bool:
    """Whether a column seems to be the key of people; no truth value and no time is one."""
    words, kind = words_in(column.name), column.kind
    if kind in {Kind.BOOLEAN, Kind.DATE, Kind.TIME, *TIMES}:
        return False
    return _names_a_person(words) or (kind is Kind.UUID and _is_of_people(words))


def _names_a_person(words: tuple[str, ...]) -> bool:
    """Whether a name is that of people's key, not of their number, nor of a thing of theirs."""
    if not _is_key(words) or not _is_of_people(words):
        return False
    return not _counts_people(words) and _head(words) not in {*_THINGS.split(), *LABELS.split()}


def _counts_people(words: tuple[str, ...]) -> bool:
    """Whether a name says how many people there are: num_patients, customer_count."""
    if not _is_of_people(words):
        return False
    is_plural = any(re.fullmatch(_A_PERSON, word) and word.endswith("s") for word in words)
    is_number = words[0] in _COUNTS.split() and ("of" in words or is_plural)
    return is_number or bool({*words} & {"count", "anzahl"})


def _head(words: tuple[str, ...]) -> str:
    """What a key is of: an order in customer_order_id, a client in id_cliente_pedido."""
    if words[0] in _FIRST.split() and _ends_in_no_key(words):
        return next((word for word in words[1:] if word not in _BETWEEN.split()), "")
    nouns = [word for word in words if word not in _KEYS.split()]
    return nouns[-1] if nouns else ""


def _is_of_people(words: tuple[str, ...]) -> bool:
    """Whether a word of the name is a person's noun, as in Kundennummer and patients_key."""
    return bool(_nouns(words))


def _nouns(words: tuple[str, ...]) -> set[str]:
    """The persons' nouns among the words of a name."""
    return {found[1] for word in words if (found := re.fullmatch(_NOUN, word))}


def _ends_otherwise(column: Field) -> bool:
    """Whether it begins as a key does, as in id_cliente, and does not end so."""
    return _ends_in_no_key(words_in(column.name))


def _ends_in_no_key(words: tuple[str, ...]) -> bool:
    return not (words[-1] in _LAST.split() or words[-1].endswith(_ENDS))


def _is_key(words: tuple[str, ...]) -> bool:
    """Whether a name is that of a key, of whatever."""
    called = {*words} & {"id", "key"} or any(_is_joined(word) for word in words)
    is_numbered = _is_of_people(words) and {*words} & {*_KEYS.split()}
    return bool(called or is_numbered or _is_shaped(words))


def _is_joined(word: str) -> bool:
    """Whether one word is a person's noun and a key: userid, custno."""
    return bool(re.fullmatch(_NOUN, word)) and not re.fullmatch(_A_PERSON, word)


def _is_shaped(words: tuple[str, ...]) -> bool:
    """Whether a name is that of something, and ends as a key's."""
    is_joined = bool(words) and words[-1].endswith(_ENDS) and words[-1] not in _ENDS
    is_named = len(words) > 1 and (words[-1] in _LAST.split() or words[0] in _FIRST.split())
    return is_joined or is_named
