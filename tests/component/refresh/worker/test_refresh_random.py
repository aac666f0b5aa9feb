"""Whatever is written, heard and broken in between: in the end every front end equals the lake.

The whole way, with threads, rows and sockets; the decisions alone are tried by the thousand in
`tests/unit/refresh/freshness/test_refresh_ends_right.py`.
"""

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pymysql
import pytest
from django.utils import timezone

from portal.runs.models import Lease
from refresh.changes.domain.changes import PartitionChange
from refresh.freshness.domain.freshness import Freshness
from refresh.models import ChangedPartition, Refresh, RefreshOutcome, RefreshTarget, TargetFrontEnd
from refresh.worker.services.worker import Worker
from stack.starrocks.front_end import Life
from stack.starrocks.link import Trouble
from stack.starrocks.spec import NEW, OLD
from tests.component.refresh.refresh_scene import Scene, scene
from tests.component.stack.starrocks.starrocks_cluster import Client

pytestmark = pytest.mark.django_db(transaction=True)
DAYS = [f"dt=2026-11-{day:02}" for day in range(1, 7)]
FES = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
N_ACTIONS = 80


class Story:
    """Random actions on a scene; what was written is heard late, twice and out of order."""

    def __init__(self, found: Scene, seed: int) -> None:
        self.scene = found
        self.chance = random.Random(seed)
        self.unheard: list[tuple[str, PartitionChange]] = []
        self.name = "hive.shop.sales" if found.version == NEW else "ext.sales_in_sr"
        self.size = 10_000

    def write(self) -> None:
        day = self.chance.choice(DAYS)
        is_there = day in self.scene.hive.partition_names("shop", "sales")
        self.size += 26_000
        self.scene.hive.put("sales", day, size=self.size)
        self.unheard.append((day, PartitionChange.UPDATED if is_there else PartitionChange.ADDED))

    def drop(self) -> None:
        there = self.scene.hive.partition_names("shop", "sales")
        if len(there) > 1:
            day = self.chance.choice(there)
            self.scene.hive.drop("sales", day)
            self.unheard.append((day, PartitionChange.DROPPED))

    def hear(self) -> None:
        self.chance.shuffle(self.unheard)
        for _ in range(min(2, len(self.unheard))):
            day, touch = self.unheard.pop()
            self.scene.tell(day, touch=touch)
            if self.chance.random() < 0.2:
                self.unheard.append((day, touch))

    def query(self) -> None:
        number = self.chance.randrange(3)
        if self.scene.cluster.cluster.front_ends[number].life is Life.RUNNING:
            # Its caches may be empty and its metastore away: then nobody is answered wrongly.
            with suppress(pymysql.MySQLError):
                Client(self.scene.cluster, number + 1).run(" ".join(("SELECT * FROM", self.name)))

    def turn(self) -> None:
        self.scene.worker.turn()

    def finish(self) -> None:
        assert self.scene.worker.wait_idle(30)
        self.scene.retry_now()

    def look(self) -> None:
        self.scene.look()

    def trouble(self) -> None:
        life = self.chance.choice([Life.FROZEN, Life.DEAD, *[Life.RUNNING] * 4])
        self.scene.cluster.set_life(self.chance.choice(FES), life)

    def restart(self) -> None:
        self.scene.cluster.restart(self.chance.choice(FES))

    def weather(self) -> None:
        trouble = self.chance.choice([Trouble.DOWN, Trouble.NONE])
        self.scene.cluster.set_weather(self.chance.choice([None, *FES, *FES]), trouble)

    def take_over(self) -> None:
        """Another worker takes the lead; what the first one sends has no more say."""
        first = self.scene.worker
        Lease.objects.filter(name="refresh:bi").update(until=timezone.now())
        self.scene.worker = Worker(holder=str(self.chance.random()), clock=timezone.now)
        self.scene.worker.turn()
        first.stop()

    def heal(self) -> None:
        self.scene.cluster.set_weather(None, Trouble.NONE)
        for host in FES:
            self.scene.cluster.set_life(host, Life.RUNNING)
        while self.unheard:
            self.hear()
        for _ in range(12):
            self.scene.look()
            RefreshTarget.objects.filter(problem__gt="", due_at=None).update(problem="")
            RefreshTarget.objects.update(outcome_unknown_until=None)
            self.scene.retry_now()
            self.scene.look()
            self.scene.work(seconds=60)
            if not RefreshTarget.objects.exclude(due_at=None).exists():
                return
        raise AssertionError(f"it never ends: {list(RefreshTarget.objects.values())}")


ACTIONS: tuple[Callable[[Story], None], ...] = (
    *(Story.write, Story.write, Story.drop, Story.hear, Story.hear, Story.query, Story.query),
    *(Story.turn, Story.turn, Story.turn, Story.finish, Story.look, Story.look),
    *(Story.trouble, Story.restart, Story.weather, Story.weather, Story.weather, Story.take_over),
)


@pytest.mark.parametrize(
    ("version", "seed"), [*[(NEW, n) for n in range(7)], *[(OLD, n) for n in range(3)]]
)
def test_r6_in_the_end_every_front_end_equals_the_metastore(
    tmp_path: Path, settings: Any, version: str, seed: int
) -> None:
    with scene(tmp_path, settings, version=version) as found:
        settings.LAKEWARDEN_REFRESH_SECONDS = (1, 1, 1)
        settings.LAKEWARDEN_REFRESH_BEYOND = 0.5
        story = Story(found, seed)
        found.costs(story.name)
        for _ in range(N_ACTIONS):
            story.chance.choice(ACTIONS)(story)
        story.finish()
        story.heal()
        seen = found.costs(story.name)
        found.cluster.restart(FES[0])
        Client(found.cluster, 1).query(story.name)
        assert seen == [Client(found.cluster, 1).costs(story.name)] * 3
        assert not ChangedPartition.objects.exists(), "everything is settled"
        assert not Refresh.objects.filter(ending=RefreshOutcome.RUNNING).exists()
        assert Freshness.STALE not in TargetFrontEnd.objects.values_list("freshness", flat=True)
