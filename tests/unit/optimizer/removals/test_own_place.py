"""A table's place is compared with what is registered once, and then with what changed since."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from optimizer.removals.jobs import location_overlap
from optimizer.removals.jobs.location_overlap import OwnPlace
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath
from portal.lake.places import Holder
from portal.spark.registered import Changes
from tests.unit.portal.events.test_change_log import Log

PLACE = LakePath.parse("hdfs://lake/sales/orders")


@dataclass
class Registered:
    """The metastore's database, and what was read of it."""

    places: list[tuple[Holder, str]]
    reads: list[object] = field(default_factory=list)

    def all(self, near: object) -> Iterator[tuple[Holder, str]]:
        self.reads.append("all")
        return iter(self.places)

    def of(self, changes: Changes, near: object) -> Iterator[tuple[Holder, str]]:
        self.reads.append(dict(changes.tables))
        return (one for one in self.places if (one[0].db, one[0].table) in changes.tables)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Registered:
    found = Registered(
        [(Holder("sales", "orders"), str(PLACE)), (Holder("sales", ""), "hdfs://lake/sales")]
    )
    monkeypatch.setattr(location_overlap, "RegisteredPlaces", lambda *_: found)
    monkeypatch.setattr(location_overlap, "around", lambda _: None)
    return found


def own(log: Log) -> OwnPlace:
    job: Any = SimpleNamespace(spark=None, config=SimpleNamespace(path=LakePath.parse))
    return OwnPlace(job, log, db="sales", table="orders", place=PLACE)


def test_while_nothing_changes_a_check_reads_nothing(registered: Registered) -> None:
    place = own(Log(7))
    for _ in range(3):
        place.check()
    assert registered.reads == ["all"]


@pytest.mark.parametrize("location", [f"{PLACE}/deeper", str(PLACE), "hdfs://old-name/sales"])
def test_what_is_registered_there_meanwhile_refuses(registered: Registered, location: str) -> None:
    log = Log(7)
    place = own(log)
    place.check()
    registered.places.append((Holder("sales", "near"), location))
    log.add("near")
    with pytest.raises(RuleViolation, match=r"sales\.near is there too") as refused:
        place.check()
    assert refused.value.code == "removal.shared"
    assert registered.reads == ["all", {("sales", "near"): set()}]


def test_a_log_that_says_nothing_has_all_read_again(registered: Registered) -> None:
    place = own(Log(0))
    place.check()
    registered.places.append((Holder("sales", "near"), f"{PLACE}/deeper"))
    with pytest.raises(RuleViolation, match=r"sales\.near"):
        place.check()
    assert registered.reads == ["all", "all", "all"]
