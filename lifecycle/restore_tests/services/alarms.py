"""Queues alarms on backups that failed a restore test, and on databases unproven too long."""

from collections.abc import Iterator
from datetime import datetime
from itertools import product
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from lifecycle.core.services.people import People, keepers
from lifecycle.models import RestoreTest
from lifecycle.restore_tests.domain import RestoreTestState, VerificationStatus
from lifecycle.restore_tests.selectors import (
    VerifiedDatabase,
    verification_counts,
    verification_lasts,
    verified_databases,
)
from lifecycle.restore_tests.services.restore_tests import restore_test_under_way
from lifecycle.restore_tests.services.results import verifications_count
from portal.access.gauges import Gauge, Sample, register_gauge
from portal.access.lakes import all_lakes, get_lake
from portal.lake.clock import day_of
from portal.notices.services import Mail, notice_queue, webhook_queue
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run

FAILED_KIND = "lifecycle.drill_failed"
OVERDUE_KIND = "lifecycle.drill_overdue"
ROWS_SHOWN = 100


def restore_test_failed_queue(restore_test: RestoreTest, *, now: datetime) -> int:
    """Tell the admins and operators of a restore test that found differences, once a day.

    Returns how many mails.
    """
    if restore_test.state != RestoreTestState.FAILED:
        return 0
    items = restore_test.items.exclude(differences=[]).order_by("db", "table", "id")
    rows = [f"{item.name}: {'; '.join(item.differences)}" for item in items[:ROWS_SHOWN]]
    subject = f"Alarm: {restore_test.n_differing} backed-up items would not come back as they were"
    return _queue(
        FAILED_KIND, restore_test.lake, subject, rows=rows, restore_test=restore_test, now=now
    )


def restore_test_overdue_queue(lake: str, *, now: datetime) -> int:
    """Tell the admins and operators, once a day, which databases' restore is not proven.

    Returns how many mails.

    Nobody is told while all is proven or waits for its turn.
    """
    bad = (VerificationStatus.FAILED, VerificationStatus.OVERDUE)
    found = [one for one in verified_databases(lake, now=now) if one.state in bad]
    rows = [_said(one) for one in found]
    if not rows:
        return 0
    noun = "database" if len(rows) == 1 else "databases"
    subject = f"Alarm: restoring the backups of {len(rows)} {noun} is not verified"
    return _queue(OVERDUE_KIND, lake, subject, rows=rows, restore_test=None, now=now)


def _said(one: VerifiedDatabase) -> str:
    what = "failed in a restore test" if one.state is VerificationStatus.FAILED else "no proof"
    last = f"last verified {one.verified_at:%Y-%m-%d}" if one.verified_at else "never verified"
    return f"{one.db}: {what}, {last}"


def _queue(
    kind: str,
    lake: str,
    subject: str,
    *,
    rows: list[str],
    restore_test: RestoreTest | None,
    now: datetime,
) -> int:
    people, day = People.of(lake), day_of(now, get_lake(lake).zone)
    address = (
        reverse("lifecycle:drill", args=[restore_test.public_id])
        if restore_test
        else reverse("lifecycle:drills")
    )
    url = f"{settings.LAKEWARDEN_BASE_URL}{address}?lake={lake}"
    told = keepers(people, lake)
    for username in told:
        context: dict[str, Any] = {
            "username": username,
            "rows": rows[:ROWS_SHOWN],
            "n_more": max(0, len(rows) - ROWS_SHOWN),
            "restore_test": restore_test,
            "proof_days": verification_lasts().days,
            "url": url,
            "url_label": "Open the restore test" if restore_test else "Open the restore tests",
            "subject": subject,
            "foot": "This mail comes once a day at most.",
        }
        mail = Mail(
            subject=f"[Lakewarden] {subject}",
            text=render_to_string("lifecycle/mail/drill_alarm.txt", context),
            html=render_to_string("lifecycle/mail/drill_alarm.html", context),
        )
        notice_queue(
            kind,
            lake=lake,
            day=day,
            recipient=username,
            email=people.addresses[username],
            mail=mail,
            now=now,
        )
    webhook_queue(kind, lake=lake, day=day, text=f"{subject}: {url}", now=now)
    return len(told)


class RestoreTestWatchKind(RunKind):
    """Looks once a day, after the hour of restore tests, whether every proof is young enough."""

    name = "lifecycle.drill_watch"
    title = "Check the verification of backups"
    queue = "mail"
    schedule = Schedule(daily_at_hour=9)

    def execute(self, run: Run) -> dict[str, Any]:
        """Close a restore test that was lost, count what lies in backups, and queue the mails."""
        now = datetime.fromisoformat(run.params["now"])
        restore_test_under_way(run.lake, now=now)
        verifications_count(run.lake)
        return {"mails": restore_test_overdue_queue(run.lake, now=now)}


def databases_by_verification() -> Iterator[Sample]:
    """Count the databases with backups by the state of their proof."""
    counts = verification_counts(now=timezone.now())
    for lake, state in product(sorted(all_lakes()), VerificationStatus):
        yield {"lake": lake, "state": state.value}, float(counts[lake, state])


def register_restore_test_alarms() -> None:
    """Tell the platform of the runs and numbers of this file."""
    register(RestoreTestWatchKind())
    register_gauge(
        Gauge(
            "backups_proven",
            "Databases with backups, by whether a restore test has verified their restore.",
            databases_by_verification,
            labels=("lake", "state"),
        )
    )
