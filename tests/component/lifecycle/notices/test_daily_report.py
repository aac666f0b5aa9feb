"""The daily report and the nonconformity alarm: who reads what, and where each link leads."""

import re
from dataclasses import replace
from datetime import date, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from lifecycle.backup.models import BackupBatch
from lifecycle.backup.services.totals import backup_totals_refresh
from lifecycle.models import DropPlan, DropPlanResult, PlanState, TrendPoint
from lifecycle.notices.services.daily_report import ALARM, REPORT, daily_report_queue
from lifecycle.schedule.run_kinds.clock import DailyReportKind
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import Notice
from portal.notices.services import notices_send
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from tests.component.conftest import LAKE, People
from tests.component.lifecycle.scanned import PICTURE, STRAY, scan, set_mode
from tests.support.mailbox import mail_server

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 20)
HOUR = timedelta(hours=1)


def dropped(at: datetime, **changes: Any) -> BackupBatch:
    values: dict[str, Any] = {
        "lake": LAKE, "run_id": uuid4(), "epoch": 1, "db": "sales", "table": "orders", "batch": 1,
        "day": at.date(), "root": "file:///b", "path": "file:///b/1", "state": "DROPPED",
        "is_table": False, "table_owner": "olga", "n_items": 7, "n_bytes": 3 * 1024**2,
        "manifest_sha256": "0" * 64, "dropped_at": at,
    }  # fmt: skip
    batch = BackupBatch.objects.create(**values | changes)
    backup_totals_refresh(batch.lake, [batch.day])
    return batch


def left_alone(at: datetime, table: str, why: str) -> None:
    plan = DropPlan.objects.create(
        lake=LAKE, state=PlanState.FAILED, requested_by="ada", created_at=at, ended_at=at
    )
    DropPlanResult.objects.create(
        plan=plan, db="sales", table=table, partition="dt=1", outcome="SKIPPED", reason=why
    )


def of(kind: str) -> dict[str, Notice]:
    return {notice.recipient: notice for notice in Notice.objects.filter(kind=kind)}


