"""Many changes noted at once come to what each of them alone would have come to, one by one."""

import random
from collections.abc import Callable

import pytest
from django.db import transaction
from django.db.models import Model

from portal.lake.names import TableName
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.domain.pressure import Pressure
from refresh.changes.services.record_changes import Change, note_change, record_table_changes
from refresh.freshness.domain.freshness import Danger, Freshness, rank_of
from refresh.models import ChangedPartition, Cluster, RefreshTarget, WatchedTable
from tests.component.refresh.refresh_rows import MAIN, NOW, at, cluster, declared

pytestmark = pytest.mark.django_db
TABLES = [TableName(MAIN, db, table) for db in ("shop", "web") for table in ("sales", "visits")]
UNSHOWN = TableName(TABLES[0].lake.__class__("other"), "shop", "sales")
ROWS: dict[type[Model], tuple[str, ...]] = {
    WatchedTable: ("lake", "db", "table"),
    ChangedPartition: ("table__lake", "table__db", "table__table", "name"),
    RefreshTarget: ("cluster__name", "catalog", "db", "table", "watched__db", "watched__table"),
}
KEYS = {"id", "watched_id", "table_id", "cluster_id"}


def changes(chance: random.Random, n: int) -> list[Change]:
    """Return changes of few tables and partitions, so that many are of the same."""
    found = []
    for _ in range(n):
        names = chance.sample(["dt=1", "dt=2", "dt=3", "dt=4"], chance.randint(0, 3))
        touched = {name: chance.choice(list(PartitionChange)) for name in names}
        whole = not touched or chance.random() < 0.2
        table = chance.choice([*TABLES, UNSHOWN])
        found.append(Change(table, chance.choice(list(Cause)), whole, touched))
    return found


def rows() -> dict[str, list[dict[str, object]]]:
    """Return all that was noted, without the keys that a database makes up."""
    found = {}
    for model, names in ROWS.items():
        fields = [field.attname for field in model._meta.concrete_fields]
        values = model._default_manager.order_by(*names).values(*names, *fields)
        found[model.__name__] = [
            {name: value for name, value in row.items() if name not in KEYS} for row in values
        ]
    return found


def come_to(note: Callable[[], object]) -> dict[str, list[dict[str, object]]]:
    """Return what a way of noting leaves behind, and undo it."""
    with transaction.atomic():
        note()
        found = rows()
        transaction.set_rollback(True)
    return found


def live_on(chance: random.Random) -> None:
    """Let the rows of earlier changes become what a worker and people make of them."""
    for target in RefreshTarget.objects.all():
        freshness, danger = chance.choice(list(Freshness)), chance.choice(list(Danger))
        RefreshTarget.objects.filter(pk=target.pk).update(
            freshness=freshness,
            danger=danger,
            rank=rank_of(freshness, danger),
            due_at=chance.choice([None, NOW]),
            is_urgent=chance.random() < 0.5,
            n_tries=chance.randint(0, 2),
            not_before=chance.choice([None, at(60)]),
        )
    for watched in WatchedTable.objects.all():
        is_opted_out = chance.random() < 0.2
        WatchedTable.objects.filter(pk=watched.pk).update(
            is_opted_out=is_opted_out, causes=["EVENT"]
        )
        if chance.random() < 0.5:
            watched.changed.all().delete()


@pytest.mark.parametrize("seed", range(25))
def test_a_batch_comes_to_what_its_changes_come_to_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    cluster(n_fes=1)
    old = cluster("old", catalog="", n_fes=1)
    for number, table in enumerate(TABLES[:3]):
        declared(old, f"one_{number}", table)
    declared(old, "another", TABLES[0])
    for change in changes(chance, chance.randint(0, 8)):
        note_change(change, now=NOW)
    live_on(chance)
    Cluster.objects.filter(pk=old.pk).update(pressure=chance.choice(list(Pressure)))
    batch = changes(chance, chance.randint(1, 12))

    def one_by_one() -> None:
        for change in batch:
            note_change(change, now=at(5))

    alone = come_to(one_by_one)
    assert come_to(lambda: record_table_changes(batch, now=at(5))) == alone
    chance.shuffle(batch)
    assert come_to(lambda: record_table_changes(batch, now=at(5))) == alone
    assert come_to(lambda: record_table_changes([*batch, *batch], now=at(5))) == alone


def test_what_becomes_updated_by_two_events_is_a_danger_however_they_come() -> None:
    cluster()
    both = [
        Change(TABLES[0], Cause.EVENT, partitions={"dt=1": touch})
        for touch in (PartitionChange.ADDED, PartitionChange.DROPPED)
    ]
    for change in both:
        note_change(change, now=NOW)
    row = RefreshTarget.objects.get()
    assert (row.danger, row.is_urgent) == (Danger.WRONG, True)
