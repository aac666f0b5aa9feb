"""Protections and partition columns of tables: set at creation, changed with a new load."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from pipelines.cdc.applying.domain.messages import TableOrder, read_orders
from pipelines.cdc.capture.domain.findings import Level, TableFacts
from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.control.domain.spec import spec_of
from pipelines.cdc.control.domain.states import TableState
from pipelines.cdc.control.run_kinds import ApplyKind
from pipelines.cdc.control.selectors.pipelines import table_row, tables_of
from pipelines.cdc.control.services import testing
from pipelines.cdc.control.services.columns import column_choose
from pipelines.cdc.control.services.orders import orders_json, orders_of
from pipelines.cdc.control.services.pipelines import pipeline_create, pipeline_edit
from pipelines.cdc.control.services.protections import table_protect
from pipelines.cdc.control.services.reports import schemas_take
from pipelines.cdc.control.services.retrying import quarantine_retry
from pipelines.cdc.tickets.services.opening import Wanted, ticket_open
from pipelines.models import CapturedTable, Pipeline
from portal.access.actors import Actor
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, RuleViolation
from portal.runs.models import Run
from tests.component.conftest import LAKE
from tests.unit.pipelines.cdc.control.test_spec import GOOD

pytestmark = pytest.mark.django_db

ADA = Actor("ada", is_staff=True, is_admin=True, is_fresh=True)
OTTO = Actor("otto", is_staff=True, is_admin=False, is_fresh=True)
ASKED: dict[str, dict[str, Any]] = {
    "protections": {"shop.users": {"id": "deterministic:DET", "phone": "encrypted:PII"}},
    "partitions": {"shop.users": "day"},
}
COLUMNS = {"id": "int(11)", "phone": "varchar(20)", "day": "date", "note": "text"}


def schema(number: int = 1, ddl: str = "", **columns: str) -> TableSchema:
    made = tuple(Column(name, kind) for name, kind in {**COLUMNS, **columns}.items())
    return TableSchema("shop", "users", number, number * 100, made, ("id",), ddl)


@pytest.fixture
def shop(lake: LakeConfig, now: datetime) -> Pipeline:
    return pipeline_create(spec_of({**GOOD, **ASKED}), by=ADA, now=now)


@pytest.fixture
def users(shop: Pipeline, now: datetime) -> CapturedTable:
    schemas_take(shop, [schema()], now=now)
    CapturedTable.objects.update(location="file:/ods/users")
    Pipeline.objects.update(batch=40)
    return CapturedTable.objects.get()


def order() -> TableOrder:
    assert read_orders(orders_json(LAKE)) == orders_of(LAKE)
    (found,) = orders_of(LAKE).pipelines[0].tables
    return found


def changed(table: CapturedTable, now: datetime, partition: str = "day", **said: str) -> bool:
    return table_protect(table, said, partition=partition, reason="law", by=ADA, now=now)


def test_what_was_asked_at_creation_holds_from_the_first_record(users: CapturedTable) -> None:
    found = order()
    assert found.protections == {"id": "deterministic:DET", "phone": "encrypted:PII"}
    assert found.partition == "day"
    types = {one.name: one.type for one in found.columns}
    assert types == {"id": "string", "phone": "string", "day": "date", "note": "string"}


@pytest.mark.parametrize(
    ("protections", "partition"),
    [
        ({"id": "encrypted:PII"}, ""),
        ({"mobile": "redact"}, ""),
        ({}, "month"),
        ({"day": "hash:PII"}, "day"),
    ],
)
def test_a_table_that_cannot_be_protected_as_asked_is_held_until_it_is_said_otherwise(
    lake: LakeConfig, now: datetime, protections: dict[str, str], partition: str
) -> None:
    asked = {
        "protections": {"shop.users": protections},
        "partitions": {"shop.users": partition} if partition else {},
    }
    shop = pipeline_create(spec_of({**GOOD, **asked}), by=ADA, now=now)
    schemas_take(shop, [schema()], now=now)
    CapturedTable.objects.update(location="file:/ods/users")
    table = CapturedTable.objects.get()
    assert order().schemas[0].is_held
    row = table.schemas.get()
    assert (row.decision, row.decided_by) == ("refused", "rules")
    assert "shop.users" in row.decided_reason
    assert table_row(tables_of(shop).get()).state is TableState.HELD

    assert not changed(table, now, partition="", phone="redact")
    assert (order().schemas[0].is_held, order().protections) == (False, {"phone": "redact"})
    assert (order().target_table, order().location) == ("users", "file:/ods/users")


def test_a_change_goes_to_a_new_table_and_is_loaded_again(
    users: CapturedTable, now: datetime
) -> None:
    assert changed(users, now, id="deterministic:DET", phone="hash:PII")
    row = CapturedTable.objects.get()
    assert (row.target_table, row.location) == ("shop_users", "")
    assert (row.n_reloads, row.loaded_at, row.first_batch) == (1, None, 41)
    CapturedTable.objects.update(location="file:/ods/shop_users")
    assert order().protections == {"id": "deterministic:DET", "phone": "hash:PII"}
    assert order().first_batch == 41
    event = AuditEvent.objects.get(action="pipelines.table_protected")
    assert event.data["protections"] == {"id": "deterministic:DET", "phone": "hash:PII"}
    assert event.data["target"] == row.target

    # The same again changes nothing.
    assert not changed(row, now, id="deterministic:DET", phone="hash:PII")
    assert CapturedTable.objects.get().n_reloads == 1
    assert changed(row, now, partition="", id="deterministic:DET", phone="hash:PII")
    assert (order_after_place("file:/ods/3").partition, row.n_reloads) == ("", 1)


def order_after_place(place: str) -> TableOrder:
    CapturedTable.objects.update(location=place)
    return order()


def test_a_protection_follows_its_column_to_the_schema_that_it_came_with(
    users: CapturedTable, now: datetime
) -> None:
    added = schema(2, "ALTER TABLE users ADD pin int", pin="int(11)")
    schemas_take(users.pipeline, [added], now=now)
    with pytest.raises(RuleViolation, match=r"pin of shop\.users waits for a word"):
        changed(users, now, pin="redact")
    with pytest.raises(RuleViolation, match="no date or timestamp"):
        column_choose(users, "pin", "year", reason="law", by=OTTO, now=now)
    with pytest.raises(RuleViolation, match="none of"):
        column_choose(users, "pin", "secret", reason="law", by=OTTO, now=now)
    column_choose(users, "pin", "encrypted:PII", reason="law", by=OTTO, now=now)
    assert order().protections["pin"] == "encrypted:PII"
    assert changed(users, now, pin="redact")
    assert order_after_place("file:/ods/2").protections == {"pin": "redact"}
    with pytest.raises(RuleViolation, match=r"pin came to shop\.users later"):
        changed(users, now, partition="pin")


def test_only_an_admin_who_logged_in_just_now_changes_protections_and_says_why(
    users: CapturedTable, now: datetime
) -> None:
    for by in (OTTO, replace(ADA, is_fresh=False)):
        with pytest.raises(NotAllowed):
            table_protect(users, {}, partition="", reason="law", by=by, now=now)
    with pytest.raises(RuleViolation):
        table_protect(users, {}, partition="", reason=" ", by=ADA, now=now)
    for said in ({"id": "hash:PII"}, {"day": "redact"}, {"mobile": "redact"}, {"note": "year"}):
        with pytest.raises(RuleViolation):
            changed(users, now, **said)
    assert CapturedTable.objects.get().n_reloads == 0


def test_an_edit_leaves_tables_that_are_captured_as_they_are(
    users: CapturedTable, now: datetime
) -> None:
    shop = users.pipeline
    other = {"shop.users": {"phone": "redact"}}
    spec = spec_of({**GOOD, **ASKED, "protections": other})
    with pytest.raises(RuleViolation, match=r"shop\.users is captured already"):
        pipeline_edit(shop, spec, version=0, by=ADA, now=now)
    more = {**ASKED["protections"], "shop.later": {"phone": "redact"}}
    spec = spec_of({**GOOD, **ASKED, "protections": more})
    pipeline_edit(shop, spec, version=0, by=ADA, now=now)
    assert Pipeline.objects.get().protections == more


def test_a_test_of_the_source_names_what_cannot_be_protected(
    lake: LakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = (TableFacts("shop", "users", schema()),)
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_SHOP", "secret")
    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_PII", "")
    monkeypatch.setattr(testing, "probe", lambda config, also: list(also(tables)))

    def words(**asked: Any) -> list[tuple[Level, str]]:
        report = testing.source_test(spec_of({**GOOD, **asked}), by=ADA)
        return [(one.level, one.message) for one in report.findings]

    ((level, said),) = words(protections={"shop.users": {"phone": "redact"}})
    assert (level, said) == (Level.OK, "shop.users: 1 column can be protected as asked.")
    for asked, wrong in (
        ({"protections": {"shop.users": {"phone": "encrypted:PII"}}}, "LAKEWARDEN_CDC_KEY_PII"),
        ({"protections": {"shop.users": {"Phone": "redact"}}}, "no column Phone"),
        ({"protections": {"shop.user": {"phone": "redact"}}}, "No table shop.user is captured"),
        ({"partitions": {"shop.users": "month"}}, "no column month"),
    ):
        ((level, said),) = words(**asked)
        assert level is Level.ERROR
        assert wrong in said


def test_the_program_gets_the_keys_by_its_environment_and_no_other_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_PII", "one")
    monkeypatch.setenv("LAKEWARDEN_CDC_PASSWORD_SHOP", "secret")
    assert ApplyKind().environment(Run()) == {"LAKEWARDEN_CDC_KEY_PII": "one"}


def add_lake(lake: LakeConfig, settings: Any, *keys: str) -> None:
    """Govern another lake too; the first one has these keys."""
    other = {**lake.as_dict(), "lake": "archive", "protection_keys": ["THEIRS"]}
    entries = {LAKE: {**lake.as_dict(), "protection_keys": list(keys)}, "archive": other}
    settings.LAKEWARDEN_LAKES.write_text(json.dumps(entries), encoding="utf-8")


def test_of_several_lakes_each_uses_its_own_keys_alone(
    lake: LakeConfig,
    users: CapturedTable,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    now: datetime,
) -> None:
    add_lake(lake, settings, "PII")
    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_PII", "one")
    monkeypatch.setenv("LAKEWARDEN_CDC_KEY_THEIRS", "two")
    assert ApplyKind().environment(Run(lake=LAKE)) == {"LAKEWARDEN_CDC_KEY_PII": "one"}
    theirs = {"phone": "hash:THEIRS"}
    with pytest.raises(RuleViolation) as refused:
        table_protect(users, theirs, partition="day", reason="so", by=ADA, now=now)
    assert refused.value.code == "cdc.key_lake"
    said = refused.value.message
    monkeypatch.delenv("LAKEWARDEN_CDC_KEY_THEIRS")
    with pytest.raises(RuleViolation) as refused:
        table_protect(users, theirs, partition="day", reason="so", by=ADA, now=now)
    assert refused.value.message == said  # whether there is such a key is not told
    with pytest.raises(RuleViolation, match="THEIRS is no key of the lake"):
        pipeline_create(
            spec_of({**GOOD, "name": "two", "protections": {"shop.users": theirs}}), by=ADA, now=now
        )
    schemas_take(
        users.pipeline, [schema(2, "ALTER TABLE users ADD more text", more="text")], now=now
    )
    with pytest.raises(RuleViolation, match="THEIRS is no key of the lake"):
        column_choose(users, "more", "hash:THEIRS", reason="so", by=OTTO, now=now)
    column_choose(users, "more", "encrypted:PII", reason="so", by=OTTO, now=now)
    own = {"phone": "hash:PII"}
    assert table_protect(users, own, partition="day", reason="so", by=ADA, now=now)


def test_a_ticket_names_no_key_of_another_lake(
    lake: LakeConfig, users: CapturedTable, settings: Any, now: datetime
) -> None:
    add_lake(lake, settings)
    text = "ALTER TABLE users ADD mail varchar(90)"
    wanted = Wanted("shop", "users", text, "asked for", {"mail": "hash:THEIRS"})
    with pytest.raises(RuleViolation, match="THEIRS is no key of the lake"):
        ticket_open(users.pipeline, wanted, by=OTTO, now=now)


def test_a_retry_is_a_new_order_each_time(users: CapturedTable, now: datetime) -> None:
    assert order().retry == ""
    with pytest.raises(RuleViolation):
        quarantine_retry(users, reason="", by=OTTO, now=now)
    quarantine_retry(users, reason="wide now", by=OTTO, now=now)
    first = order().retry
    assert first
    assert AuditEvent.objects.get(action="pipelines.quarantine_retried").actor == "otto"
    quarantine_retry(users, reason="again", by=OTTO, now=now.replace(microsecond=7))
    assert order().retry != first


def refuse(table: CapturedTable) -> None:
    table.schemas.filter(decision="waiting").update(decision="refused", decided_by="ada")


def test_a_table_whose_change_was_refused_begins_anew_with_its_newest_schema(
    users: CapturedTable, now: datetime
) -> None:
    shop = users.pipeline
    schemas_take(shop, [schema(2, "TRUNCATE TABLE users")], now=now)
    schemas_take(shop, [schema(3, "ALTER TABLE users ADD pin int", pin="int(11)")], now=now)
    assert table_row(tables_of(shop).get()).state is TableState.HELD
    assert [one.is_held for one in order().schemas] == [False, True, True]
    # While it waits, a change of protections goes on with the schemas that it has.
    assert changed(users, now, phone="hash:PII")
    assert len(order_after_place("file:/ods/2").schemas) == 3

    refuse(users)
    assert table_row(tables_of(shop).get()).state is TableState.HELD
    assert changed(users, now, pin="redact", phone="hash:PII")
    row = CapturedTable.objects.get()
    assert (row.first_schema, row.n_reloads, row.loaded_at) == (3, 2, None)
    found = order_after_place("file:/ods/3")
    assert [(one.number, one.is_held) for one in found.schemas] == [(3, False)]
    assert found.first_schema == 3
    assert found.protections == {"phone": "hash:PII", "pin": "redact"}
    assert "pin" in {one.name for one in found.columns}
    assert table_row(tables_of(shop).get()).state is TableState.LOADING
    assert not changed(row, now, pin="redact", phone="hash:PII"), "the same again"

    # What comes later is judged against the new table's schema.
    wider = schema(4, "ALTER TABLE users MODIFY pin bigint", pin="bigint(20)")
    schemas_take(shop, [wider], now=now)
    assert [(one.number, one.is_held) for one in order().schemas] == [(3, False), (4, False)]


def test_a_table_that_begins_anew_is_protected_as_its_newest_schema_can_be(
    users: CapturedTable, now: datetime
) -> None:
    gone = TableSchema("shop", "users", 2, 200, (Column("id", "int(11)"),), ("id",), "CREATE")
    schemas_take(users.pipeline, [gone], now=now)
    refuse(users)
    with pytest.raises(RuleViolation, match="phone"):
        changed(users, now, partition="", phone="hash:PII")
    with pytest.raises(RuleViolation, match="day"):
        changed(users, now, partition="day")
    assert CapturedTable.objects.get().first_schema == 1
    assert changed(users, now, partition="")
    assert [one.name for one in order_after_place("file:/ods/2").columns] == ["id"]
