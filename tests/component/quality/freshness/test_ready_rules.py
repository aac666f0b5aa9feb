"""What is declared is watched: rules set flags once, who is late is told, nothing is taken back."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from portal.access.lakes import get_lake
from portal.access.models import DatabaseAdministrator, User
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotVisible, PortalError, StaleState
from portal.notices.models import Notice
from portal.runs.models import Run
from quality.freshness.domain.cadence import TimeFormat
from quality.freshness.run_kinds import InspectionRunKind
from quality.freshness.services.declaring import Declared, rule_declare, rule_end
from quality.freshness.services.inspection import look_at
from quality.freshness.services.late_mails import late_tell
from quality.models import ExpectedPartition, FreshnessRule, FreshnessStatus
from quality.ready_flag.services.marking import Mark, partitions_mark
from tests.component.conftest import People
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
# Three in the morning in Berlin.
DECLARED_AT = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 21, 23, 0, tzinfo=UTC)
DAILY = Declared("dt", TimeFormat.DAY, sla_minutes=240)
HOURLY = Declared("dt", TimeFormat.DAY, "hour", sla_minutes=60)
UNREADY = {"note": "stays", "commit": "false"}
DAY = "dt=2026-11-21"


def declare(user: User, what: Declared = DAILY, *, table: str = "shop.notes", **more: Any) -> Any:
    options = {"version": None, "now": DECLARED_AT} | more
    return rule_declare("main", table, what, user=user, **options)


def look(*, now: datetime) -> int:
    """Look at all there is as the run does, at an instant."""
    with Metastore.connect(get_lake("main")) as metastore:
        return sum(look_at(rule, metastore, now=now) for rule in FreshnessRule.objects.all())


def test_who_sees_a_table_declares_for_it_and_nobody_else(hive: FlagLake, people: People) -> None:
    DatabaseAdministrator.objects.create(lake="main", db="shop", username="dora")
    with pytest.raises(NotVisible):
        declare(people.stranger)
    row = declare(people.owner)
    assert (row.owner, row.set_by, row.version) == ("olga", "olga", 0)
    for user in (people.dba, people.operator, people.admin):
        assert declare(user).pk == row.pk, "the same again changes nothing"
    later = replace(DAILY, sla_minutes=60)
    with pytest.raises(StaleState):
        declare(people.dba, later)
    assert declare(people.dba, later, version=0).version == 1
    with pytest.raises(StaleState):
        rule_end(row, version=0, user=people.owner, now=DECLARED_AT)
    for _ in range(2):
        rule_end(row, version=1, user=people.owner, now=DECLARED_AT)
    assert not FreshnessRule.objects.exists()
    actions = list(AuditEvent.objects.order_by("seq").values_list("action", flat=True))
    assert actions == ["readiness.declared", "readiness.declared", "readiness.ended"]


@pytest.mark.parametrize(
    ("table", "what", "code"),
    [
        ("shop.nope", DAILY, "readiness.table"),
        ("shop", DAILY, "name.table"),
        ("shop.shops", DAILY, "cadence.unpartitioned"),
        ("shop.notes", replace(DAILY, time_key="day"), "cadence.key"),
        ("shop.notes", replace(DAILY, hour_key="hour"), "cadence.key"),
        ("shop.notes", Declared("dt", TimeFormat.DAY), "readiness.empty"),
        ("shop.notes", replace(DAILY, min_rows=0), "readiness.least"),
        ("shop.notes", replace(DAILY, delay_minutes=-1), "readiness.minutes"),
        ("shop.sales", replace(HOURLY, time_format=TimeFormat.HOUR), "cadence.hours"),
    ],
)
def test_what_cannot_be_declared_says_why(
    hive: FlagLake, people: People, table: str, what: Declared, code: str
) -> None:
    with pytest.raises(PortalError) as refused:
        declare(people.admin, what, table=table)
    assert refused.value.code == code
    assert not FreshnessRule.objects.exists()


def test_a_rule_sets_the_flag_when_all_that_it_asks_holds_and_says_why(
    hive: FlagLake, people: People
) -> None:
    declare(people.owner, replace(DAILY, delay_minutes=30, min_rows=10))
    assert look(now=MIDNIGHT - timedelta(minutes=1)) == 0
    assert not ExpectedPartition.objects.exists(), "the day is not over"
    look(now=MIDNIGHT)
    row = ExpectedPartition.objects.get()
    assert (row.spec, row.standing, row.due_at) == (DAY, "MISSING", MIDNIGHT + timedelta(hours=4))

    hive.names["notes"] = [DAY]
    hive.parameters[DAY] = UNREADY | {"numRows": "9"}
    look(now=MIDNIGHT + timedelta(minutes=5))
    row.refresh_from_db()
    assert row.standing == FreshnessStatus.UNREADY
    assert row.reason == (
        "The rule waits: its time and the delay of 30 min are not over; 9 rows of at least 10."
    )
    assert look(now=MIDNIGHT + timedelta(hours=1)) == 0
    assert hive.flags() == {DAY: "false"}

    hive.parameters[DAY]["numRows"] = "10"
    at = MIDNIGHT + timedelta(minutes=70)
    assert look(now=at) == 1
    row.refresh_from_db()
    assert (row.standing, row.ready_at, row.ready_by) == ("READY", at, "rule")
    assert not row.came_late
    assert row.reason.startswith("The rule holds: its time and the delay of 30 min are over; 10")
    assert hive.flags() == {DAY: "true"}
    record = AuditEvent.objects.order_by("-seq")[0]
    assert (record.action, record.actor) == ("partitions.ruled_ready", "rule")
    assert record.data["reasons"] == {DAY: row.reason}

    hive.parameters[DAY]["numRows"] = "0"
    assert look(now=at + timedelta(hours=1)) == 0
    assert hive.flags() == {DAY: "true"}, "no rule takes it back"


def test_what_somebody_took_back_is_theirs_until_they_say_otherwise(
    hive: FlagLake, people: People
) -> None:
    declare(people.owner, replace(DAILY, delay_minutes=0))
    hive.names["notes"] = [DAY]
    hive.parameters[DAY] = dict(UNREADY)
    assert look(now=MIDNIGHT) == 1

    def say(*, ready: bool, hours: int) -> ExpectedPartition:
        at = MIDNIGHT + timedelta(hours=hours)
        mark = Mark("main", "shop.notes", (DAY,), ready=ready)
        partitions_mark(mark, user=people.owner, now=at)
        assert look(now=at + timedelta(minutes=30)) == 0
        return ExpectedPartition.objects.get()

    row = say(ready=False, hours=1)
    assert (row.standing, row.is_held, row.ready_at) == ("UNREADY", True, None)
    assert row.reason.startswith("olga said that it is not ready any more")
    assert hive.flags() == {DAY: "false"}
    row = say(ready=True, hours=2)
    assert (row.standing, row.is_held, row.ready_by) == ("READY", False, "olga")
    assert not row.came_late
    assert say(ready=False, hours=3).due_at == MIDNIGHT + timedelta(hours=4)
    assert say(ready=True, hours=5).came_late
    row = say(ready=False, hours=6)
    assert not row.came_late
    row = say(ready=True, hours=2)
    assert row.ready_at == MIDNIGHT + timedelta(hours=2), "the very instant, not that of a look"


def test_a_period_of_several_partitions_is_ready_with_the_last_of_them(
    hive: FlagLake, people: People
) -> None:
    declare(people.owner, DAILY, table="shop.sales")
    leaves = [f"{DAY}/hour=00", f"{DAY}/hour=01"]
    hive.parameters = {name: dict(UNREADY) for name in leaves}
    mark = Mark("main", "shop.sales", (leaves[0],), ready=True)
    partitions_mark(mark, user=None, now=MIDNIGHT)
    look(now=MIDNIGHT)
    row = ExpectedPartition.objects.get()
    assert (row.standing, row.reason) == (
        "UNREADY",
        "Nobody has said yet that it is ready; no rule does.",
    )
    later = MIDNIGHT + timedelta(minutes=20)
    partitions_mark(replace(mark, partitions=(leaves[1],)), user=None, now=later)
    look(now=later)
    row.refresh_from_db()
    assert (row.standing, row.ready_at) == ("READY", later)


def test_a_partition_without_a_flag_was_ready_when_it_came(hive: FlagLake, people: People) -> None:
    declare(people.owner, HOURLY, table="shop.sales")
    came = DECLARED_AT + timedelta(minutes=61)
    hour = "dt=2026-11-21/hour=03"
    hive.names["sales"] = [hour]
    hive.made_at = {hour: int(came.timestamp())}
    look(now=came + timedelta(minutes=59))
    rows = list(
        ExpectedPartition.objects.order_by("start").values_list("spec", "standing", "ready_at")
    )
    assert rows == [
        (hour, "READY", came),
        ("dt=2026-11-21/hour=04", "MISSING", None),
    ]


def test_many_periods_cost_a_few_calls_and_a_table_that_is_gone_says_so(
    hive: FlagLake, people: People
) -> None:
    declare(people.owner, HOURLY, table="shop.sales")
    hive.asked.clear()
    look(now=DECLARED_AT + timedelta(hours=300))
    assert ExpectedPartition.objects.count() == 300
    assert hive.asked == ["shop.sales", "300 partitions"]
    look(now=DECLARED_AT + timedelta(days=90))
    assert ExpectedPartition.objects.count() == 700, "the rest is noted by the next look"
    assert FreshnessRule.objects.get().look_at <= DECLARED_AT + timedelta(days=90, minutes=5)
    del hive.names["sales"]
    look(now=DECLARED_AT + timedelta(days=91))
    assert FreshnessRule.objects.get().problem == "The metastore has the table no more."


def test_who_keeps_the_lake_and_who_owns_the_table_is_told_once(
    hive: FlagLake, people: People
) -> None:
    declare(people.owner)
    declare(people.admin, HOURLY, table="shop.sales")
    FreshnessRule.objects.filter(table="sales").update(owner="dora")
    now = MIDNIGHT + timedelta(hours=5)
    look(now=now)
    FreshnessRule.objects.filter(table="sales").update(owner="dora")
    n_told = late_tell("main", now=now)
    assert n_told == ExpectedPartition.objects.exclude(notified_at=None).count() == 23
    mails = {one.recipient: one for one in Notice.objects.all()}
    assert sorted(mails) == ["ada", "ben", "cem", "dora", "olga", "otto"]
    assert mails["olga"].subject == f"[Lakewarden] Late: {DAY} of shop.notes is not ready"
    assert "shop.sales" not in mails["olga"].text
    assert "shop.notes" not in mails["dora"].text
    assert "And 3 more" in mails["otto"].text
    assert "/readiness/?lake=main&late=now" in mails["otto"].text
    assert late_tell("main", now=now) == 0
    assert Notice.objects.count() == len(mails)


def test_a_run_looks_at_what_is_due_and_leaves_the_rest_when_the_metastore_is_away(
    hive: FlagLake, people: People, lake: LakeConfig, settings: Settings
) -> None:
    kind, run = InspectionRunKind(), Run(lake="main", kind=InspectionRunKind.name)
    assert kind.scheduled_params("main", now=MIDNIGHT) is None
    declare(people.owner)
    assert kind.scheduled_params("main", now=MIDNIGHT - timedelta(minutes=1)) is None
    assert kind.scheduled_params("main", now=MIDNIGHT) == {}
    hive.names["notes"] = [DAY]
    found = kind.execute(run)
    assert (found["n_tables"], found["problem"]) == (1, "")
    FreshnessRule.objects.update(look_at=MIDNIGHT)
    Path(settings.LAKEWARDEN_LAKES).write_text(json.dumps({"main": lake.as_dict()}))
    found = kind.execute(run)
    assert (found["n_tables"], bool(found["problem"])) == (0, True)
