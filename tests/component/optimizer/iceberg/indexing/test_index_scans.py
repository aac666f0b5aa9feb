"""What recorded scans ask for decides which kind of index `auto` builds."""

from datetime import timedelta

import pytest

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.scan_reports import Scanned
from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.access.jobs.orders import Order
from optimizer.iceberg.indexing.domain.wanted import parse_all_wanted
from optimizer.iceberg.indexing.selectors import recorded_uses
from optimizer.iceberg.planner.services.maintainer import orders_of
from optimizer.iceberg.tables.services.scans import scan_report
from optimizer.indexes.domain.choice.kinds import Use
from optimizer.models import IcebergTable, OptimizeTask
from optimizer.policies.services.policies import PolicyChange, policy_set
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import NOW, iceberg, task

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def table() -> IcebergTable:
    return iceberg("lines", columns={"id": "long", "Message": "string", "ms": "int"})


def scan(table: IcebergTable, column: str, kind: FilterKind, n: int, *, days: int = 0) -> None:
    scanned = Scanned((Filter(column, kind),), 9, 0, 900, "trino")
    for _ in range(n):
        scan_report(table, scanned, now=NOW - timedelta(days=days))


def uses(table: IcebergTable, *wanted: str) -> dict[str, list[str]]:
    return recorded_uses(table, parse_all_wanted(wanted), now=NOW)


def test_a_text_that_is_searched_is_told_from_one_that_is_compared(table: IcebergTable) -> None:
    scan(table, "message", FilterKind.CONTAINS, 19)
    assert uses(table, "Message") == {}, "so few scans tell nothing"
    scan(table, "message", FilterKind.EQUAL, 5, days=3)
    scan(table, "ms", FilterKind.RANGE, 30)
    assert uses(table, "Message", "ms") == {"message": ["part"], "ms": ["range"]}
    assert uses(table, "Message:bloom", "ms:bloomrf") == {}, "the kind is named already"
    scan(table, "message", FilterKind.EQUAL, 20)
    assert uses(table, "Message") == {"message": ["point"]}


def test_scans_of_long_ago_ask_for_nothing(table: IcebergTable) -> None:
    scan(table, "ms", FilterKind.RANGE, 40, days=30)
    assert uses(table, "ms") == {}


def test_the_job_is_told_how_columns_are_asked_for(people: People, table: IcebergTable) -> None:
    scan(table, "message", FilterKind.CONTAINS, 25)
    change = PolicyChange("main", "shop.lines", {"index_columns": ["id", "Message"]}, 0, "because")
    policy_set(change, user=people.owner, now=NOW)
    row = task(table, kind=TaskKind.INDEX)
    (order,) = orders_of("main", OptimizeTask.objects.filter(pk=row.pk), now=NOW)
    assert Order.read(order).index_uses == {"message": {Use.PART}}
