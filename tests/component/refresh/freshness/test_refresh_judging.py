"""How a table stands is written for each front end, and at its worst for the table."""

from datetime import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.lake.names import TableName
from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.changes.services.record_changes import Change, note_change
from refresh.freshness.domain.coverage import CompletedRefresh, write_done
from refresh.freshness.domain.freshness import Danger, Freshness
from refresh.freshness.selectors.records import changes_of, records_of
from refresh.freshness.services.freshness import judge
from refresh.models import ClusterFrontEnd, RefreshTarget, TargetFrontEnd, WatchedTable
from tests.component.refresh.refresh_rows import MAIN, NOW, SALES, at, cluster

pytestmark = pytest.mark.django_db


def note(
    table: TableName = SALES, *, now: datetime = NOW, **partitions: PartitionChange
) -> RefreshTarget:
    names = {name.replace("_", "="): touch for name, touch in partitions.items()}
    note_change(Change(table, Cause.EVENT, whole=not names, partitions=names), now=now)
    return RefreshTarget.objects.get(table=table.table)


def did(target: RefreshTarget, name: str, *done: CompletedRefresh) -> None:
    fe = ClusterFrontEnd.objects.get(name=name)
    TargetFrontEnd.objects.update_or_create(
        target=target, fe=fe, defaults={"done": write_done(done), "done_at": done[-1].ended_at}
    )


def judged(target: RefreshTarget) -> RefreshTarget:
    judge([target])
    return RefreshTarget.objects.get(pk=target.pk)


def test_rows_become_what_the_domain_knows() -> None:
    cluster()
    target = note(dt_1=PartitionChange.UPDATED)
    ClusterFrontEnd.objects.filter(name="bi-fe1").update(empty_after=at(9), version="2.2.9")
    did(target, "bi-fe0", CompletedRefresh(at(1), at(2), frozenset({"dt=1"})))
    TargetFrontEnd.objects.update(diverged_at=at(3), divergence_reason="2 of 3")
    changes = changes_of(WatchedTable.objects.get())
    assert changes.partitions == {"dt=1": (NOW, PartitionChange.UPDATED)}
    assert (changes.is_partitioned, changes.table_changed_at, changes.tracked_since) == (
        True,
        None,
        NOW,
    )
    first, second = records_of(target)
    assert first.done == (CompletedRefresh(at(1), at(2), frozenset({"dt=1"})),)
    assert first.divergence is not None
    assert (first.name, first.divergence.reason) == ("bi-fe0", "2 of 3")
    assert (second.name, second.done, second.empty_after) == ("bi-fe1", (), at(9))


def test_the_worst_live_front_end_speaks_for_the_table() -> None:
    cluster()
    target = note(dt_1=PartitionChange.UPDATED)
    did(target, "bi-fe0", CompletedRefresh(at(1), at(2)))
    row = judged(target)
    assert (row.freshness, row.danger, row.stale_since) == (Freshness.STALE, Danger.WRONG, NOW)
    assert row.reason == "127.0.0.3:9030: Changed and not refreshed since: dt=1."
    assert row.refreshed_at is None
    found = dict(TargetFrontEnd.objects.values_list("fe__name", "freshness"))
    assert found == {"bi-fe0": Freshness.FRESH, "bi-fe1": Freshness.STALE}


def test_a_table_is_refreshed_when_nobody_alive_owes_anything() -> None:
    cluster()
    target = note(dt_1=PartitionChange.UPDATED)
    did(target, "bi-fe0", CompletedRefresh(at(1), at(2)))
    ClusterFrontEnd.objects.filter(name="bi-fe1").update(is_alive=False, error="refused")
    row = judged(target)
    assert (row.freshness, row.danger) == (Freshness.FRESH, Danger.NONE)
    assert (row.refreshed_at, row.stale_since) == (at(2), None)
    assert judged(row).refreshed_at == at(2)
    assert TargetFrontEnd.objects.get(fe__name="bi-fe0").done_at == at(2)


def test_a_cluster_without_a_live_front_end_is_unknown() -> None:
    cluster()
    target = note()
    ClusterFrontEnd.objects.update(is_alive=False, error="refused")
    row = judged(target)
    assert (row.freshness, row.danger) == (Freshness.UNKNOWN, Danger.UNKNOWN)
    assert "None of the cluster's front ends" in row.reason


def test_opted_out_and_gone_tables_are_said_so() -> None:
    cluster()
    target = note()
    WatchedTable.objects.update(
        is_opted_out=True, opted_out_by="olga", opted_out_reason="a scratch table"
    )
    assert judged(target).reason.startswith("Opted out by olga (a scratch table)")
    WatchedTable.objects.update(is_opted_out=False, is_deleted=True)
    assert judged(target).reason.startswith("The metastore has it no more.")


def test_many_tables_cost_no_more_queries_than_one() -> None:
    cluster(n_fes=3)
    for number in range(7):
        note(TableName(MAIN, "shop", f"t{number}"), dt_1=PartitionChange.ADDED)

    def cost(targets: list[RefreshTarget]) -> int:
        with CaptureQueriesContext(connection) as asked:
            judge(targets)
        return len(asked)

    every = list(RefreshTarget.objects.all())
    assert cost(every) == cost(every[:1])
