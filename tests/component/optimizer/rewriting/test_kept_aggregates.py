"""Queries over Hudi tables are answered from aggregates of other areas, as fresh as is asked."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pymetastore.hive_metastore import ttypes
from pytest_django.fixtures import Settings

from optimizer.rewriting.domain.facts import HUDI, TableFacts
from portal.access.models import User
from portal.catalog.models import Table
from portal.catalog.services.stored_aggregates import register_aggregates, register_answered
from portal.connectors.lake_config import LakeConfig
from portal.lake.aggregates import (
    SourceCommit,
    StoredAggregate,
    StoredDimension,
    StoredJoin,
    StoredMeasure,
)
from portal.runs.domain import RunState
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.component.optimizer.rewriting.test_rewrite_pages import asked
from tests.component.quality.hook_world import HookLake
from tests.support.thrift_lake import served

pytestmark = pytest.mark.django_db
ORDERS, SHOPS = "shop.sales", "shop.shops"
FIRST, SECOND = 20261128110000000, 20261128120000000
SQL = "SELECT state, sum(qty) AS q FROM shop.sales WHERE qty > 3 GROUP BY state"


class HudiLake(HookLake):
    """A metastore that says where its tables lie."""

    def get_table(self, db: str, name: str) -> Any:
        found = super().get_table(db, name)
        found.sd = ttypes.StorageDescriptor(location=f"file:{self.root}/{name}")
        return found


class Shop:
    """A Hudi table, its folder, and a reading of it."""

    def __init__(self, root: Path, owner: str) -> None:
        self.place = f"file://{root}/sales"
        self.timeline = root / "sales" / ".hoodie" / "timeline"
        self.timeline.mkdir(parents=True)
        hudi("sales", now=timezone.now(), owner=owner, location=self.place)
        self.known("by_state", owner)
        self.commit(FIRST)

    def known(self, name: str, owner: str) -> None:
        now = timezone.now()
        seen = {"event_id": 1, "first_seen_at": now, "last_seen_at": now}
        Table.objects.create(lake="main", db="shop", name=name, format=HUDI, owner=owner, **seen)

    def commit(self, instant: int) -> None:
        (self.timeline / f"{instant}_{instant + 3_000}.deltacommit").touch()

    def read(self, run: Run, instant: int) -> None:
        facts = TableFacts(
            ORDERS,
            self.place,
            instant,
            self.place,
            {"state": "string", "qty": "int", "shop": "int"},
            format=HUDI,
        )
        run.state, run.finished_at = RunState.DONE, timezone.now()
        run.result = {"tables": {ORDERS: facts.to_json()}}
        run.save()

    def aggregate(self, instant: int) -> StoredAggregate:
        return StoredAggregate(
            name="by_state",
            table="shop.by_state",
            format=HUDI,
            source=ORDERS,
            dimensions=(StoredDimension("state", "fact.state", "string", "state"),),
            measures=(StoredMeasure("m0", "fact.qty", "int", {"sum": "q"}),),
            rows_column="n_rows",
            filters=("fact.qty > 3",),
            commits={ORDERS: SourceCommit(self.place, str(instant))},
            known_at=timezone.now() - timedelta(seconds=90),
            source_rows=100,
        )


@pytest.fixture
def shop(lake: LakeConfig, people: People, tmp_path: Path, settings: Settings) -> Iterator[Shop]:
    with served(HudiLake(tmp_path)) as port:
        there = replace(lake, thrift_port=port)
        Path(settings.LAKEWARDEN_LAKES).write_text(json.dumps({"main": there.as_dict()}))
        shop = Shop(tmp_path, people.owner.username)
        register_aggregates(
            "test", lambda _lake, names: [shop.aggregate(FIRST)] * (ORDERS in names)
        )
        yield shop
    register_aggregates("test", lambda _lake, _names: ())


def answer(user: User, **more: Any) -> Any:
    return asked(user, SQL, dialect="spark", **more).json()


def test_a_reading_counts_until_the_table_has_a_newer_commit(shop: Shop, people: People) -> None:
    assert answer(people.owner)["state"] == "WAITING"
    run = Run.objects.get(kind="optimizer.rewrite")
    assert run.params == {"tables": [ORDERS], "hudi": {ORDERS: shop.place}}
    shop.read(run, FIRST)
    told: list[Any] = []
    register_answered("test", lambda lake, table, _now: told.append((lake, table)))
    done = answer(people.owner)
    register_answered("test", lambda *_: None)
    assert told == [("main", "shop.by_state")], "who keeps it counts its answers"
    assert (done["state"], done["is_rewritten"]) == ("DONE", True)
    assert done["blocks"][0]["used"] == "shop.by_state"
    shop.commit(SECOND)
    assert answer(people.owner)["state"] == "WAITING", "the timeline has a newer commit"
    shop.read(Run.objects.order_by("-queued_at")[0], SECOND)
    (cube,) = answer(people.owner)["blocks"][0]["cubes"]
    assert not cube["used"]
    assert "shop.sales was written to since it was computed 90 s ago" in cube["reason"]
    assert answer(people.owner, max_lag_seconds=120)["is_rewritten"]


def test_a_table_of_an_older_version_is_read_once_too(shop: Shop, people: People) -> None:
    shutil.rmtree(shop.timeline)
    (shop.timeline.parent / f"{FIRST}.deltacommit").touch()
    (shop.timeline.parent / f"{SECOND}.deltacommit.inflight").touch()
    answer(people.owner)
    shop.read(Run.objects.get(kind="optimizer.rewrite"), FIRST)
    assert answer(people.owner)["state"] == "DONE"
    (shop.timeline.parent / f"{SECOND}.deltacommit").touch()
    assert answer(people.owner)["state"] == "WAITING"


def test_a_table_at_another_place_is_read_again(shop: Shop, people: People) -> None:
    answer(people.owner)
    run = Run.objects.get(kind="optimizer.rewrite")
    shop.read(run, FIRST)
    found: Any = run.result
    found["tables"][ORDERS]["metadata_location"] = f"{shop.place}_before"
    run.save()
    assert answer(people.owner)["state"] == "WAITING"


def test_an_aggregate_is_for_those_who_may_see_what_it_joins(shop: Shop, people: People) -> None:
    joined = replace(shop.aggregate(FIRST), joins=(StoredJoin("s", SHOPS, (("fact.shop", "id"),)),))
    register_aggregates("test", lambda _lake, _names: [joined])
    answer(people.owner)
    assert Run.objects.get(kind="optimizer.rewrite").params["tables"] == [ORDERS], "nobody knows it"
    hudi("shops", now=timezone.now(), owner=people.admin.username, location="file:/lake/shops")
    shop.known("shops", people.admin.username)
    answer(people.owner)
    run = Run.objects.get(kind="optimizer.rewrite")
    assert run.params["tables"] == [ORDERS], "it is not this person's"
    shop.read(run, FIRST)
    assert SHOPS not in json.dumps(answer(people.owner)["blocks"]), "nor is it named"
    answer(people.admin)
    run = Run.objects.order_by("-queued_at")[0]
    assert run.params["tables"] == [ORDERS, SHOPS]
    shop.read(run, FIRST)
    assert f"{SHOPS} is not known here" in json.dumps(answer(people.admin, max_age_seconds=60))


def test_an_aggregate_is_for_those_who_may_see_its_table(shop: Shop, people: People) -> None:
    answer(people.owner)
    shop.read(Run.objects.get(kind="optimizer.rewrite"), FIRST)
    assert answer(people.owner)["is_rewritten"]
    Table.objects.update(owner="somebody")
    assert (
        answer(people.owner)["blocks"][0]["reason"]
        == "there is no cube or materialization of shop.sales"
    )
    assert answer(people.admin)["is_rewritten"]


def test_a_stranger_is_answered_as_if_there_was_none(shop: Shop, people: People) -> None:
    assert asked(people.stranger, SQL).status_code == 404
