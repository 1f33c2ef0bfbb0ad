-- What the texts of strangers read that bring no schema: types as their authors must have had them.
CREATE TABLE main.people (
  id INTEGER, name VARCHAR, email VARCHAR, zip VARCHAR, city VARCHAR, state VARCHAR, sex VARCHAR,
  age INTEGER, race VARCHAR, education VARCHAR, occupation VARCHAR, native_country VARCHAR,
  marital_status VARCHAR, income INTEGER, salary INTEGER, score INTEGER, hours_per_week INTEGER,
  year INTEGER, active BOOLEAN, birth_date DATE, created_at TIMESTAMP
);
CREATE TABLE main.visits (
  visit_id INTEGER, person_id INTEGER, visit_date DATE, diagnosis VARCHAR, region VARCHAR, ward VARCHAR
);
CREATE TABLE main.patients (patient_id INTEGER, diagnosis VARCHAR, age INTEGER, sex VARCHAR);
