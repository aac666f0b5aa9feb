"""L8, N6: what the guard does for new tables and with every DROP, and that it never does harm.

Bad settings, its own mistakes and the metastore's errors; our own drops and restores under it; what
the portal makes of its notes. Who may change what is in test_guard_policy.py.
"""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pymetastore.hive_metastore import ttypes
from pytest_django import Settings

from lifecycle.models import DroppedObject, PolicyEvent
from portal.connectors.metastore import from_json
from portal.events.services import follow_once
from portal.lake.errors import ExternalFailure, NotVisible
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.stack import LAKE, Stack
from tests.support.act_lake import ActLake
from tests.support.guarded import ADMIN, EVE, OWN, Guarded, refused
from tests.support.sql import SqlShell

# -- what a new table gets -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of_database", "given", "wanted"),
    [
        ({}, {}, {"LEVEL": "1", "TTL": "60"}),
        ({"TTL": "33"}, {}, {"LEVEL": "1", "TTL": "33"}),
        ({"level": "0", "ttl": "44"}, {}, {"LEVEL": "0", "TTL": "44"}),
        ({"LEVEL": "0", "TTL": "44"}, {"ttl": "7"}, {"LEVEL": "0", "ttl": "7"}),
        ({"TTL": "44"}, {"level": "1", "TTL": " 70 "}, {"level": "1", "TTL": " 70 "}),
    ],
)
def test_a_new_table_gets_its_own_level_and_ttl(
    guarded: Guarded,
    of_database: dict[str, str],
    given: dict[str, str],
    wanted: dict[str, str],
) -> None:
    db = guarded.database(of_database)
    assert guarded.policy(guarded.table(db, given, user=EVE)) == given, "audit writes nothing"
    guarded.switch("enforce")
    name = guarded.table(db, given, user=EVE)
    assert guarded.policy(name) == wanted
    assert guarded.as_(ADMIN).table(name).parameters["EXTERNAL"] == "TRUE"


def test_a_database_value_that_cannot_be_used_is_not_inherited(guarded: Guarded) -> None:
    guarded.switch("off")
    db = guarded.database({"TTL": "60 days", "LEVEL": "0"})
    guarded.switch("enforce", default__ttl="90")
    assert guarded.policy(guarded.table(db)) == {"LEVEL": "0", "TTL": "90"}


def test_spark_tables_get_theirs_and_views_none(guarded: Guarded, embedded_sql: SqlShell) -> None:
    guarded.switch("enforce", sql_is_admin=False)
    db = guarded.database({"TTL": "33"})
    keep = guarded.table(db, {"LEVEL": "0", "TTL": "5"})
    embedded_sql.run(
        f"USE {db}",
        "CREATE TABLE parquet (id int) USING parquet",
        "CREATE TABLE ctas USING parquet AS SELECT 1 AS id",
        "CREATE TABLE hive (id int) STORED AS textfile TBLPROPERTIES ('TTL'='70')",
        f"CREATE TABLE alike LIKE {keep}",
        "CREATE VIEW view AS SELECT * FROM parquet",
        "INSERT INTO parquet VALUES (1), (2)",
        "ALTER TABLE hive ADD COLUMNS (more string)",
        "ALTER TABLE hive SET TBLPROPERTIES ('note'='mine')",
        "ANALYZE TABLE parquet COMPUTE STATISTICS",
    )
    assert embedded_sql.run("SELECT count(*) FROM parquet") == [[2]]
    embedded_sql.run("USE default")
    found = {
        table: guarded.policy(TableName(LakeId(LAKE), db, table))
        for table in ("parquet", "ctas", "hive", "alike", "view")
    }
    own = {"LEVEL": "1", "TTL": "33"}
    ttl = {"LEVEL": "1", "TTL": "70"}
    assert found == {"parquet": own, "ctas": own, "hive": ttl, "alike": own, "view": {}}


# -- what any DROP takes away --------------------------------------------------------------------


@pytest.mark.rows("N6")
def test_every_drop_leaves_the_object_and_its_partition_count(
    guarded: Guarded, embedded_sql: SqlShell
) -> None:
    db = guarded.database(OWN)
    names = [guarded.table(db, OWN) for _ in range(3)]
    for name, n in zip(names, (2, 3, 0), strict=True):
        guarded.add_partitions(name, [str(number) for number in range(n)])
    embedded_sql.run(f"CREATE VIEW {db}.a_view AS SELECT 1 AS one")
    structs = [guarded.as_(ADMIN).table(name) for name in names]

    start = guarded.here()
    guarded.as_(EVE).drop_table(names[0])
    embedded_sql.run(f"DROP VIEW {db}.a_view")
    guarded.raw(EVE).drop_database(db, True, True)
    notes = {note["table"]: note for note in guarded.notes(start)}
    assert set(notes) == {*(name.table for name in names), "a_view", ""}
    counts = [notes[name.table]["n_partitions"] for name in names]
    assert counts == [2, 3, 0], "with CASCADE the partitions are gone before their table"
    assert [notes[name.table]["with_database"] for name in names] == [False, True, True]
    assert notes[names[0].table]["user"] == EVE
    for name, struct in zip(names, structs, strict=True):
        assert from_json(ttypes.Table, notes[name.table]["object"]) == struct
    assert from_json(ttypes.Database, notes[""]["object"]).parameters == OWN


def test_a_drop_that_fails_leaves_nothing(guarded: Guarded) -> None:
    db = guarded.database()
    guarded.table(db)
    start = guarded.here()
    with pytest.raises(ttypes.InvalidOperationException):
        guarded.raw(EVE).drop_database(db, True, False)
    with pytest.raises(NotVisible):
        guarded.as_(EVE).drop_table(TableName(LakeId(LAKE), db, "nothing"))
    assert guarded.notes(start) == []