def test_an_admin_reads_the_lake_and_an_owner_what_is_theirs(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    set_mode("sales", "NOTIFY")
    generation = scan(lake, PICTURE, now=now)
    dropped(now - HOUR)
    dropped(now - HOUR, db="web", table="logs", table_owner="paul", n_items=2)
    dropped(now - 30 * HOUR, table="old")
    left_alone(now - HOUR, "orders", "written after the plan was made")
    left_alone(now - HOUR, "other", "its owner changed")

    assert daily_report_queue(generation, now=now) == 7
    assert daily_report_queue(generation, now=now) == 7
    reports, alarms = of(REPORT), of(ALARM)
    assert set(reports) == {"ada", "ben", "cem", "olga"}
    assert set(alarms) == {"ada", "ben", "cem"}

    admin, owner = reports["ada"], reports["olga"]
    assert admin.subject == (
        "[Lakewarden] Daily report of 2026-11-20: 9 dropped, 2 skipped, 4 upcoming, 2 nonconforming"
    )
    for words in (
        "web.logs | 2 |",
        "sales.other | 1 | its owner changed",
        "sales.stray | OWNER_PATH",
    ):
        assert words in admin.text
        assert words not in owner.text
    assert "sales.orders | 7 | 3.0 MiB | 2026-11-20" in owner.text
    assert "sales.orders | 1 | written after the plan was made" in owner.text
    assert "sales.orders | 1 due now, 1 due soon, 1 due but recently read" in owner.text
    assert "Every path conforms to the rules." in owner.text
    assert "sales.old" not in admin.text, "it was in the report of the day before"
    assert "BY DAY" in admin.text
    assert "BY DAY" not in owner.text


def test_the_alarm_goes_to_who_can_mend_it_but_not_from_an_observed_database(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    picture = replace(
        PICTURE, tables=(replace(STRAY, owner="stan"),), owners={"sales": "dora", "web": "olga"}
    )
    set_mode("sales", "NOTIFY")
    daily_report_queue(scan(lake, picture, now=now), now=now)
    alarms = of(ALARM)
    assert set(alarms) == {"ada", "ben", "cem", "stan", "dora"}
    assert alarms["ada"].subject == "[Lakewarden] Alarm: 2 paths break the rules"
    assert alarms["dora"].subject == "[Lakewarden] Alarm: 1 path breaks the rules"
    assert "sales.stray | OWNER_PATH_FAIL, TBL_NOT_SUB_DB | 1" in alarms["stan"].text
    assert "never processed" in alarms["stan"].text


def test_every_link_opens_and_the_list_behind_it_has_the_rows(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    set_mode("sales", "NOTIFY")
    generation = scan(lake, now=now)
    dropped(now - HOUR)
    left_alone(now - HOUR, "orders", "why")
    Run.objects.create(
        lake=LAKE, kind="lifecycle.scan", queue="scan", state="FAILED", requested_by="schedule",
        params={}, queued_at=now, finished_at=now, error={"message": "metastore away"},
    )  # fmt: skip
    daily_report_queue(generation, now=now)
    client = Client()
    for person, notice in ((people.admin, of(REPORT)["ada"]), (people.owner, of(REPORT)["olga"])):
        client.force_login(person)
        links = [unescape(link) for link in re.findall('href="([^"]+)"', notice.html)]
        assert len(links) >= 7
        for link in links:
            assert client.get(link).status_code == 200, link
    assert "metastore away" in of(REPORT)["ada"].text
    client.force_login(people.owner)
    (week,) = (link for link in links if "person=olga" in link and "expiring" in link)
    rows = client.get(week).context["page"].rows
    assert [str(row) for row in rows] == ["sales.orders"]


def test_statistics_have_bars_for_each_day(lake: LakeConfig, people: People, now: datetime) -> None:
    for n in range(1, 4):
        TrendPoint.objects.create(
            lake=LAKE, day=TODAY - timedelta(days=n), metric="n_files", value=4 - n
        )
    daily_report_queue(scan(lake, now=now), now=now)
    mail = of(REPORT)["ada"]
    assert "Files: 6 (+3 since 2026-11-19)\n  ▂▃▄█" in mail.text
    assert 'title="2026-11-18: 2"' in mail.html
    for title in ("Partitions", "Tables", "Databases", "Path rule violations", "Due"):
        assert f"{title}: " in mail.text
    assert "<img" not in mail.html


def test_the_clock_writes_it_once_the_day_was_scanned(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    kind = DailyReportKind()
    assert kind.scheduled_params(LAKE, now=now) is None
    scan(lake, now=now)
    params = kind.scheduled_params(LAKE, now=now)
    assert kind.scheduled_params(LAKE, now=now + timedelta(days=1)) is None
    run = Run.objects.create(
        lake=LAKE, kind=REPORT, queue="mail", state="QUEUED", requested_by="schedule",
        params=params, queued_at=now,
    )  # fmt: skip
    assert run_drive(run.pk).result == {"mails": 6}


def test_a_missed_day_is_in_the_next_report(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    daily_report_queue(scan(lake, now=now), now=now)
    later = now + timedelta(days=3)
    dropped(now + timedelta(days=1), table="between")
    daily_report_queue(scan(lake, now=later), now=later)
    newest = Notice.objects.get(kind=REPORT, recipient="ada", day=later.date())
    assert "sales.between" in newest.text


def test_names_stay_text_and_the_mail_really_goes(
    lake: LakeConfig, people: People, now: datetime, settings: Any, tmp_path: Path
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    generation = scan(lake, now=now)
    dropped(now - HOUR, table="<script>alert(1)</script>")
    daily_report_queue(generation, now=now)
    with mail_server() as (box, host, port):
        settings.EMAIL_HOST, settings.EMAIL_PORT = host, port
        assert notices_send(now=now, today=TODAY)["sent"] == 6
    report = next(mail for mail in box.to("ada@") if "Daily report" in mail["Subject"])
    part = report.get_body(("html",))
    assert part is not None
    assert "<script>" not in part.get_content()
    assert "&lt;script&gt;" in part.get_content()


def test_the_chat_gets_numbers_and_links_but_no_names(
    lake: LakeConfig, people: People, now: datetime, settings: Any
) -> None:
    settings.LAKEWARDEN_WEBHOOK_URL = "https://chat.example/hook"
    generation = scan(lake, now=now)
    assert daily_report_queue(generation, now=now) == 8
    report, alarm = of(REPORT)["#webhook"], of(ALARM)["#webhook"]
    assert report.text.startswith(
        "Lakewarden main, Daily report of 2026-11-20: 0 dropped, 0 skipped, 4 upcoming"
    )
    assert alarm.text.startswith("Lakewarden main, alarm: 2 nonconforming\nhttp")
    assert "sales" not in report.text + alarm.text
