"""Policies on a real metastore: a what-if is the next scan, and no change of ours moves a clock."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession
from pytest_django import Settings

from lifecycle.backup.engine.facts import DDL_TIME
from lifecycle.enrollment.services.enrollments import (
    EnrollmentParams,
    enrollment_decide,
    enrollment_request,
    enrollment_undo,
)
from lifecycle.expiry.domain.rule import ExpiryClass, update_time
from lifecycle.expiry.domain.what_if import Outcome
from lifecycle.expiry.selectors import ages_of, table_what_if
from lifecycle.inventory.selectors.policy import policy_history, table_policy
from lifecycle.inventory.services.ingest import generation_load
from lifecycle.models import (
    DatabaseSetting,
    Enrollment,
    PolicyRequest,
    PolicySnapshot,
    ScanSnapshot,
    TableFinding,
)
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.run_kinds import policy_inspection_request
from lifecycle.policies.services.request_params import (
    HandoverParams,
    SetParams,
    hand_over_request,
    policy_set_request,
)
from lifecycle.policies.services.requests import policy_request_decide
from portal.access.models import User
from portal.access.roles.domain import ADMIN
from portal.approvals.domain import DecisionInput
from portal.audit.models import AuditEvent
from portal.lake.names import TableName
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from stack.stack import Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.scan_lake import NOW, ScanLake
from tests.support.scan_spark import scan_here

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
LAKE = "main"
TODAY = datetime.now(UTC)
"""When requests are made and decided: their runs look at the real clock, and approvals expire."""
LIFE = {"LEVEL": "1", "TTL": "60"}
AGES = (1.0, 20.0, 40.0, 54.0, 58.0, 61.0, 75.0, 100.0, 130.0)


class World:
    """A small lake with one table in lifecycle, some outside, and the portal's people."""

    def __init__(self, stack: Stack, spark: SparkSession) -> None:
        self.config, self.spark = stack.config(LAKE), spark
        self.root = self.config.path(f"{stack.lake_root}/policy")
        self.lake = ScanLake(self.config, self.root)
        self.metastore = self.lake.metastore
        self.people = {name: self._person(name) for name in ("alice", "bob", "ada", "ben", "cleo")}
        self.home = self.lake.database("story", owner="alice")
        self.db = self.lake.db_name("story")
        DatabaseSetting.objects.create(lake=LAKE, db=self.db, mode="NOTIFY")
        self._table("visits", LIFE)
        self._table("old", {})
        for name, parameters in (
            ("flat", LIFE),
            ("plain", {"comment": "kept"}),
            ("small", {"level": "0", "ttl": "9"}),
        ):
            place = str(self.home.child(name))
            self.lake.table(
                "story", name, owner="alice", location=place, keys=(), parameters=parameters
            )
            self.lake.data(place, age=100)
        for name in ("old", "plain"):
            self._forget(name)

    def _table(self, name: str, parameters: dict[str, str]) -> None:
        place = str(self.home.child(name))
        table = self.lake.table("story", name, owner="alice", location=place, parameters=parameters)
        for number, age in enumerate(AGES):
            self.lake.data(self.lake.partition(table, str(number), ddl_age=age), age=age)
        self.lake.data(self.lake.partition(table, "read", ddl_age=90), age=90, read_age=2)
        self.lake.partition(table, "unready", ddl_age=90, parameters={"commit": "false"})

    def _forget(self, name: str) -> None:
        """Take away what a guard may have given the table when it was made."""
        table = self.table(name)
        for key in ("LEVEL", "TTL"):
            table.parameters.pop(key, None)
        self.metastore.alter_table_keeping_times(self.name(name), table)

    def alter(self, name: str, **values: str) -> None:
        """Have somebody change parameters past the portal."""
        table = self.table(name)
        table.parameters |= values
        self.metastore.alter_table_keeping_times(self.name(name), table)

    def forget_ddl_time(self, table: str) -> None:
        """Take a table's DDL time away, as it is in lakes that were migrated by hand."""
        place = self.config.metastore_db
        jvm: Any = self.spark.sparkContext._jvm
        connection = jvm.java.sql.DriverManager.getConnection(
            place.jdbc_url, place.user, place.password()
        )
        statement = connection.prepareStatement(
            'DELETE FROM "TABLE_PARAMS" WHERE "PARAM_KEY" = ? AND "TBL_ID" IN (SELECT "TBL_ID" '
            'FROM "TBLS" t JOIN "DBS" d ON t."DB_ID" = d."DB_ID" WHERE "TBL_NAME" = ? '
            'AND "NAME" = ?)'
        )
        for place_of, value in enumerate((DDL_TIME, table, self.db), start=1):
            statement.setString(place_of, value)
        assert statement.executeUpdate() == 1
        connection.close()

    @staticmethod
    def _person(name: str) -> User:
        user = User.objects.create_user(name, f"{name}@example.com", "a long enough password")
        if name in {"ada", "ben", "cleo"}:
            user.groups.add(Group.objects.get_or_create(name=ADMIN)[0])
        return user

    def name(self, table: str) -> TableName:
        return TableName(self.config.lake, self.db, table)

    def table(self, table: str) -> ttypes.Table:
        return self.metastore.table(self.name(table))

    def finding(self, table: str) -> TableFinding:
        found: TableFinding = TableFinding.objects.current(LAKE).get(db=self.db, table=table)
        return found

    def scan(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Scan in this process, load the result, give the items by (table, partition)."""
        settings: dict[str, Any] = {
            "template": f"{self.root}/user/{{owner}}",
            "databases": {},
            "previous": None,
        }
        found = scan_here(self.spark, self.config, settings)
        run = Run.objects.create(
            lake=LAKE,
            kind="lifecycle.scan",
            state="DONE",
            requested_by="test",
            queued_at=NOW,
            spool=str(found.spool.root),
            params={"now": NOW.isoformat()},
        )
        generation_load(run, found.result, now=NOW)
        ScanSnapshot.objects.filter(run=run).update(read_at=NOW - timedelta(days=1))
        return {(row["tbl"], row["part_name"]): row for row in found.rows("items")}

    def set(self, table: str, seen: Values, wanted: Values, *, who: str = "ada") -> PolicyRequest:
        wish = SetParams(self.db, table, seen, wanted, "because")
        made = policy_set_request(LAKE, wish, user=self.people[who], now=TODAY)
        return self.ran(made)

    @staticmethod
    def ran(request: PolicyRequest) -> PolicyRequest:
        if request.run_id:
            run = run_drive(request.run_id)
            assert run.state == "DONE", run.error
        request.refresh_from_db()
        return request

    def decide(self, request: PolicyRequest, who: str) -> PolicyRequest:
        user = self.people[who]
        return self.ran(
            policy_request_decide(
                request.pk,
                user=user,
                answer=DecisionInput("APPROVE", "", request.digest),
                authenticated_at=TODAY,
                now=TODAY,
            )
        )


@pytest.fixture
def world(
    embedded_stack: Stack, spark: SparkSession, tmp_path: Path, settings: Settings
) -> Iterator[World]:
    """The lake on Derby and local files."""
    settings.LAKEWARDEN_VAR = tmp_path
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_DIRECTORY = embedded_stack.directory_file
    made = World(embedded_stack, spark)
    yield made
    made.metastore.close()


def counts(items: dict[tuple[str, str], dict[str, Any]], table: str) -> Counter[str]:
    return Counter(row["cls"] for (name, _), row in items.items() if name == table)


def sizes(items: dict[tuple[str, str], dict[str, Any]], table: str, cls: ExpiryClass) -> int:
    mine = [row for (name, _), row in items.items() if name == table and row["cls"] == cls]
    return sum(row["n_bytes"] or 0 for row in mine)


def predicted(outcome: Outcome) -> dict[str, int]:
    return {cls.value: amount.n for cls, amount in outcome.classes.items()}


def what_if(world: World, table: str, wanted: Values) -> Outcome:
    found = world.finding(table)
    before = Values(found.level, found.ttl)
    return table_what_if(found, ages_of(found), before=before, after=wanted).after


def parameters(world: World, table: str) -> dict[str, str]:
    return dict(world.table(table).parameters)


@pytest.mark.rows("L2", "N3", "N4")
def test_a_what_if_is_what_the_next_scan_finds_and_no_clock_moves(world: World) -> None:
    before = world.scan()
    assert counts(before, "visits") == predicted(what_if(world, "visits", Values(1, 60)))
    assert counts(before, "old") == {"NOT_ENROLLED": len(AGES) + 2}
    tried = Values(1, 90)
    longer = what_if(world, "visits", tried)
    enrolled = what_if(world, "old", tried)
    raw = {name: parameters(world, name) for name in ("visits", "flat", "old", "plain", "small")}

    # An admin sets a TTL; an owner has one table kept for ever and hands another over.
    assert world.set("visits", Values(1, 60), tried).state == "DONE"
    kept = world.decide(world.set("flat", Values(1, 60), Values(0, 60), who="alice"), "ben")
    assert kept.state == "DONE"
    offer = hand_over_request(
        LAKE, HandoverParams(world.db, "flat", "alice", "bob", "I leave"),
        user=world.people["alice"], now=TODAY,
    )  # fmt: skip
    assert world.decide(offer, "bob").state == "DONE"
    enrollment = enrol(world, tried)
    assert {str(item): (item.state, item.note) for item in enrollment.items.all()} == {
        f"{world.db}.{name}": ("DONE", "") for name in ("old", "plain", "small")
    }

    assert parameters(world, "visits") == raw["visits"] | {"TTL": "90"}
    assert parameters(world, "flat") == raw["flat"] | {"LEVEL": "0"}
    assert parameters(world, "old") == raw["old"] | {"LEVEL": "1", "TTL": "90"}
    assert parameters(world, "plain") == raw["plain"] | {"LEVEL": "1", "TTL": "90"}
    # The spelling that stood there is kept.
    assert parameters(world, "small") == raw["small"] | {"level": "1", "ttl": "90"}
    assert world.table("flat").owner == "bob"
    assert table_policy(world.finding("visits")).values == tried

    after = world.scan()
    moved = {
        key: (row["updated_ms"], after[key]["updated_ms"])
        for key, row in before.items()
        if (row["updated_ms"], row["ddl_time"])
        != (after[key]["updated_ms"], after[key]["ddl_time"])
    }
    # Of a table outside lifecycle nobody had looked at the files; the rest is as it was.
    assert {table for table, _ in moved} <= {"old", "plain", "small"}
    assert counts(after, "visits") == predicted(longer)
    assert sizes(after, "visits", ExpiryClass.CLEAN_NOW) == longer.now.n_bytes
    assert counts(after, "flat") == {"KEEP_FOREVER": 1}
    found = counts(after, "old")
    assert enrolled.unsure.n == found["CLEAN_NOW"] + found["STILL_READ"] + found["SOON"]
    assert (enrolled.later.n, enrolled.stays.n) == (found["NOT_NOW"], found["UNREADY"])

    # Undone, everything says exactly what it said, and again no clock has moved.
    enrollment_undo(enrollment.pk, user=world.people["ben"], reason="too early", now=TODAY)
    enrollment.refresh_from_db()
    assert enrollment.undo_run_id is not None
    assert run_drive(enrollment.undo_run_id).state == "DONE"
    enrollment.refresh_from_db()
    assert enrollment.state == "UNDONE"
    for name in ("old", "plain", "small"):
        assert parameters(world, name) == raw[name], name
    history = policy_history(LAKE, world.db, "old")
    assert [(one.actor, one.after) for one in history] == [
        ("ben", "not in lifecycle"), ("ada", "TTL 90 days (LEVEL 1)")
    ]  # fmt: skip


def enrol(world: World, wanted: Values) -> Enrollment:
    wish = EnrollmentParams({"db": world.db}, wanted, n_tables=3, reason="the old lake")
    made = enrollment_request(LAKE, wish, user=world.people["ada"], now=TODAY)
    approve(world, made)
    assert made.state == "DONE"
    return made


def approve(world: World, enrollment: Enrollment) -> None:
    """Have two others approve it, and its run go to its end."""
    for who in ("ben", "cleo"):
        answer = DecisionInput("APPROVE", "", enrollment.digest)
        user = world.people[who]
        enrollment_decide(
            enrollment.pk, user=user, answer=answer, authenticated_at=TODAY, now=TODAY
        )
    enrollment.refresh_from_db()
    assert enrollment.run_id is not None
    assert run_drive(enrollment.run_id).state == "DONE"
    enrollment.refresh_from_db()


def test_what_stands_is_compared_again_before_anything_is_written(world: World) -> None:
    world.scan()
    _what_others_changed_is_left(world)
    _what_new_tables_get_is_read_and_set(world)
    _a_table_without_a_ddl_time_stays_as_old_as_it_was(world)


def _what_others_changed_is_left(world: World) -> None:
    stale = policy_set_request(
        LAKE,
        SetParams(world.db, "visits", Values(1, 60), Values(1, 90), "because"),
        user=world.people["ada"],
        now=TODAY,
    )
    wish = EnrollmentParams({"db": world.db}, Values(1, 30), n_tables=3, reason="old")
    enrollment = enrollment_request(LAKE, wish, user=world.people["ada"], now=TODAY)
    for name in ("visits", "old"):
        world.alter(name, LEVEL="1", TTL="7")
    world.metastore.drop_table(world.name("plain"))
    world.ran(stale)
    assert (stale.state, parameters(world, "visits")["TTL"]) == ("FAILED", "7")
    assert "is TTL 7 days (LEVEL 1) by now; when this was asked for it was TTL 60" in stale.note
    approve(world, enrollment)
    items = {item.table: item for item in enrollment.items.all()}
    assert {name: item.state for name, item in items.items()} == {
        "old": "SKIPPED",
        "plain": "SKIPPED",
        "small": "DONE",
    }
    assert parameters(world, "old")["TTL"] == "7"
    assert "TTL 7 days" in items["old"].note
    # Somebody changes an enrolled table; taking the enrollment back leaves it.
    world.alter("small", ttl="8")
    undone = enrollment_undo(enrollment.pk, user=world.people["ada"], reason="no", now=TODAY)
    assert undone.undo_run_id is not None
    run_drive(undone.undo_run_id)
    assert enrollment.items.get(table="small").state == "KEPT"
    assert parameters(world, "small")["ttl"] == "8"


def _what_new_tables_get_is_read_and_set(world: World) -> None:
    look = policy_inspection_request(LAKE, world.db, user=world.people["ada"], now=TODAY)
    assert run_drive(look.pk).state == "DONE"
    seen = PolicySnapshot.objects.get(db=world.db, table="").values
    before = world.metastore.database(world.db)
    assert world.set("", seen, Values(1, 45)).state == "DONE"
    after = world.metastore.database(world.db)
    assert (after.parameters["LEVEL"], after.parameters["TTL"]) == ("1", "45")
    for field in ("locationUri", "ownerName", "ownerType", "description"):
        assert getattr(after, field) == getattr(before, field)
    assert PolicySnapshot.objects.get(db=world.db, table="").values == Values(1, 45)
    event = AuditEvent.objects.get(action="policy.changed", object_id=world.db)
    assert (event.actor, event.data["to"]) == ("ada", {"level": 1, "ttl": 45})


def _a_table_without_a_ddl_time_stays_as_old_as_it_was(world: World) -> None:
    """The metastore gives one to what has none, and the table would look fresh."""
    world.forget_ddl_time("flat")
    stood = world.table("flat")
    assert DDL_TIME not in stood.parameters
    assert world.set("flat", Values(1, 60), Values(1, 90)).state == "DONE"
    assert parameters(world, "flat")[DDL_TIME] == str(stood.createTime)


def test_a_restore_and_its_statistics_move_no_clock(embedded_stack: Stack, world: World) -> None:
    for act in make_lake(embedded_stack):
        for name in (
            act.make_table("parts", keys=("dt",), values=[("a",), ("b",)]),
            act.make_table("whole"),
        ):
            before, statistics = act.items(name), act.snapshot(name)
            run, result = act.drop(name)
            assert result.counts == {"DROPPED": len(before)}
            act.restore(run)
            clocks = [
                [
                    update_time(ddl_time=i.ddl_time, create_time=i.create_time, mtime_ms=i.mtime_ms)
                    for i in items
                ]
                for items in (before, act.items(name))
            ]
            assert clocks[0] == clocks[1]
            assert act.snapshot(name).items == statistics.items
