"""Selects the tables of a daily report, and the exact list that each links to.

An admin's lists are the lake's; anybody else's carry their name as a filter.
"""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.urls import reverse

from lifecycle.core.services.report_mail import Cell, Section
from lifecycle.notices.selectors.daily import Daily, Row
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.ui.templatetags.lw import human_bytes


def report_sections(lake: str, daily: Daily, *, person: str) -> list[Section]:
    """Return succeeded, failed, upcoming and nonconforming, each even when it is empty."""
    return [
        _succeeded(lake, daily.succeeded),
        _failed(lake, daily.failed),
        _upcoming(lake, daily.upcoming, person=person),
        alarm_section(lake, daily.nonconforming, person=person),
    ]


def failed_runs_section(lake: str, runs: Sequence[Run]) -> Section:
    """Return the runs that failed, each with its first line of why."""
    return Section(
        title="Runs that failed",
        head=("Kind", "Ended", "Reason"),
        rows=[
            (
                Cell(run.kind, reverse("ui:run", args=[run.pk])),
                Cell(f"{run.finished_at:%Y-%m-%d %H:%M} UTC"),
                Cell(str((run.error or {}).get("message") or run.message or "see its log")),
            )
            for run in runs
        ],
        path=_address("ui:runs", lake, state=RunState.FAILED.value),
    )


def alarm_section(lake: str, rows: Sequence[Row], *, person: str) -> Section:
    """Return the nonconforming paths by table and broken rules."""
    return Section(
        title="Path rule violations",
        head=("Table", "Violated rules", "Paths"),
        rows=[
            (
                Cell(row.name, _address("lifecycle:paths", lake, db=row.db, table=row.table)),
                Cell(row.detail),
                _number(row.n_items),
            )
            for row in rows
        ],
        path=_address("lifecycle:paths", lake, person=person),
        note="" if rows else "Every path conforms to the rules.",
    )


def _succeeded(lake: str, rows: Sequence[Row]) -> Section:
    return Section(
        title="Dropped, with a backup",
        head=("Table", "Items", "Size", "Backup of"),
        rows=[
            (
                Cell(row.name, _backup(lake, row)),
                _number(row.n_items),
                Cell(human_bytes(row.n_bytes), is_number=True),
                Cell(str(row.day)),
            )
            for row in rows
        ],
        path=_address("lifecycle:backups", lake),
        link="Open the backups, to look into one or to restore",
        note="" if rows else "Nothing was dropped.",
    )


def _failed(lake: str, rows: Sequence[Row]) -> Section:
    return Section(
        title="Skipped",
        head=("Table", "Items", "Reason"),
        rows=[
            (
                Cell(row.name, _address("lifecycle:plans", lake, db=row.db, table=row.table)),
                _number(row.n_items),
                Cell(row.detail),
            )
            for row in rows
        ],
        path=_address("lifecycle:plans", lake),
        link="Open the plans",
        note="" if rows else "No plan skipped anything.",
    )


def _upcoming(lake: str, rows: Sequence[Row], *, person: str) -> Section:
    return Section(
        title="Due or due soon",
        head=("Table", "Items", "Size", "First due"),
        rows=[
            (
                Cell(
                    row.name,
                    _address("lifecycle:expiring", lake, show="week", db=row.db, table=row.table),
                ),
                Cell(row.detail, is_number=True),
                Cell(human_bytes(row.n_bytes), is_number=True),
                Cell(str(row.day or "")),
            )
            for row in rows
        ],
        path=_address("lifecycle:expiring", lake, show="week", person=person),
        note="" if rows else "Nothing is due.",
    )


def _number(value: int) -> Cell:
    return Cell(f"{value:,}", is_number=True)


def _backup(lake: str, row: Row) -> str:
    path = reverse("lifecycle:backup-table", args=[row.day, row.db, row.table])
    return f"{path}?{urlencode({'lake': lake})}"


def _address(name: str, lake: str, **query: str) -> str:
    """Return a list under its filter; filters without a value are left out."""
    given = {key: value for key, value in query.items() if value}
    return f"{reverse(name)}?{urlencode({'lake': lake, **given})}"
