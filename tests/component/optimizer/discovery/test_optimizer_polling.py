"""A poll of Iceberg tables comes each hour by the clock, and sooner after one that failed."""

from datetime import datetime, timedelta

import pytest

from optimizer.discovery.domain import EVERY, FIRST_RETRY
from optimizer.discovery.services.poll import KIND, PollKind, poll_request
from portal.connectors.lake_config import LakeConfig
from portal.runs.domain import RunState
from portal.runs.models import Run
from tasks import schedule as clock
from tests.component.conftest import LAKE

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def only_the_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the other kinds out: this file is about the clock of one."""
    monkeypatch.setattr(clock, "all_kinds", lambda: [PollKind()])


def ended(state: RunState, *, at: datetime) -> None:
    """Let the poll that is under way end."""
    assert Run.objects.filter(kind=KIND, finished_at=None).update(state=state, finished_at=at) == 1


def n_asked(since: datetime, minutes: int) -> int:
    """Let the clock strike each half minute; returns how many polls were asked for."""
    before = Run.objects.count()
    for half in range(2 * minutes):
        clock.schedule(since + half * MINUTE / 2)
    return Run.objects.count() - before


def test_a_poll_that_failed_is_asked_for_again_within_minutes_and_ever_later(
    lake: LakeConfig, now: datetime
) -> None:
    clock.schedule(now)
    waits = []
    for _ in range(7):
        assert n_asked(now, 3) == 0, "one is under way"
        now += 3 * MINUTE
        ended(RunState.FAILED, at=now)
        wait = timedelta()
        while n_asked(now + wait, 1) == 0:
            wait += MINUTE
        waits.append(round(wait / MINUTE))
        now += wait + MINUTE
    assert waits == [2, 4, 8, 16, 32, 60, 60]

    ended(RunState.DONE, at=now)
    requested_at = Run.objects.latest("queued_at").queued_at
    assert n_asked(now, 50) == 0
    assert n_asked(requested_at + EVERY, 1) == 1
    ended(RunState.FAILED, at=now + EVERY)
    assert n_asked(now + EVERY + FIRST_RETRY, 1) == 1, "failures of before count no more"


def test_a_poll_that_somebody_asked_for_or_cancelled_puts_the_next_off(
    lake: LakeConfig, now: datetime
) -> None:
    for state in (RunState.DONE, RunState.CANCELLED):
        Run.objects.all().delete()
        poll_request(LAKE, by="ada", now=now)
        assert n_asked(now, 3) == 0
        ended(state, at=now + 3 * MINUTE)
        assert n_asked(now + 3 * MINUTE, 50) == 0
        assert n_asked(now + EVERY, 2) == 1