# -- what it must never do -----------------------------------------------------------------------


def test_bad_settings_change_nothing(guarded: Guarded) -> None:
    db = guarded.database()
    guarded.switch("enforce")
    assert guarded.policy(guarded.table(db, user=EVE)) == OWN
    for bad in ({"guard.mode": "enfroce"}, {"default.ttl": "60 days"}, {"guard.max.ttl": "x"}):
        guarded.stack.guard.switch({"guard.mode": "off", **bad})
        assert guarded.policy(guarded.table(db, user=EVE)) == OWN
    guarded.stack.guard.file.unlink()
    assert guarded.policy(guarded.table(db, user=EVE)) == {}, "back to what the metastore says"


def test_its_own_mistakes_neither_stop_nor_halve_a_change(embedded_stack: Stack) -> None:
    """Errors and exceptions from below; only a lost transaction must stop what goes on in it."""
    command = list(embedded_stack.metastore.command())
    class_path = command[command.index("-cp") + 1]
    source = Path(__file__).parents[3] / "support" / "GuardFaults.java"
    argv = ["java", "-XX:TieredStopAtLevel=1", "-cp", class_path, str(source)]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    cases = dict(line.split(" | ") for line in done.stdout.splitlines() if " | " in line)
    assert len(cases) == 12
    for name, came in cases.items():
        if "transaction lost" in name:
            assert came.startswith("refused: Lakewarden"), name
        else:
            assert came == "passed", f"{name}: {came}"


def test_the_metastores_own_errors_stay_its_own(guarded: Guarded) -> None:
    guarded.switch("enforce")
    nowhere = guarded.table_struct("guard_no_such_db", "t")
    with pytest.raises(ExternalFailure, match="guard_no_such_db"):
        guarded.as_(EVE).create_table(nowhere)
    name = guarded.table(guarded.database(), user=EVE)
    with pytest.raises(ttypes.AlreadyExistsException):
        guarded.raw(EVE).create_table(guarded.table_struct(name.db, name.table))


def test_our_own_drops_and_restores_pass(guarded: Guarded) -> None:
    guarded.switch("enforce", guard__paths="deny", guard__create__tables="nobody")
    lake = ActLake(guarded.stack.config(), "guarded")
    name = lake.make_table("kept", keys=["dt"], values=[["1"], ["2"]])
    before = lake.snapshot(name)
    run, _ = lake.drop(name)
    lake.restore(run)
    assert lake.snapshot(name) == before
    whole = lake.make_table("whole")
    run, _ = lake.drop(whole)
    lake.restore(run)
    assert guarded.policy(whole) == OWN


# -- what the portal makes of it -----------------------------------------------------------------


@pytest.mark.django_db
def test_the_portal_learns_of_changes_and_drops(guarded: Guarded, settings: Settings) -> None:
    settings.LAKEWARDEN_LAKES = guarded.stack.lakes_file
    now = datetime.now(tz=UTC)
    guarded.switch("off")
    db = guarded.database(OWN)
    seen, unseen = guarded.table(db, OWN), guarded.table(db, OWN)
    guarded.add_partitions(seen, ["1", "2"])
    follow_once(LAKE, lambda: now)
    for mode, name in (("audit", seen), ("off", unseen)):
        guarded.switch(mode)
        table = guarded.as_(ADMIN).table(name)
        table.parameters["TTL"] = "999"
        guarded.as_(EVE).alter_table_keeping_times(name, table)
    guarded.switch("audit")
    guarded.as_(EVE).drop_table(seen)
    while follow_once(LAKE, lambda: now).n_behind:
        pass
    events = PolicyEvent.objects.filter(db=db).order_by("event_id")
    assert list(events.values_list("table", "outcome", "actor", "is_alarm")) == [
        (seen.table, "WOULD_REFUSE", EVE, True),
        (unseen.table, "UNSEEN", "", True),
    ]
    assert {(str(event.before), str(event.after)) for event in events} == {
        (str(OWN), str({**OWN, "TTL": "999"}))
    }
    row = DroppedObject.objects.get(db=db)
    assert (row.table, row.dropped_by, row.n_partitions) == (seen.table, EVE, 2)
    assert (row.owner, row.table_type, row.n_columns) == (EVE, "EXTERNAL_TABLE", 2)


def test_the_guard_works_on_mariadb_too(full_stack: Stack) -> None:
    guarded = Guarded(full_stack)
    try:
        guarded.switch("enforce")
        name = guarded.table(guarded.database({"TTL": "33"}, user=EVE), user=EVE)
        assert guarded.policy(name) == {"LEVEL": "1", "TTL": "33"}
        guarded.add_partitions(name, ["1", "2"])
        table = guarded.as_(ADMIN).table(name)
        table.parameters["TTL"] = "999"
        refused(lambda: guarded.as_(EVE).alter_table_keeping_times(name, table))
        start = guarded.here()
        guarded.as_(ADMIN).alter_table_keeping_times(name, table)
        guarded.raw(EVE).drop_database(name.db, True, True)
        notes = guarded.notes(start)
        assert [(note["operation"], note.get("n_partitions")) for note in notes] == [
            ("ALTER_TABLE", None),
            ("DROP_TABLE", 2),
            ("DROP_DATABASE", None),
        ]
        kept = from_json(ttypes.Table, notes[1]["object"])
        assert kept.parameters["TTL"] == "999"
        assert kept.sd.cols == table.sd.cols
    finally:
        guarded.close()
