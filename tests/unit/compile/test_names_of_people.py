"""What names say of a column: whose row it is, or that it tells no person from others."""

import pytest

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.column_names import (
    key_beside,
    key_meant,
    names_no_person,
    person_key,
    who_is_one,
)

PERSONS = """
    patient_id PatientID patientId PATIENT_ID patientid patient_no patient_key patient_uuid
    customer_id customerNumber customer_sk customer_hash customer_unique_id custid cust_no
    user_id userid user_uid_id USER_ID member_id memberno employee_id empno emp_id student_nr
    person_id personnr person_pseudonym subject_id subj_id participant_id respondent_id
    passenger_id client_id guest_id borrower_id taxpayer_number driver_id doctor_id
    Kundennummer kunde_id Kunden-Nr Patienten-Nr Mitgliedsnummer Mitarbeiter-ID versicherten_nr
    id_cliente id_paciente numero_cliente num_socio codigo_usuario id_del_alumno
    numéro_patient matricule_salarié id_abonné utilisateur_id
    låner_id medlem_nr medlemsnummer paziente_id klant_id
    pacjent_id PacjentID id_pacjenta nr_pacjenta numer_klienta klient_id osoba_id id_osoby
    pracownik_id członek_id id_członka użytkownik_id
    Kundin_ID Mitarbeiterin-Nr Beschäftigten-Nr Nutzer_ID Patientin_Id Personennummer
    id_patiente employé_id id_membre client_num id_miembro empleada_id trabajador_id id_persona
"""

NO_PERSONS = """
    age fee price cost amount income salary wage year month weight height bmi rating score
    patient_age customer_type member_status user_level passenger_class employee_count
    fare alter betrag gehalt preis jahr edad precio salaire montant
    order_id visit_id visitid orderid transaction_id ticket_no invoice_id
    booking_id trip_id event_key bestellung_id rechnung_nr id_pedido id_de_la_visita commande_id
    customer_order_id patient_visit_id user_session_id id_pedido_cliente
    customer_type_id patient_group_id
    sex gender date visit_date birthdate datum fecha zip plz ward department region country
    county status category group kind ethnicity
    number_of_customers num_patients n_users no_of_members numero_clientes
"""

NEITHER = """
    id key uuid uid pid mrn ssn email phone name code hash row_number_id2 device_id
    case_id record_id household_id house_id account_id card_no national_id
    nhs_number passport iban token social_security_number insurance_number
    plan notes comment x col1 customer patient
    borrower vehicle_owner hospital study site anon_id pseudonym persons
    betegazonosito_id membership_id
"""


@pytest.mark.parametrize("name", PERSONS.split())
def test_a_key_of_people_is_known_by_its_name(name):
    assert person_key([Field(name, "VARCHAR")]) is not None
    assert not names_no_person(name)


@pytest.mark.parametrize("name", NO_PERSONS.split())
def test_what_many_have_and_the_key_of_a_thing_are_no_person_s(name):
    assert person_key([Field(name, "VARCHAR")]) is None
    assert names_no_person(name)


@pytest.mark.parametrize("name", NEITHER.split())
def test_of_other_names_nothing_is_said(name):
    assert person_key([Field(name, "VARCHAR")]) is None
    assert not names_no_person(name)


#: What tells nobody from others by its name, where another column does, and what may.
NOT_MEANT = "genre branch hospital study site plan notes comment x col1 language lang team age"
MAY_BE_MEANT = """
    id key uuid uid pid mrn ssn email phone name code hash device_id household_id account_id card_no
    national_id nhs_number passport iban token account customer patient borrower anon_id pseudonym
    persons pacjent pacjent_id osoba klient członek employé Kundin membre miembro betegazonosito_id
    membership_id full_name user_name Nachname doctor_id
"""


@pytest.mark.parametrize("name", [*NOT_MEANT.split(), *NO_PERSONS.split()])
def test_beside_a_persons_key_no_other_name_is_meant(name):
    table = Table((Field(name, "VARCHAR"), Field("member_id", "VARCHAR")))
    assert key_meant((name,), table) == key_meant((), table) == "member_id"
    assert key_meant((name,), Table(table.columns[:1])) == ""


@pytest.mark.parametrize("name", MAY_BE_MEANT.split())
def test_beside_a_persons_key_another_name_may_be_meant(name):
    table = Table((Field(name, "VARCHAR"), Field("member_id", "VARCHAR"), Field("x", "VARCHAR")))
    assert key_meant((name,), table) == key_meant(("x", name), table) == ""
    assert key_meant(("member_id",), table) == ""


#: Of NEITHER, what tells one person from others, or nothing at all: it is left as it is.
ONE_EACH = """
    id key uuid uid pid mrn ssn email name hash passport customer patient borrower pseudonym persons
"""


@pytest.mark.parametrize("name", [*PERSONS.split(), *NO_PERSONS.split(), *NEITHER.split()])
def test_who_is_one_person_is_said_of_a_key_that_is_not_called_as_people_are(name):
    assert bool(who_is_one(name)) == (name not in {*PERSONS.split(), *ONE_EACH.split()})


@pytest.mark.parametrize("unit", ["row", "household and user_id", "site and number"])
def test_a_row_and_several_columns_with_one_of_a_person_need_no_word(unit):
    assert who_is_one(unit) == ""
    assert "value of ward and site:" in who_is_one("ward and site")


@pytest.mark.parametrize("kind", ["BOOLEAN", "DATE", "TIMESTAMP", "TIME", "TIMESTAMPTZ"])
def test_a_truth_value_and_a_time_are_nobodys_key(kind):
    assert person_key([Field("key_customer", kind)]) is None
    assert person_key([Field("key_customer", "INTEGER")]) is not None


def test_what_the_catalog_keeps_unique_says_no_more_than_the_row():
    columns = tuple(Field(name, "BIGINT") for name in ("visit_id", "patient_id", "fee"))
    assert key_beside((), Table(columns)) == "patient_id"
    assert key_beside((), Table(columns, unique=frozenset({"patient_id"}))) == ""
    assert key_beside(("FEE",), Table(columns, unique=frozenset({"patient_id"}))) == "patient_id"
    assert key_beside(("Patient_ID",), Table(columns)) == ""
    assert key_beside((), Table(columns[:1])) == ""


@pytest.mark.parametrize(
    ("source", "key", "is_told"),
    [
        ("data/members.parquet", "member_id", False),
        ("customers.csv.gz", "customer_id", False),
        ("dim_customer.parquet", "customerNumber", False),
        ("Kunden.csv", "Kundennummer", False),
        ("customers.parquet", "doctor_id", True),
        ("patient_visits.parquet", "patient_id", True),
        ("visits_of_patients.parquet", "patient_id", True),
        ("visits.parquet", "patient_id", True),
        ("people.parquet", "patient_id", True),
    ],
)
def test_a_source_that_is_called_as_its_people_are_lists_each_once(source, key, is_told):
    columns = (Field(key, "BIGINT"), Field("age", "BIGINT"))
    for table in (
        Table(columns, path=source),
        Table(columns, parts=("main", source.split(".")[0])),
    ):
        assert key_beside((), table) == (key if is_told else "")
    assert key_beside(("age",), Table(columns, path=source)) == key
