"""Many engines report at the same moment: all is counted, and nobody waits for ever.

tests/integration/whole/test_portal_on_mariadb.py runs this file on MariaDB, where opposite lock
orders end in error 1213.
"""

import copy
from functools import partial
from uuid import UUID

import pytest
from django.db.models import Sum
from django.utils import timezone

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.scan_reports import Scanned
from optimizer.cubes.services.uses import CubeReader
from optimizer.iceberg.indexing.services.uses import ReportedUse
from optimizer.iceberg.tables.services.scans import scan_report
from optimizer.models import IcebergTable, QueryDay, QuerySeconds, ScanDay, SkippedDay
from optimizer.queries.services.taking import trino_query_report
from optimizer.usage.services import ReportMark, TableUse, uses_report
from portal.access.models import User
from tests.component.conftest import People
from tests.component.optimizer.optimizer_rows import iceberg
from tests.golden.trino import event
from tests.support.together import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("lake")]
WORKERS, TURNS = 6, 8
JOIN = "SELECT count(*) FROM lake.shop.ev WHERE uid = 40"


@pytest.fixture
def tables(people: People) -> list[IcebergTable]:
    now = timezone.now()
    made = [iceberg(name, now=now, owner="olga") for name in ("ev", "dim", "clicks", "views")]
    for row in made:
        row.index_coverage.create(
            field_id=1, column="id", wanted="bloom", place=0, n_files=1, n_covered=1, n_refused=0,
            n_rows=1, n_bytes=1, at=now,
        )  # fmt: skip
    return made


def scans(tables: list[IcebergTable], worker: int) -> None:
    one = Scanned((Filter("id", FilterKind.EQUAL),), 3, 1, 300, "spark")
    for turn in range(TURNS):
        scan_report(tables[(worker + turn) % len(tables)], one, now=timezone.now())


def queries(user: User, worker: int) -> None:
    for turn in range(TURNS):
        said = copy.deepcopy(event(JOIN))
        said["metadata"]["queryId"] = f"q_{worker}_{turn}"
        trino_query_report("main", said, catalog="lake", user=user, now=timezone.now())


def uses(tables: list[IcebergTable], user: User, worker: int) -> None:
    kinds = ("bloom", "bitmap") if worker % 2 else ("bitmap", "bloom")
    said = [
        TableUse(row.uuid, tuple(ReportedUse("id", kind, 1, 2, 10) for kind in kinds))
        for row in tables
    ]
    for turn in range(TURNS):
        mark = ReportMark(UUID(int=worker + 1), turn + 1)
        uses_report(
            "main", said, reader=CubeReader("spark"), mark=mark, user=user, now=timezone.now()
        )


def test_reports_of_many_workers_are_all_counted(
    people: People, tables: list[IcebergTable]
) -> None:
    together(
        *(partial(scans, tables, worker) for worker in range(WORKERS)),
        *(partial(queries, people.owner, worker) for worker in range(WORKERS)),
        *(partial(uses, tables, people.owner, worker) for worker in range(WORKERS)),
    )
    n_each = WORKERS * TURNS
    assert ScanDay.objects.aggregate(n=Sum("n_scans"))["n"] == 2 * n_each
    dropped = SkippedDay.objects.values_list("cause").annotate(n=Sum("n_bytes")).order_by("cause")
    each = 10 * len(tables) * n_each
    assert list(dropped) == [("bitmap", each), ("bloom", each)]
    assert QueryDay.objects.get().n_queries == n_each
    assert sum(QuerySeconds.objects.get().counts.values()) == n_each
