"""Queues notifications that a job wrote to a place after its data had been dropped.

Such data was registered again; its owner must know that old and new are apart: the old lies in the
backup, the new at the old place. What a job wrote through a file it had open lies in the backup.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from lifecycle.core.services.people import People
from lifecycle.restore.services.mail import backup_mail
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.notices.services import notice_queue
from portal.runs.models import Run, RunEvent
from portal.runs.records.logs import Line, run_log_many

LATE_COMMIT = "lifecycle.late_commit"
LOGGED = 50


def late_commits_queue(run: Run, told: Sequence[Mapping[str, Any]], *, now: datetime) -> int:
    """Queue one mail an owner for what a run found late, and say it in the run's log.

    Called again for that run it adds nothing.
    `told` rows have `name` (db.table), `partition`, `owner`, `found`, `detail`, `is_registered`.
    """
    _say(run, told, now=now)
    people = People.of(run.lake)
    by_person: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for item in told:
        wanted = people.behind(item["owner"])
        known = [name for name in wanted if name in people.addresses]
        for username in known or people.admins:
            by_person[username].append(item)
    # The run's own day: taken in again after midnight it is the same mail.
    day = day_of(run.queued_at, get_lake(run.lake).zone)
    for username, items in sorted(by_person.items()):
        noun = "place" if len(items) == 1 else "places"
        notice_queue(
            f"{LATE_COMMIT}.{str(run.pk)[:8]}",
            lake=run.lake,
            day=day,
            recipient=username,
            email=people.addresses[username],
            mail=backup_mail(
                "late_commit",
                lake=run.lake,
                username=username,
                subject=f"Data was written to {len(items)} {noun} after its drop",
                rows=items,
            ),
            now=now,
        )
    return len(by_person)


def _say(run: Run, told: Sequence[Mapping[str, Any]], *, now: datetime) -> None:
    texts = [
        f"Written after its drop: {item['name']} {item['partition']}".rstrip()
        + f" ({item['found']}). {item['detail']}".rstrip()
        for item in told[:LOGGED]
    ]
    known = set(RunEvent.objects.filter(run=run, text__in=texts).values_list("text", flat=True))
    new = [text for text in dict.fromkeys(texts) if text not in known]
    run_log_many(run, [Line("warning", text) for text in new], now=now)
