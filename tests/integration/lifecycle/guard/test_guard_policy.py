"""L8: who may set LEVEL and TTL, through Thrift and through Spark SQL, in audit and in enforce.

Every way in, by an admin and by anybody else; the values themselves; who may create, and where.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest
from pymetastore.hive_metastore import ttypes

from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.stack import LAKE
from tests.support.guarded import ADMIN, EVE, OWN, Guarded, refused
from tests.support.sql import SqlShell

# -- every way in, by everybody, in both modes ---------------------------------------------------


@dataclass(frozen=True)
class Scene:
    """What one way in acts on: a table and its database, both with OWN."""

    guarded: Guarded
    sql: SqlShell
    user: str
    name: TableName

    def thrift(self, change: Callable[[ttypes.Table], None]) -> None:
        """Send the fetched table back changed."""
        table = self.guarded.as_(ADMIN).table(self.name)
        change(table)
        self.guarded.as_(self.user).alter_table_keeping_times(self.name, table)

    def of_database(self, parameters: dict[str, str]) -> None:
        """Send the fetched database back with these parameters."""
        database = self.guarded.as_(ADMIN).database(self.name.db)
        database.parameters = parameters
        self.guarded.raw(self.user).alter_database(self.name.db, database)


def _rename(table: ttypes.Table) -> None:
    table.tableName += "_new"
    table.parameters["TTL"] = "999"


def _strip(table: ttypes.Table) -> None:
    del table.parameters["LEVEL"], table.parameters["TTL"]


def _forget(table: ttypes.Table) -> None:
    table.parameters = None


ALTER_WAYS: dict[str, Callable[[Scene], object]] = {
    "thrift TTL": lambda s: s.thrift(lambda t: t.parameters.update(TTL="999")),
    "thrift LEVEL 0": lambda s: s.thrift(lambda t: t.parameters.update(LEVEL="0")),
    "thrift keys missing": lambda s: s.thrift(_strip),
    "thrift no parameters": lambda s: s.thrift(_forget),
    "thrift rename": lambda s: s.thrift(_rename),
    "thrift database": lambda s: s.of_database({"LEVEL": "0"}),
    "thrift database keys missing": lambda s: s.of_database({}),
    "SET TBLPROPERTIES": lambda s: s.sql.run(f"ALTER TABLE {s.name} SET TBLPROPERTIES('TTL'='9')"),
    "UNSET TBLPROPERTIES": lambda s: s.sql.run(f"ALTER TABLE {s.name} UNSET TBLPROPERTIES('TTL')"),
    "ALTER DATABASE": lambda s: s.sql.run(
        f"ALTER DATABASE {s.name.db} SET DBPROPERTIES ('LEVEL'='0')"
    ),
}
CREATE_WAYS: dict[str, Callable[[Scene], object]] = {
    "thrift CREATE": lambda s: s.guarded.as_(s.user).create_table(
        s.guarded.table_struct(s.name.db, "made", {"LEVEL": "0"})
    ),
    "thrift CREATE DATABASE": lambda s: s.guarded.database({"LEVEL": "0"}, user=s.user),
    "CREATE LIKE": lambda s: s.sql.run(
        f"CREATE TABLE {s.name.db}.made LIKE {s.name} TBLPROPERTIES ('LEVEL'='0')"
    ),
    "CTAS": lambda s: s.sql.run(
        f"CREATE TABLE {s.name.db}.made TBLPROPERTIES ('LEVEL'='0') AS SELECT 1 AS id"
    ),
}


@pytest.mark.parametrize("way", [*ALTER_WAYS, *CREATE_WAYS])
@pytest.mark.rows("L8")
def test_only_lifecycle_admins_change_level_and_ttl(
    guarded: Guarded, embedded_sql: SqlShell, way: str
) -> None:
    act = (ALTER_WAYS | CREATE_WAYS)[way]
    for mode in ("audit", "enforce"):
        for user in (EVE, ADMIN):
            guarded.switch("off")
            db = guarded.database(OWN)
            name = guarded.table(db, OWN)
            guarded.switch(mode, sql_is_admin=user == ADMIN)
            scene = Scene(guarded, embedded_sql, user, name)
            start, before = guarded.here(), (guarded.policy(name), guarded.database_policy(db))
            if mode == "enforce" and user == EVE:
                words = refused(partial(act, scene))
                assert "only by a lifecycle admin: lakewarden" in words
                assert (guarded.policy(name), guarded.database_policy(db)) == before
                assert guarded.as_(ADMIN).table_or_none(TableName(LakeId(LAKE), db, "made")) is None
                (note,) = guarded.notes(start)
                assert (note["outcome"], note["admin"]) == ("refused", False)
                continue
            act(scene)
            notes = guarded.notes(start)
            if user == EVE:
                assert [note["outcome"] for note in notes] == ["would_refuse"], way
            else:
                wanted = ["changed"] if way in ALTER_WAYS else []
                assert [note["outcome"] for note in notes] == wanted, way
            if way in ALTER_WAYS:
                assert notes[0]["before"] == OWN
                assert notes[0]["after"] != OWN
                follower = guarded.events(notes[0]["id"])[0]
                assert follower.eventType.startswith("ALTER"), "the note stands before its event"


def test_what_leaves_the_values_alone_is_open_to_everybody(
    guarded: Guarded, embedded_sql: SqlShell
) -> None:
    guarded.switch("enforce", sql_is_admin=False)
    name = guarded.table(guarded.database(), OWN, user=EVE)
    start = guarded.here()
    embedded_sql.run(
        f"ALTER TABLE {name} SET TBLPROPERTIES ('note'='TTL')",
        f"ALTER TABLE {name} RENAME TO {name}_new",
        f"ALTER DATABASE {name.db} SET DBPROPERTIES ('note'='LEVEL')",
    )
    assert guarded.policy(TableName(name.lake, name.db, f"{name.table}_new")) == OWN
    assert guarded.notes(start) == []


# -- values and rights ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"TTL": "0"}, "TTL is '0'"),
        ({"TTL": "-1"}, "TTL is '-1'"),
        ({"TTL": str(10**12)}, "from 1 to 36500"),
        ({"TTL": "60 days"}, "TTL is '60 days'"),
        ({"ttl": ""}, "TTL is ''"),
        ({"TTL": "٦٠"}, "not a number of days"),
        ({"LEVEL": "2"}, "LEVEL is '2', not 0 or 1"),
        ({"TTL": "60", "ttl": "60"}, "Both TTL and ttl are set"),
        ({"Ttl": "60"}, "Ttl is not read; write TTL"),
    ],
)
def test_values_that_cannot_be_read_are_refused_whoever_writes_them(
    guarded: Guarded, values: dict[str, str], said: str
) -> None:
    db = guarded.database()
    start = guarded.here()
    guarded.table(db, values, user=ADMIN)
    assert [note["outcome"] for note in guarded.notes(start)] == ["would_refuse"]
    guarded.switch("enforce")
    assert said in refused(lambda: guarded.table(db, values, user=ADMIN))
    assert said in refused(lambda: guarded.database(values, user=ADMIN))
    name = guarded.table(db, user=ADMIN)
    table = guarded.as_(ADMIN).table(name)
    table.parameters = {**table.parameters, **values}
    refused(lambda: guarded.as_(ADMIN).alter_table_keeping_times(name, table))
    assert guarded.policy(name) == OWN


def test_who_may_create_is_settable(guarded: Guarded) -> None:
    db = guarded.database()
    guarded.switch("enforce", guard__create__tables="bob", guard__create__databases="bob")
    guarded.table(db, user=EVE)  # eve owns the database
    guarded.table(db, user="bob")
    assert "owner (eve), or by a lifecycle admin" in refused(lambda: guarded.table(db, user="ian"))
    assert "You are ian" in refused(lambda: guarded.database(user="ian"))
    guarded.database(user="bob")
    guarded.switch("audit", guard__create__tables="bob")
    start = guarded.here()
    guarded.table(db, user="ian")
    assert [note["rules"][0]["rule"] for note in guarded.notes(start)] == ["create.rights"]


def test_a_longest_ttl_of_ones_own_is_settable(guarded: Guarded) -> None:
    guarded.switch("enforce", guard__max__ttl="365")
    db = guarded.database({"TTL": "1000"})
    guarded.table(db, {"TTL": "365"}, user=EVE)
    guarded.table(db, {"TTL": "1000"}, user=EVE)  # as its database has it
    assert "above 365 days" in refused(lambda: guarded.table(db, {"TTL": "366"}, user=EVE))


@pytest.mark.parametrize("mode", ["audit", "enforce"])
def test_path_rules_are_off_or_warn_or_deny(guarded: Guarded, mode: str) -> None:
    root = guarded.stack.lake_root
    db = guarded.database()
    name = guarded.table(db)
    odd_table = guarded.table_struct(db, "odd", place=f"{root}/tmp/odd")
    odd_database = guarded.database_struct(f"{db}_odd", place=f"{root}/user/eve/{db}/inner")
    outside = ttypes.Partition(
        values=["1"], dbName=db, tableName=name.table, parameters={}, sd=odd_table.sd
    )

    def moved() -> None:
        table = guarded.as_(ADMIN).table(name)
        table.sd.location = f"{root}/user/ian/moved"
        guarded.as_(EVE).alter_table_keeping_times(name, table)

    acts: list[tuple[str, Callable[[], object]]] = [
        ("OWNER_PATH_FAIL", moved),
        ("TBL_NOT_SUB_DB", lambda: guarded.as_(EVE).create_table(odd_table)),
        ("HAS_OTHER_DB", lambda: guarded.as_(EVE).create_database(odd_database)),
        (
            "PART_PATH_NOT_IN_TBL",
            lambda: guarded.as_(EVE).add_partitions([outside], if_not_exists=False),
        ),
    ]
    guarded.switch(mode, guard__paths="deny")
    for rule, act in acts if mode == "enforce" else []:
        assert rule in refused(act)
    assert name.table in guarded.as_(ADMIN).table(name).sd.location

    guarded.switch(mode, guard__paths="deny" if mode == "audit" else "warn")
    start = guarded.here()
    for _, act in acts:
        act()
    notes = guarded.notes(start)
    broken = [{rule["rule"] for rule in note["rules"]} for note in notes]
    assert all(rule in found for (rule, _), found in zip(acts, broken, strict=True))
    outcome = "would_refuse" if mode == "audit" else "warned"
    assert {note["outcome"] for note in notes} == {outcome}

    guarded.switch(mode, guard__paths="off")
    start = guarded.here()
    other = guarded.table_struct(db, "other", place=f"{root}/tmp/other")
    guarded.as_(EVE).create_table(other)
    guarded.switch(mode, guard__paths="deny")
    guarded.as_(ADMIN).create_table(guarded.table_struct(db, "ours", place=f"{root}/tmp/ours"))
    assert guarded.notes(start) == []
