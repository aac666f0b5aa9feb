"""What is not ready is not refreshed before its flag says that it is, and then at once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from portal.lake.readiness import FLAG
from refresh.changes.domain.changes import PartitionChange
from refresh.freshness.domain.freshness import Freshness
from refresh.models import ChangedPartition, Refresh, RefreshOutcome
from refresh.verify.services.probing import probe
from tests.component.refresh.refresh_scene import Scene, scene

pytestmark = pytest.mark.django_db(transaction=True)
OLD_DAY, NEW_DAY = "dt=2026-11-01", "dt=2026-11-20"


@pytest.fixture
def set_(tmp_path: Path, settings: Any) -> Iterator[Scene]:
    """Three front ends that know the table; it has so many days that few go by name."""
    with scene(tmp_path, settings) as found:
        for day in range(3, 12):
            found.hive.put("sales", f"dt=2026-11-{day:02}", size=2600)
        found.tell()
        found.work()
        yield found


def put(set_: Scene, day: str, word: str, *, size: int = 99_000) -> None:
    set_.hive.put("sales", day, size=size)
    one = set_.hive.parts["shop", "sales"][day]
    set_.hive.parts["shop", "sales"][day] = replace(one, parameters={FLAG: word})


def n_sent() -> int:
    return Refresh.objects.count()


def last_sent() -> Refresh:
    return Refresh.objects.order_by("-began_at")[0]


def named_last(set_: Scene) -> set[str]:
    """The partitions that the last refresh named, as each front end has them among its dones."""
    (names,) = {tuple(row.done[-1][2]) for row in set_.target.on_fes.all()}
    return set(names)


@pytest.mark.parametrize(
    ("day", "touch"),
    [(OLD_DAY, PartitionChange.UPDATED), (NEW_DAY, PartitionChange.ADDED)],
    ids=["old", "new"],
)
def test_the_flip_leads_to_the_refresh_and_nothing_before_it(
    set_: Scene, day: str, touch: PartitionChange
) -> None:
    before, n_before = set_.costs(), n_sent()
    for word in ("false", " FALSE "):
        put(set_, day, word)
        set_.tell(day, touch=touch)
        set_.work()
    assert (set_.costs(), n_sent()) == (before, n_before)
    assert set_.target.freshness == Freshness.FRESH, "what is hidden is not missing"
    assert set_.target.due_at is None
    waits = ChangedPartition.objects.get()
    assert (waits.name, waits.touch) == (day, PartitionChange.UNREADY)
    assert probe(set_.target, clock=timezone.now) == [], "who lacks it contradicts nothing"

    put(set_, day, "true")
    set_.tell(day)
    set_.work()
    assert (n_sent(), last_sent().ending) == (n_before + 1, RefreshOutcome.DONE)
    assert named_last(set_) == {day}
    after = set_.costs()
    assert len(set(after)) == 1
    assert after != before
    assert not ChangedPartition.objects.exists()


def test_what_is_ready_goes_without_what_is_not(set_: Scene) -> None:
    put(set_, OLD_DAY, "false")
    put(set_, "dt=2026-11-02", "true")
    set_.tell(OLD_DAY, "dt=2026-11-02")
    set_.work()
    assert named_last(set_) == {"dt=2026-11-02"}
    assert ChangedPartition.objects.get().name == OLD_DAY


def test_an_unready_partition_that_is_dropped_is_owed_as_any(set_: Scene) -> None:
    put(set_, OLD_DAY, "false")
    set_.tell(OLD_DAY)
    set_.work()
    set_.hive.drop("sales", OLD_DAY)
    set_.tell(OLD_DAY, touch=PartitionChange.DROPPED)
    set_.work()
    assert last_sent().kind == "TABLE"
    assert not ChangedPartition.objects.exists()
