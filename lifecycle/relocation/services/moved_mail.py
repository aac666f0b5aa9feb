"""Queues notifications that a relocation plan moved data, or that an undo moved it back.

Whoever names the path in a program must change it, so the people behind each table hear of it by
one mail a plan, and the admins in the place of people who cannot be written to.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse

from lifecycle.core.services.people import People
from lifecycle.models import AT_TARGET, RelocationMove, RelocationMoveState, RelocationPlan
from lifecycle.notices.domain.notice import responsible_for
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.notices.services import Mail, notice_queue
from portal.runs.models import Run

MOVED, BACK = "lifecycle.moved", "lifecycle.moved_back"
ROWS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class _Moved:
    """One row of a mail, and those named for it who cannot be written to."""

    item: RelocationMove
    unreachable: tuple[str, ...]

    @property
    def has_new_data(self) -> bool:
        """Whether somebody wrote to the old place meanwhile."""
        return self.item.state == RelocationMoveState.NEW_DATA


def moved_queue(
    fix: RelocationPlan, rows: Iterable[RelocationMove], run: Run, *, now: datetime
) -> int:
    """Queue one mail a person for what lies at its new place now; returns how many people are told.

    Called again for that run it adds nothing; a run that moved nothing is no news.
    """
    people = People.of(fix.lake)
    told: dict[str, list[_Moved]] = defaultdict(list)
    for row in rows:
        if row.state not in AT_TARGET:
            continue
        responsible = responsible_for(
            table_owner=row.owner,
            db_owner=row.db_owner,
            db_administrators=people.administrators.get(row.db, ()),
            known=people.addresses.keys(),
            fallback=people.admins,
            stand_for=people.stand_for,
        )
        for username in responsible.usernames:
            told[username].append(_Moved(row, responsible.unknown))
    # The run's own day: taken in again after midnight it is the same mail.
    day = day_of(run.queued_at, get_lake(fix.lake).zone)
    for username, items in sorted(told.items()):
        notice_queue(
            f"{BACK if fix.undo_of_id else MOVED}.{fix.short_id}",
            lake=fix.lake,
            day=day,
            recipient=username,
            email=people.addresses[username],
            mail=_mail(fix, items, username=username),
            now=now,
        )
    return len(told)


def _mail(fix: RelocationPlan, items: list[_Moved], *, username: str) -> Mail:
    noun = "place" if len(items) == 1 else "places"
    back = " back" if fix.undo_of_id else ""
    context = {
        "username": username,
        "fix": fix,
        "is_back": bool(fix.undo_of_id),
        "items": items[:ROWS_SHOWN],
        "n_more": max(len(items) - ROWS_SHOWN, 0),
        "url": f"{settings.LAKEWARDEN_BASE_URL}{reverse('lifecycle:path-fix', args=[fix.pk])}",
    }
    return Mail(
        subject=f"[Lakewarden] Your data was moved{back}: {len(items)} {noun}",
        text=render_to_string("lifecycle/mail/moved.txt", context),
        html=render_to_string("lifecycle/mail/moved.html", context),
    )
