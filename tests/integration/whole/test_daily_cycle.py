"""Days played on a real metastore by real scans: mails really sent, and only then data may go."""

from datetime import UTC, date, timedelta
from email.message import EmailMessage
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from lifecycle.core.selectors.sent_notices import coverages_of
from lifecycle.drop.domain.plan import PlanItem, is_announced
from lifecycle.models import LatestScan, PathFinding, SamplePartition, TableFinding, TrendPoint
from lifecycle.planning.selectors.inputs import current_generation
from portal.access.services import person_create
from portal.notices.models import Notice
from portal.runs.models import Run
from stack.stack import Stack
from tests.support.scan_lake import NOW, ScanLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
POLICY = {"LEVEL": "1", "TTL": "30"}
FIRST = NOW - timedelta(days=8)


@pytest.fixture
def portal(embedded_stack: Stack, settings: Any) -> Stack:
    """The portal of this process, on the stack's lake and mail server."""
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_DIRECTORY = embedded_stack.directory_file
    settings.LAKEWARDEN_VAR = embedded_stack.var
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, port = embedded_stack.smtp.address.split(":")
    settings.EMAIL_PORT = int(port)
    person_create("ada", password="lake-demo-2026", email="ada@example.com", roles=["admin"])
    return embedded_stack


def play(now: Any) -> None:
    call_command("daily_cycle", now=now.isoformat(), lake="main")


def make_lake(stack: Stack) -> ScanLake:
    """One database in ACT with a partitioned table of alice's, and a table in a wrong place."""
    config = stack.config("main")
    root = config.path(config.backup_roots[0]).parent.parent.child("played")
    lake = ScanLake(config, root)
    place = lake.database("sales", owner="alice")
    visits = lake.table(
        "sales", "visits", owner="alice", location=str(place.child("visits")), parameters=POLICY
    )
    for name, ddl_age, age in (("old", 100, 100), ("soon", 34, 34), ("young", 5, 5)):
        lake.data(lake.partition(visits, f"{name} %=x", ddl_age=ddl_age), age=age)
    lake.table(
        "sales", "stray", owner="bob", location=str(root.child("elsewhere")), parameters=POLICY
    )
    by = {"user": "ada", "reason": "a test"}
    template = f"{root}/user/{{owner}}"
    call_command("path_template", template, lake.db_name("sales"), lake="main", **by)
    call_command("database_mode", "ACT", lake.db_name("sales"), lake="main", **by)
    return lake


def plan_item(example: SamplePartition) -> PlanItem:
    """The example as a plan would name it."""
    table = example.table
    assert example.updated_at
    assert example.created_at
    assert example.due_on
    return PlanItem(
        db=table.db,
        table=table.table,
        tbl_id=table.tbl_id,
        partition=example.partition,
        part_id=example.part_id,
        location=example.location,
        level=example.level or 0,
        ttl=example.ttl or 0,
        policy_source="",
        ddl_time=None,
        create_time=int(example.created_at.timestamp()),
        mtime_ms=0,
        updated_ms=int(example.updated_at.timestamp() * 1000),
        n_files=1,
        n_bytes=1,
        due_on=example.due_on,
    )


def mails(stack: Stack) -> list[EmailMessage]:
    """The week-ahead mails that reached alice."""
    return [m for m in stack.smtp.messages(to="alice@") if "expires by" in str(m["Subject"])]


@pytest.mark.rows("L5", "L9")
def test_data_may_go_only_after_the_days_of_a_mail_that_was_sent(portal: Stack) -> None:
    lake = make_lake(portal)
    n_before = len(mails(portal))

    play(FIRST)
    assert len(mails(portal)) == n_before + 1
    play(FIRST)
    assert len(mails(portal)) == n_before + 1
    assert Run.objects.filter(kind="lifecycle.scan").count() == 1
    table = TableFinding.objects.get(db=lake.db_name("sales"), table="visits")
    (coverage,) = coverages_of(current_generation("main"))[table.tbl_id]
    assert coverage.as_of == FIRST
    assert coverage.sent_on == FIRST.date()

    play(NOW)
    generation = LatestScan.objects.get(lake="main").generation
    assert generation.day == NOW.date()
    classes = dict(
        SamplePartition.objects.filter(
            table__generation=generation, table__db=lake.db_name("sales"), table__table="visits"
        ).values_list("partition", "cls")
    )
    assert classes == {
        "dt=old %25%3Dx": "CLEAN_NOW",
        "dt=soon %25%3Dx": "CLEAN_NOW",
        "dt=young %25%3Dx": "NOT_NOW",
    }
    old = plan_item(
        SamplePartition.objects.get(table__generation=generation, partition__startswith="dt=old")
    )
    told = coverages_of(current_generation("main"))[table.tbl_id]
    today: date = NOW.astimezone(UTC).date()
    assert is_announced(old, told, today, 7)
    assert not is_announced(old, told, today - timedelta(days=2), 7)
    stray = PathFinding.objects.get(generation=generation, table="stray")
    assert stray.owner == "bob"
    assert set(stray.reasons) == {"OWNER_PATH_FAIL", "TBL_NOT_SUB_DB"}
    assert TrendPoint.objects.filter(metric="class.CLEAN_NOW.n").count() == 2
    assert set(Notice.objects.values_list("state", flat=True)) == {"SENT"}


def test_time_is_not_played_where_it_is_refused(portal: Stack, settings: Any) -> None:
    settings.LAKEWARDEN_ALLOW_PLAYED_TIME = False
    with pytest.raises(CommandError, match=r"day\.played"):
        play(NOW)
    assert not Run.objects.exists()
