"""What a real cluster of three front ends did (review S1-S13), and what the portal does then."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from refresh.clusters.domain.frontends import FeState
from refresh.clusters.services.fe_cache_settings import settings_read_due
from refresh.freshness.domain.freshness import Danger, Freshness
from refresh.models import (
    ClusterFrontEnd,
    Refresh,
    RefreshOutcome,
    RefreshTarget,
    TargetFrontEnd,
    TargetProbe,
)
from refresh.verify.services.sweeping import LIMITS, Swept, sweep
from refresh.worker.domain.lanes import Lane
from refresh.worker.services.worker import Worker
from stack.starrocks.front_end import Life
from stack.starrocks.link import Trouble
from stack.starrocks.spec import Member, Privilege
from tests.component.refresh.refresh_scene import Scene, scene
from tests.component.stack.starrocks.starrocks_cluster import Client, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
DAY = "dt=2026-11-01"


@pytest.fixture
def set_(tmp_path: Path, settings: Any) -> Iterator[Scene]:
    """Three front ends of 3.x."""
    with scene(tmp_path, settings) as found:
        yield found


AT_ONCE = replace(LIMITS, shortest=timedelta(0), longest=timedelta(0))


def rows_of(set_: Scene) -> list[tuple[Freshness, Danger]]:
    """How the table stands on each front end, as pages and the API say it now."""
    rows = (
        TargetFrontEnd.objects.filter(target=set_.target).select_related("fe").order_by("fe__host")
    )
    return [(row.now.freshness, row.now.danger) for row in rows]


def states() -> list[str]:
    return list(TargetFrontEnd.objects.order_by("fe__host").values_list("freshness", flat=True))


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
        assert row.ending == RefreshOutcome.PARTIAL
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


def test_s3_rows_change_with_the_headline_and_before_any_statement_ends(set_: Scene) -> None:
    set_.tell()
    set_.work()
    assert rows_of(set_) == [(Freshness.FRESH, Danger.NONE)] * 3
    set_.tell(DAY)
    target = set_.target
    assert (target.freshness, target.danger) == (Freshness.STALE, Danger.WRONG)
    assert rows_of(set_) == [(Freshness.STALE, Danger.WRONG)] * 3
    since = TargetFrontEnd.objects.values_list("stale_since", flat=True)
    assert list(since) == [target.stale_since] * 3


def test_s3_one_that_freezes_is_not_shown_fresh_and_the_headline_follows(set_: Scene) -> None:
    set_.tell()
    set_.work()
    set_.cluster.set_life("127.0.0.4", Life.FROZEN)
    set_.look()
    assert rows_of(set_)[2] == (Freshness.UNKNOWN, Danger.UNKNOWN), "at once"
    set_.work()
    assert "127.0.0.4" in set_.target.reason
    assert (set_.target.freshness, set_.target.danger) == (Freshness.UNKNOWN, Danger.UNKNOWN)
    set_.cluster.set_life("127.0.0.4", Life.RUNNING)
    set_.look()
    set_.work()
    assert rows_of(set_) == [(Freshness.FRESH, Danger.NONE)] * 3
    assert set_.target.danger == Danger.NONE


def test_s5_settings_are_read_again_after_a_restart_and_daily(set_: Scene) -> None:
    key = "background_refresh_metadata_interval_millis"
    Client(set_.cluster, 1).run(f'ADMIN SET FRONTEND CONFIG ("{key}" = "60000")')
    now = timezone.now()
    settings_read_due(set_.row, now=now)
    assert set_values(key) == ["60000", "600000", "600000"]
    set_.cluster.restart("127.0.0.2")
    settings_read_due(set_.row, now=now + timedelta(hours=1))
    assert set_values(key)[0] == "60000", "its start is not known to have changed"
    set_.look()
    settings_read_due(set_.row, now=now + timedelta(hours=1))
    assert set_values(key) == ["600000"] * 3
    Client(set_.cluster, 2).run(f'ADMIN SET FRONTEND CONFIG ("{key}" = "70000")')
    settings_read_due(set_.row, now=now + timedelta(hours=23))
    assert set_values(key)[1] == "600000"
    settings_read_due(set_.row, now=now + timedelta(days=2))
    assert set_values(key)[1] == "70000"


def set_values(key: str) -> list[str]:
    configs = ClusterFrontEnd.objects.order_by("host").values_list("config", flat=True)
    return [config["front_end"][key] for config in configs]


def test_s9_one_that_is_registered_and_not_started_waits_and_then_needs_no_refresh(
    set_: Scene,
) -> None:
    set_.tell()
    set_.work()
    name = set_.cluster.register(Member("127.0.0.5", role="OBSERVER", is_started=False))
    set_.look()
    new = set_.row.front_ends.get(name=name)
    assert (new.place, new.state, new.unstarted_at is None) == ("127.0.0.5", FeState.DEAD, False)
    set_.tell(DAY)
    set_.work()
    row = Refresh.objects.order_by("-began_at")[0]
    assert row.on_fes[name] == ["FAILED", "Invalid port 0"]
    assert set_.target.past["PARTITIONS"], "nobody waited for it"
    assert states()[:3] == [Freshness.FRESH] * 3
    set_.cluster.set_life("127.0.0.5", Life.FROZEN)
    set_.look()
    assert set_.row.front_ends.get(name=name).state is FeState.DEAD, "it boots"
    set_.cluster.set_life("127.0.0.5", Life.RUNNING)
    set_.look()
    set_.look()
    new.refresh_from_db()
    assert (new.state, new.unstarted_at) == (FeState.ALIVE, None)
    assert new.empty_after is not None
    set_.work()
    settings_read_due(set_.row, now=timezone.now())
    new.refresh_from_db()
    assert new.config_at is not None
    assert states() == [Freshness.FRESH] * 4


def test_s12_a_probe_that_may_not_select_says_so_and_agrees_to_nothing(set_: Scene) -> None:
    set_.tell()
    set_.work()
    set_.cluster.set_user("svc", "secret", frozenset({Privilege.ALTER, Privilege.OPERATE}))
    assert sweep(set_.row, clock=timezone.now, limits=AT_ONCE).probes == 0
    assert "SELECT" in TargetProbe.objects.get().problem
    assert all("SELECT" in row.probe_problem for row in TargetFrontEnd.objects.all())
    assert not TargetFrontEnd.objects.exclude(probed_at=None).exists()
    set_.cluster.set_user("svc", "secret", frozenset(Privilege))
    assert sweep(set_.row, clock=timezone.now, limits=AT_ONCE).probes == 1
    assert TargetProbe.objects.get().problem == ""
    assert not TargetFrontEnd.objects.exclude(probe_problem="").exists()


def test_s7_a_slow_planner_is_asked_once_more_and_said_where_it_stays_slow(set_: Scene) -> None:
    set_.tell()
    set_.work()
    spec = set_.cluster.cluster.spec
    timings = replace(spec.timings, planner_timeout=0.02, metastore_timeout=1.0)
    set_.cluster.cluster.spec = replace(spec, timings=timings)
    set_.cluster.restart("127.0.0.3")
    set_.look()
    set_.cluster.set_weather("127.0.0.3", Trouble.NONE, delay=0.04)
    assert (
        "planner use long time"
        in Client(set_.cluster, 2).error("EXPLAIN COSTS SELECT * FROM hive.shop.sales")[1]
    )
    set_.cluster.restart("127.0.0.3")
    set_.look()
    assert sweep(set_.row, clock=timezone.now, limits=AT_ONCE) == Swept(1, 2, 1, 0)
    assert TargetProbe.objects.get().problem == "", "the second one found it cached"


def test_s9_a_known_one_that_is_listed_without_a_port_is_not_taken_for_new(set_: Scene) -> None:
    before = set_.row.front_ends.get(host="127.0.0.4")
    set_.cluster.cluster.front_end("127.0.0.4").set_life(Life.UNSTARTED)
    set_.look()
    after = set_.row.front_ends.get(host="127.0.0.4")
    assert (after.query_port, after.unstarted_at) == (before.query_port, None)
    assert after.state is FeState.FROZEN, "it may live, with its caches"


def test_s3_a_worker_that_begins_judges_again_only_what_changed(set_: Scene) -> None:
    set_.tell()
    set_.work()
    set_.row.refresh_from_db()
    assert set(set_.row.judged_states.values()) == {"ALIVE"}
    RefreshTarget.objects.update(reason="as it was")
    other = Worker(holder="one", clock=timezone.now)
    other.turn()
    assert other.wait_idle(20)
    assert set_.target.reason == "as it was"
    set_.cluster.set_life("127.0.0.4", Life.FROZEN)
    set_.look()
    other.turn()
    assert other.wait_idle(20)
    other.stop()
    assert "127.0.0.4" in set_.target.reason
