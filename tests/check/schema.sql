-- What the cases of accepted.sql and refused.sql read.
CREATE TABLE main.people (
  id BIGINT, household INTEGER, sex VARCHAR, age INTEGER, zip VARCHAR, race VARCHAR,
  income VARCHAR, name VARCHAR COLLATE nocase, hours INTEGER, weight DOUBLE, height DECIMAL(5, 2),
  wealth HUGEINT, born DATE, seen TIMESTAMP, seen_there TIMESTAMPTZ, member BOOLEAN,
  stay INTERVAL, token UHUGEINT, angle DECIMAL(38, 37), marks INTEGER[],
  person STRUCT(id INTEGER, zip VARCHAR), "select" VARCHAR, "odd ""name" VARCHAR
);
CREATE TABLE visits (person_id BIGINT, household INTEGER, ward VARCHAR, day DATE, cost VARCHAR, fever DOUBLE);
CREATE TABLE stays (stay_id BIGINT PRIMARY KEY, person_id BIGINT NOT NULL, ward VARCHAR);
CREATE TABLE places (lat DOUBLE, home STRUCT(lat INTEGER, street VARCHAR), PRIMARY KEY (lat));
CREATE TYPE money AS DOUBLE;
CREATE TABLE fees (
  sex VARCHAR, fee money, fees money[], rates DOUBLE[], noon TIME, whole TIMESTAMP, since DATE, until TIMESTAMP_S, nanos TIMESTAMP_NS
);
CREATE TABLE salted (id VARCHAR, ward VARCHAR, salt VARCHAR, release_id VARCHAR);
CREATE VIEW adults AS SELECT *, left(zip, 3) AS area FROM people WHERE age >= 18;
CREATE VIEW everyone AS SELECT * FROM adults;
CREATE VIEW sampled AS SELECT * FROM people TABLESAMPLE BERNOULLI (10 PERCENT);
CREATE VIEW doubled AS SELECT * FROM people UNION ALL SELECT * FROM people;
CREATE VIEW grouped AS SELECT sex, count(*) AS n FROM people GROUP BY sex;
CREATE VIEW looping AS SELECT * FROM looping;
CREATE VIEW renamed (a, b) AS SELECT sex, age FROM people;
