"""What people write for engines other than DuckDB: sound, and unsound, none of it printed."""

from __future__ import annotations

#: Sound, by engine: a keyed hash or the engine's own sample, a recoding, a threshold.
SOUND: list[tuple[str, str]] = [
    ("postgres", """
        create table out as with s as (
          select *, row_number() over (partition by person_id order by visit_date desc) rn
          from hospital.visits v
          where abs(hashtext(v.person_id::text || current_setting('x.salt'))) % 1000 < 50
        )
        select case when s.age between 18 and 29 then 'young' when age <= 64 then 'mid'
                    else 'old' end as ag,
               date_trunc('month', visit_date)::date as m, substring(zip from 1 for 3) as z,
               count(*) as cnt
        from s where rn = 1 group by 1, 2, 3 having count(*) > 19"""),
    ("postgres", "select sex, count(*) from people where sha256(id) < '19'"
                 " group by sex having count(*) >= 20"),
    ("postgres", "select round(income, -3) inc, count(*) n from a.people"
                 " where encode(sha256((:salt || id)::bytea), 'hex') < '19999' group by 1"
                 " having count(*) >= 20"),
    ("mysql", "select left(zip,2) zip, count(*) from shop.people where"
              " sha2(concat(@salt, ':u:', id), 256) < '1999' group by 1 having count(*) >= 20"),
    ("mariadb", "select floor(age / 10) * 10 age, count(*) n from shop.people where"
                " md5(concat(@s, id)) < '1999' and country in ('DE', 'AT') group by 1"
                " having n >= 20"),
    ("snowflake", "select iff(age < 18, 'c', 'a') g, count(*) n from db.s.people"
                  " sample bernoulli (10) group by 1 having count(*) >= 20"),
    ("snowflake", "select date_trunc('year', born) y, count(*) n from s.people where"
                  " sha2($salt || id::varchar, 256) < '0ccc' group by 1 having count(*) >= 20"),
    ("bigquery", "select substr(zip, 1, 3) as z, count(*) n from `d.people` where"
                 " to_hex(sha256(concat(@salt, cast(id as string)))) < '0ccc' group by z"
                 " having n >= 10"),
    ("redshift", "select sex, count(*) n from public.people where sha2('s' || id, 256) < '0c'"
                 " group by sex having count(*) >= 20"),
    ("trino", "select case sex when 'f' then 'woman' when 'm' then 'man' else 'other' end as s,"
              " count(*) n from h.people tablesample bernoulli (5) group by 1"
              " having count(*) >= 20"),
    ("tsql", "select gender, count(*) n from dbo.p where"
             " abs(checksum(hashbytes('sha2_256', cast(id as varchar(10))))) % 100 < 5"
             " group by gender having count(*) >= 10"),
    ("spark", "select if(age < 18, 'c', 'a') g, count(1) n from p tablesample (10 percent)"
              " group by if(age < 18, 'c', 'a') having count(1) >= 20"),
    ("databricks", "select zip, count(*) n from main.p where sha2(concat('x', id), 256) < '1999'"
                   " and age >= 18 group by zip having count(*) >= 20"),
    ("clickhouse", "select toStartOfMonth(seen) as m, count() as n from d.p where"
                   " lower(hex(SHA256(concat({salt:String}, toString(id))))) < '1999' group by m"
                   " having n >= 20"),
    ("datafusion", "select age, count(*) n from p where"
                   " encode(sha256($salt || id), 'hex') < '1999' group by age"
                   " having count(*) >= 20"),
    ("sqlite", "select substr(zip, 1, 2) z, count(*) n from p where"
               " sha256(:salt || id) < '1999' group by z having count(*) >= 20"),
]  # fmt: skip

_ONE = "select sex, count(*) as n from main.people where {} group by sex having count(*) >= 20"
_KEYED = "sha2(concat('s', id), 256) < '1999'"

#: Unsound: the known breaks of the reading that certified them, and plain ones.
UNSOUND: dict[str, tuple[str, str]] = {
    "a where around the release that can fail": (
        "postgres",
        "select * from (select zip, count(*) n from a.people tablesample bernoulli (10)"
        " group by zip having count(*) >= 20) r where cast(zip as int) > 0",
    ),
    "a having of a regrouping that can fail": (
        "postgres",
        "select sum(n) from (select zip, count(*) n from a.people tablesample bernoulli (10)"
        " group by zip having count(*) >= 20) r group by zip having cast(zip as int) > 0",
    ),
    "queries that see each other": (
        "sqlite",
        "with a as (select * from b), b as (select * from p where sha256(:s || id) < '19')"
        " select sex, count(*) n from a group by sex having count(*) >= 20",
    ),
    "a name that is equal by the case of Unicode": (
        "spark",
        f"select sex as `ſex`, count(*) n from a.p where {_KEYED} group by sex"
        " having count(*) >= 20",
    ),
    "a decimal of any scale": (
        "postgres",
        "select income, count(*) n from a.people tablesample bernoulli (10) group by income"
        " having count(*) >= 20",
    ),
    "a map beside the raw column": (
        "mysql",
        f"select left(zip, 1) zip, count(*) n from a.p where {_KEYED} group by zip"
        " having count(*) >= 20",
    ),
    "no threshold": ("trino", _ONE.format(_KEYED).partition(" having")[0]),
    "a threshold of one": ("trino", _ONE.format(_KEYED).replace("20", "1")),
    "no sample": ("spark", _ONE.format("age > 0")),
    "a join": ("mysql", _ONE.format(_KEYED).replace("people", "people join main.o using (id)")),
    "a union": (
        "mysql",
        "select sex, count(*) n from (select * from a.p union all select * from a.p) u"
        f" where {_KEYED} group by sex having count(*) >= 20",
    ),
    "two statements": ("postgres", "select 1; select 2"),
    "no SQL": ("postgres", "((("),
    "no table": ("postgres", "select 1 as one having count(*) > 4"),
    "no query": ("postgres", "drop table people"),
}
