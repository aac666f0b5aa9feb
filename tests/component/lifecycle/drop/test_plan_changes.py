"""What reviewers of a drop plan compare: the last plan of its tables, and the due ranges."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from lifecycle.drop.selectors.changes import due_ranges
from lifecycle.drop.services.plans import PLANS
from lifecycle.drop.services.store import plan_parts_write
from lifecycle.inventory.models.findings import PartitionRange
from lifecycle.models import DropPlan, DropPlanTable, ScanSnapshot, TableFinding
from portal.access.models import User
from portal.approvals.changes import Share
from portal.runs.models import Run
from tests.component.conftest import LAKE, NOW, People

pytestmark = pytest.mark.usefixtures("lake")


def plan_of(*tables: tuple[str, int, str], day: int, **fields: Any) -> DropPlan:
    """Make a plan of tables with so many items each, and the digest of their lines."""
    plan = DropPlan.objects.create(
        lake=LAKE, state="DONE", requested_by="ada", reason=f"day {day}", digest="d" * 64,
        items_sha256="a" * 64, created_at=NOW + timedelta(days=day), n_tables=len(tables),
        n_items=sum(n for _, n, _ in tables), **fields,
    )  # fmt: skip
    for table, n, digest in tables:
        DropPlanTable.objects.create(
            plan=plan, lake=LAKE, db="sales", table=table, tbl_id=7, kind="PARTITION",
            owner="olga" if table == "orders" else "stan",
            n_items=n, n_bytes=n * 100, digest=digest,
        )  # fmt: skip
    plan_parts_write(plan)
    return plan


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_plan_is_compared_with_the_last_one_of_its_tables(people: People) -> None:
    plan_of(("orders", 9, "z"), day=0)
    last = plan_of(("orders", 3, "a"), ("carts", 2, "b"), ("old", 4, "c"), day=1)
    plan_of(("other", 9, "z"), day=2)
    plan = plan_of(("orders", 5, "x"), ("carts", 2, "b"), ("new", 1, "y"), day=3)
    found = PLANS.changes(plan, people.admin)
    assert found is not None
    assert found.previous == last
    assert (found.now, found.before) == (Share(3, 8, 800), Share(3, 9, 900))
    assert (found.new, found.gone) == (Share(1, 1, 100), Share(1, 4, 400))
    assert (found.n_unchanged, found.items_more, found.bytes_more) == (1, -1, -100)
    theirs = PLANS.changes(plan, people.owner)
    assert theirs is not None
    assert (theirs.now, theirs.before) == (Share(1, 5, 500), Share(1, 3, 300))
    assert (theirs.new, theirs.gone) == (Share(0, 0, 0), Share(0, 0, 0))


def test_the_first_plan_of_a_table_has_nothing_to_be_compared_with(people: People) -> None:
    DropPlan.objects.filter(pk=plan_of(("orders", 1, "a"), day=0).pk).update(state="DRAFTING")
    plan = plan_of(("orders", 5, "x"), day=1)
    assert PLANS.changes(plan, people.admin) is None
    api = f"/api/v1/lifecycle/plans/{plan.pk}/changes/"
    assert client_of(people.admin).get(api).json()["previous"] is None
    assert client_of(people.dba).get(api).status_code == 404


def test_the_comparison_costs_the_same_for_many_tables(people: People) -> None:
    def cost(n: int, day: int) -> int:
        tables = [(f"t{one}", 1, "a") for one in range(n)]
        plan_of(*tables, day=day)
        plan = plan_of(*tables, day=day + 1)
        with CaptureQueriesContext(connection) as queries:
            PLANS.changes(plan, people.admin)
        return len(queries)

    assert people.admin.is_lake_staff_of("")  # asked once for all
    assert cost(1, 0) == cost(60, 2) == 8


@pytest.fixture
def scanned(people: People) -> DropPlan:
    """A plan from a scan that saw two due ranges and one that is not."""
    run = Run.objects.create(lake=LAKE, kind="lifecycle.scan", requested_by="test", queued_at=NOW)
    generation = ScanSnapshot.objects.create(
        lake=LAKE, run=run, day=NOW.date(), as_of=NOW, read_at=NOW, notification_id=1
    )
    finding = TableFinding.objects.create(
        generation=generation, lake=LAKE, db="sales", table="orders", tbl_id=7, owner="olga",
        mode="ACT", table_type="EXTERNAL_TABLE",
    )  # fmt: skip
    for cls, first, last, n in (
        ("CLEAN_NOW", "dt=2026-01-01", "dt=2026-01-30", 30),
        ("STILL_READ", "dt=2026-02-01", "dt=2026-02-01", 1),
        ("NOT_NOW", "dt=2026-11-01", "dt=2026-11-19", 19),
    ):
        PartitionRange.objects.create(
            table=finding, generation=generation, cls=cls, first=first, last=last, n_items=n
        )
    return plan_of(("orders", 30, "a"), day=0, generation=generation)


def test_a_table_of_a_plan_unfolds_to_its_due_ranges(people: People, scanned: DropPlan) -> None:
    row = scanned.tables.get()
    with CaptureQueriesContext(connection) as queries:
        assert [one.n_items for one in due_ranges(row)] == [30, 1]
    assert len(queries) == 1
    page = client_of(people.admin).get(f"/lifecycle/plans/{scanned.pk}/").content.decode()
    address = f"/lifecycle/plans/{scanned.pk}/sales/orders/ranges/"
    assert 'hx-select="unset"' in page[page.index(f'hx-get="{address}"') :].partition(">")[0]
    text = client_of(people.owner).get(address).content.decode()
    assert "<code>dt=2026-01-01</code> to <code>dt=2026-01-30</code>: 30 items" in text
    assert "Due at the scan: 31. The plan takes 30 of them" in text
    assert client_of(people.stranger).get(address).status_code == 404
    api = f"/api/v1/lifecycle/plans/{scanned.pk}/tables/sales/orders/ranges/"
    answer = client_of(people.admin).get(api).json()
    assert [one["status"] for one in answer] == ["CLEAN_NOW", "STILL_READ"]
    assert client_of(people.stranger).get(api).status_code == 404
    PartitionRange.objects.all().delete()
    assert "not kept any more" in client_of(people.owner).get(address).content.decode()
