"""Queues daily reports: done, failed, upcoming and nonconforming items, and the alarm.

Admins read it of the whole lake, with its statistics; owners of tables and databases of their own,
in databases that are not only observed. One report and one alarm a person and day.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from lifecycle.core.services.people import People
from lifecycle.core.services.report_mail import Closing, Section, portal_url, report_mail
from lifecycle.models import ScanSnapshot
from lifecycle.notices.selectors.daily import Daily, daily_rows, failed_runs
from lifecycle.notices.services.daily_sections import (
    alarm_section,
    failed_runs_section,
    report_sections,
)
from lifecycle.notices.services.daily_trends import lake_trends
from lifecycle.notices.services.week_ahead import notifying_days
from portal.notices.models import Notice
from portal.notices.muting import who_muted
from portal.notices.muting_links import MutingLink, muting_url
from portal.notices.services import Mail, notice_queue, webhook_queue

REPORT = "lifecycle.daily_report"
ALARM = "lifecycle.nonconformity"


def daily_report_queue(generation: ScanSnapshot, *, now: datetime) -> int:
    """Queue the day's reports and alarms; returns how many mails, again on that day no more."""
    people = People.of(generation.lake)
    since = _since(generation, now=now)
    rows = daily_rows(
        generation,
        administrators=people.administrators,
        stand_for=people.stand_for,
        since=since,
        now=now,
    )
    n_mails, without_report = 0, who_muted(REPORT)
    for username, daily in _readers(generation.lake, rows, people):
        is_admin = username in people.admins
        runs = failed_runs(generation.lake, since=since, now=now) if is_admin else []
        person = "" if is_admin else username
        sections = report_sections(generation.lake, daily, person=person)
        if runs:
            sections.insert(2, failed_runs_section(generation.lake, runs))
        mails = {}
        if username not in without_report:
            mails[REPORT] = _report(generation, username, daily, sections, is_admin=is_admin)
        if daily.nonconforming:
            mails[ALARM] = _alarm(generation, username, daily, person=person)
        for kind, mail in mails.items():
            notice_queue(
                kind,
                lake=generation.lake,
                day=generation.day,
                recipient=username,
                email=people.addresses[username],
                mail=mail,
                now=now,
            )
        n_mails += len(mails)
    return n_mails + _chat_queue(generation, rows, now=now)


def _chat_queue(generation: ScanSnapshot, rows: Daily, *, now: datetime) -> int:
    """Queue the day's two lines for the team's chat: numbers and links, no names of the lake."""
    lake = generation.lake
    lines = {REPORT: f"Lakewarden {lake}, {_numbers(generation, rows)}\n{_list('expiring', lake)}"}
    if n_paths := sum(row.n_items for row in rows.nonconforming):
        words = f"Lakewarden {lake}, alarm: {n_paths:,} nonconforming"
        lines[ALARM] = f"{words}\n{_list('paths', lake)}"
    queued = [
        webhook_queue(kind, lake=lake, day=generation.day, text=text, now=now)
        for kind, text in lines.items()
    ]
    return sum(notice is not None for notice in queued)


def _list(name: str, lake: str) -> str:
    return portal_url(f"{reverse(f'lifecycle:{name}')}?{urlencode({'lake': lake})}")


def _readers(lake: str, rows: Daily, people: People) -> Iterator[tuple[str, Daily]]:
    """Yield the admins with everything, then everyone else who has something to read."""
    for username in people.admins:
        yield username, rows
    dbs = frozenset(notifying_days(lake))
    parts = (rows.succeeded, rows.failed, rows.upcoming, rows.nonconforming)
    named = {name for part in parts for row in part if row.db in dbs for name in row.usernames}
    for username in sorted(named & people.addresses.keys() - set(people.admins)):
        yield username, rows.of(username, dbs=dbs)


def _since(generation: ScanSnapshot, *, now: datetime) -> datetime:
    """Return when the last report was written, so that a missed day is in the next one."""
    earlier = Notice.objects.filter(lake=generation.lake, kind=REPORT, day__lt=generation.day)
    last = earlier.order_by("-day", "-queued_at").first()
    return last.queued_at if last else now - timedelta(days=1)


def _report(
    generation: ScanSnapshot,
    username: str,
    daily: Daily,
    sections: list[Section],
    *,
    is_admin: bool,
) -> Mail:
    whose = "the lake" if is_admin else "your data in the lake"
    return report_mail(
        _numbers(generation, daily),
        username=username,
        lead=f"this is the daily summary of {whose} {generation.lake}.",
        sections=sections,
        trends=lake_trends(generation) if is_admin else (),
        closing=Closing(
            f"The lake was last read at {generation.read_at:%Y-%m-%d %H:%M} UTC.",
            muting_url(MutingLink(username, REPORT, generation.day)),
        ),
    )


def _numbers(generation: ScanSnapshot, daily: Daily) -> str:
    """Say the four numbers in one line."""
    parts = (daily.succeeded, daily.failed, daily.upcoming, daily.nonconforming)
    n_gone, n_left, n_due, n_paths = (sum(row.n_items for row in part) for part in parts)
    return (
        f"Daily report of {generation.day}: {n_gone:,} dropped, {n_left:,} skipped, {n_due:,} "
        f"upcoming, {n_paths:,} nonconforming"
    )


def _alarm(generation: ScanSnapshot, username: str, daily: Daily, *, person: str) -> Mail:
    n_paths = sum(row.n_items for row in daily.nonconforming)
    noun, verb = ("path", "breaks") if n_paths == 1 else ("paths", "break")
    return report_mail(
        f"Alarm: {n_paths:,} {noun} {verb} the rules",
        username=username,
        lead=f"in the lake {generation.lake} {n_paths:,} {noun} {verb} the path rules. Such tables "
        "and partitions are never processed: nothing of them expires, and nothing is cleaned.",
        sections=[alarm_section(generation.lake, daily.nonconforming, person=person)],
        closing=Closing(
            "The list says what to do about each. This alarm comes daily until all conform."
        ),
    )
