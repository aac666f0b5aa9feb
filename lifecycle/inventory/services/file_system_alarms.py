"""Reports file systems in the metastore that the lake's configuration does not name.

Whether such a name is another spelling of the lake's own file system cannot be known, so nothing is
planned or started until somebody says so in lakes.json (`inventory.selectors.picture`).
"""

from collections.abc import Iterator
from datetime import datetime

from lifecycle.core.services.people import People, keepers
from lifecycle.inventory.selectors.picture import UNKNOWN_FILE_SYSTEMS, picture_problem
from lifecycle.models import LatestScan, ScanSnapshot
from portal.access.gauges import Gauge, Sample, register_gauge
from portal.access.lakes import get_lake
from portal.lake.clock import day_of
from portal.notices.letters import Letter, letter_mail
from portal.notices.services import notice_queue, webhook_queue

KIND = "lifecycle.unknown_file_systems"


def file_system_alarm_queue(generation: ScanSnapshot, *, now: datetime) -> int:
    """Tell the admins and operators, once a day, of unknown file systems; return how many mails."""
    unknown = generation.totals.get(UNKNOWN_FILE_SYSTEMS) or []
    if not unknown:
        return 0
    lake = generation.lake
    people, day = People.of(lake), day_of(now, get_lake(lake).zone)
    noun = "file system" if len(unknown) == 1 else "file systems"
    problem = picture_problem(lake, generation)
    letter = Letter(f"Alarm: {len(unknown)} unknown {noun} in lake {lake}", problem)
    told = keepers(people, lake)
    for username in told:
        notice_queue(
            KIND,
            lake=lake,
            day=day,
            recipient=username,
            email=people.addresses[username],
            mail=letter_mail(letter, username=username),
            now=now,
        )
    webhook_queue(KIND, lake=lake, day=day, text=problem, now=now)
    return len(told)


def unknown_by_lake() -> Iterator[Sample]:
    """Count the unknown file systems of each lake's newest picture."""
    for current in LatestScan.objects.select_related("generation"):
        found = current.generation.totals.get(UNKNOWN_FILE_SYSTEMS) or []
        yield {"lake": current.lake}, float(len(found))


def register_file_system_gauge() -> None:
    """Tell the platform of the number of this file."""
    register_gauge(
        Gauge(
            "unknown_file_systems",
            "File systems in the metastore that lakes.json does not name; above 0 nothing starts.",
            unknown_by_lake,
            labels=("lake",),
        )
    )
