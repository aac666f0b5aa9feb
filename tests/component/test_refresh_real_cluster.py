"""What a real cluster of three front ends did (review S1-S13), and what the portal does then."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from refresh.domain.freshness import Freshness
from refresh.domain.frontends import FeState
from refresh.domain.lanes import Lane
from refresh.models import Ending, Refresh, TargetOnFe
from stack.starrocks.front_end import Life
from stack.starrocks.spec import Privilege
from tests.component.refresh_scene import Scene, scene
from tests.component.starrocks_cluster import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
DAY = "dt=2026-11-01"


@pytest.fixture
def set_(tmp_path: Path, settings: Any) -> Iterator[Scene]:
    """Three front ends of 3.x."""
    with scene(tmp_path, settings) as found:
        yield found


def states() -> list[str]:
    return list(TargetOnFe.objects.order_by("fe__host").values_list("freshness", flat=True))


def test_s11_a_missing_right_is_said_and_tried_until_it_is_there(set_: Scene) -> None:
    set_.row.user = "reader"
    set_.row.save()
    set_.tell(DAY)
    for _ in range(10):
        set_.retry_now()
        set_.work()
    target = set_.target
    assert target.due_at is not None, "for as long as it takes"
    assert target.not_before is not None
    assert target.not_before > timezone.now()
    assert "ALTER" in target.problem
    assert target.freshness == Freshness.STALE
    set_.cluster.set_user("reader", "secret", frozenset(Privilege))
    set_.retry_now()
    set_.work()
    assert states() == [Freshness.FRESH] * 3
    assert set_.target.problem == ""


def test_s11_a_refused_login_holds_the_cluster_and_it_goes_on_by_itself(set_: Scene) -> None:
    set_.cluster.set_user("svc", "changed there first", frozenset(Privilege))
    set_.tell(DAY)
    for _ in range(8):
        set_.retry_now()
        set_.worker.turn()
        assert set_.worker.wait_idle(10)
    assert set_.target.due_at is not None
    assert set_.target.n_tries == 0
    assert Refresh.objects.count() <= 3, "once on each that was not yet known to refuse"
    set_.look()
    set_.row.refresh_from_db()
    assert "Access denied" in set_.row.problem
    assert set_.row.front_ends.filter(login_refused="").count() == 0
    set_.cluster.set_user("svc", "secret", frozenset(Privilege))
    set_.look()
    set_.retry_now()
    set_.work()
    assert states() == [Freshness.FRESH] * 3
    set_.row.refresh_from_db()
    assert set_.row.problem == ""


def test_s2_the_wait_for_a_frozen_one_is_not_the_pace_of_the_table(
    set_: Scene, settings: Any
) -> None:
    settings.LAKEWARDEN_REFRESH_SECONDS = (1, 1, 1)
    set_.costs()
    set_.tell()
    set_.work()
    before = set_.target.past
    set_.cluster.set_life("127.0.0.4", Life.FROZEN)
    set_.look()
    for size in (10_000, 20_000):
        set_.hive.put("sales", DAY, size=size)
        set_.tell(DAY)
        set_.work()
        set_.retry_now()
        row = Refresh.objects.order_by("-began_at")[0]
        assert row.ending == Ending.PARTIAL
        assert (row.seconds or 0) > 1
        assert row.lane == Lane.FAST
        assert states()[:2] == [Freshness.FRESH] * 2
    assert set_.target.past == before
    set_.cluster.set_life("127.0.0.4", Life.RUNNING)
    set_.look()
    set_.work()
    assert states() == [Freshness.FRESH] * 3
    assert len(set(set_.costs())) == 1


def test_s4_a_frozen_one_is_known_while_the_list_still_waits_for_it(set_: Scene) -> None:
    timings = replace(set_.cluster.cluster.spec.timings, listing_with_a_frozen_one=40.0)
    set_.cluster.cluster.spec = replace(set_.cluster.cluster.spec, timings=timings)
    set_.cluster.set_life("127.0.0.4", Life.FROZEN)
    set_.worker.turn()
    wait_until(lambda: states_of_fes(set_)[2] is FeState.FROZEN)
    assert set_.worker._read == {set_.row.pk}, "the list is still waited for"
    set_.cluster.set_life("127.0.0.4", Life.RUNNING)
    set_.worker._looked_at.clear()
    set_.worker.turn()
    wait_until(lambda: states_of_fes(set_)[2] is FeState.ALIVE)


def states_of_fes(scene_: Scene) -> list[FeState]:
    return [fe.state for fe in scene_.row.front_ends.order_by("host")]
