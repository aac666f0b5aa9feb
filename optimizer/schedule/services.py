"""Does all of advice that is due, from recorded scans to a measured layout. For demos and tests.

In production the clock (`tasks/schedule.py`) calls the same ticks and asks for the same runs. Here
runs are driven to their end in this process, and scans and decisions count as of the played day.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from optimizer.advice.domain.states import AdviceState
from optimizer.advice.services.requests import KIND as ADVICE_KIND
from optimizer.advice.services.trials import KIND as TRIAL_KIND
from optimizer.iceberg.inspect.run_kinds import KIND as INSPECT_KIND
from optimizer.iceberg.planner.run_kinds import KIND as OPTIMIZE_KIND
from optimizer.models import Advice
from portal.lake.errors import NotAllowed
from portal.played import instant
from portal.runs.domain import RunState
from portal.runs.kinds.registry import get_kind
from portal.runs.kinds.ticks import all_ticks
from portal.runs.models import Run
from portal.runs.requests.services import SCHEDULE, run_drive, run_request
from portal.ui.frame.states import badge_for

_KINDS = (INSPECT_KIND, ADVICE_KIND, TRIAL_KIND, OPTIMIZE_KIND)
_TICKS = ("advice.", f"tasks.decide.{OPTIMIZE_KIND}", f"tasks.start.{OPTIMIZE_KIND}")


def advice_day(lake: str, *, say: Callable[[str], None]) -> None:
    """Do what is due until nothing is, or a run fails; done again at once it does nothing.

    Raises:
        NotAllowed: `day.played` where time must not be played (production).
    """
    if not settings.LAKEWARDEN_ALLOW_PLAYED_TIME:
        raise NotAllowed("day.played", "Days are not played in production; the clock runs them.")
    before = _states(lake)
    while runs := list(_due(lake)):
        ended = [run_drive(run.pk) for run in runs]
        for run in ended:
            say(f"{get_kind(run.kind).title}: {run.state.lower()}")
        if any(run.state != RunState.DONE for run in ended):
            break
    for row in Advice.objects.filter(table__lake=lake).select_related("table").order_by("pk"):
        if before.get(row.pk) != row.state:
            say(f"{row}: {badge_for(f'ADVICE_{row.state}').word.lower()}")


def _states(lake: str) -> dict[int, str]:
    return dict(Advice.objects.filter(table__lake=lake).values_list("pk", "state"))


def _due(lake: str) -> Iterator[Run]:
    """Yield what the ticks and the schedule ask for now."""
    for tick in all_ticks():
        if tick.name.startswith(_TICKS):
            tick.turn(lake, now=instant())
    _ask(lake, INSPECT_KIND, now=timezone.now())  # it reads the files as they are now
    applied = Advice.objects.filter(table__lake=lake, state=AdviceState.APPLIED, is_open=True)
    if not applied.exists():
        # Each look is a start of Spark, and a day that only measures needs none.
        _ask(lake, ADVICE_KIND, now=instant())
    wanted = Run.objects.filter(lake=lake, kind__in=_KINDS, finished_at=None)
    yield from wanted.order_by("queued_at")


def _ask(lake: str, kind: str, *, now: datetime) -> None:
    params = get_kind(kind).scheduled_params(lake, now=now)
    if params is not None:
        run_request(kind, lake=lake, params=params, requested_by=SCHEDULE, now=now)
