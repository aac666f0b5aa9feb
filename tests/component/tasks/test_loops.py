"""The loops side by side: one leader a lease, a turn that fails costs one turn only."""

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from portal.connectors.lake_config import LakeConfig
from portal.events.services import HOLDER
from portal.runs.claims.leases import lease_take
from portal.runs.models import Lease
from tasks.follow import follow_end
from tasks.loops import Loop, Loops

pytestmark = pytest.mark.django_db(transaction=True)


def wait_for(event: threading.Event) -> None:
    assert event.wait(timeout=20)


def test_a_loop_that_fails_goes_on_and_holds_up_nobody() -> None:
    enough, other = threading.Event(), threading.Event()
    turns: list[datetime] = []

    def break_down(now: datetime) -> None:
        turns.append(now)
        if len(turns) == 3:
            enough.set()
        raise ZeroDivisionError

    def work(now: datetime) -> None:
        other.set()

    loops = Loops(
        [Loop("broken", 0.01, break_down, "a"), Loop("sound", 0.01, work, "b")], holder="me"
    )
    loops.start()
    wait_for(enough)
    wait_for(other)
    loops.stop()
    loops.wait()
    assert set(Lease.objects.values_list("name", flat=True)) == {"a", "b"}


def test_who_does_not_lead_does_nothing_until_the_lease_is_over(now: datetime) -> None:
    worked = threading.Event()
    far = datetime.now(tz=now.tzinfo)
    assert lease_take("a", holder="leader", length=timedelta(hours=1), now=far) == 1
    loops = Loops([Loop("idle", 0.01, lambda now: worked.set(), "a")], holder="follower")
    loops.start()
    time.sleep(0.5)
    assert not worked.is_set()
    Lease.objects.update(until=far - timedelta(seconds=1))
    wait_for(worked)
    loops.stop()
    loops.wait()
    assert Lease.objects.get().epoch == 2


def test_a_loop_gives_back_what_it_holds_of_its_own_after_its_last_turn() -> None:
    began, said = threading.Event(), []

    def work(now: datetime) -> None:
        said.append("turn")
        began.set()

    loops = Loops([Loop("one", 60.0, work, "a", end=lambda now: said.append("end"))], holder="me")
    loops.start()
    wait_for(began)
    loops.stop()
    loops.wait()
    assert said == ["turn", "end"]


def test_an_end_that_fails_keeps_no_lease() -> None:
    began = threading.Event()

    def break_down(now: datetime) -> None:
        raise ZeroDivisionError

    loops = Loops([Loop("one", 60.0, lambda now: began.set(), "a", end=break_down)], holder="me")
    loops.start()
    wait_for(began)
    loops.stop()
    loops.wait()
    later = datetime.now(tz=UTC)
    assert lease_take("a", holder="next", length=timedelta(hours=1), now=later) is not None


def test_another_supervisor_follows_at_once_after_a_stop(lake: LakeConfig) -> None:
    now = datetime.now(tz=UTC)
    name, length = f"events:{lake.lake}", timedelta(minutes=1)
    assert lease_take(name, holder=HOLDER, length=length, now=now) is not None
    assert lease_take(name, holder="next", length=length, now=now) is None
    follow_end(now)
    assert lease_take(name, holder="next", length=length, now=now) is not None
    follow_end(now)
    assert lease_take(name, holder=HOLDER, length=length, now=now) is None
