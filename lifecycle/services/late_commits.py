"""Who is told that a job wrote to a place after its data had been dropped?

Such data was registered again; its owner must know that old and new are apart: the old lies in the
backup, the new at the old place.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse

from lifecycle.services.people import People
from portal.access.lakes import get_lake
from portal.act.probes import Probed
from portal.lake.clock import day_of
from portal.notices.services import Mail, notice_queue

ITEMS_SHOWN = 100


def late_commits_queue(
    lake: str, told: Sequence[Mapping[str, Any]], *, run_id: UUID, now: datetime
) -> int:
    """Queue one mail an owner for what a probe run found late; again for a run adds none.

    `told` rows have `name` (db.table), `partition`, `owner`, `found`, `detail`, `is_registered`.
    """
    people = People.of(lake)
    by_person: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for item in told:
        if item["found"] == Probed.DAMAGED:
            continue
        known = [item["owner"]] if item["owner"] in people.addresses else list(people.admins)
        for username in known:
            by_person[username].append(item)
    for username, items in sorted(by_person.items()):
        notice_queue(
            f"lifecycle.late_commit.{str(run_id)[:8]}",
            lake=lake,
            day=day_of(now, get_lake(lake).zone),
            recipient=username,
            email=people.addresses[username],
            mail=_mail(lake, username, items),
            now=now,
        )
    return len(by_person)


def _mail(lake: str, username: str, items: Sequence[Mapping[str, Any]]) -> Mail:
    context = {
        "username": username,
        "items": items[:ITEMS_SHOWN],
        "n_more": max(len(items) - ITEMS_SHOWN, 0),
        "url": f"{settings.LAKEWARDEN_BASE_URL}{reverse('lifecycle:backups')}?lake={lake}",
    }
    noun = "place" if len(items) == 1 else "places"
    return Mail(
        subject=f"[Lakewarden] Data was written to {len(items)} {noun} after its drop",
        text=render_to_string("lifecycle/mail/late_commit.txt", context),
    )
