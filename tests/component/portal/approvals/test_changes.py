"""Every kind of proposal beside the last one of the same tables, unfolded to partition ranges."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from lifecycle.models import (
    EnrollmentItem,
    PartitionRange,
    PolicyRequest,
    RelocationMove,
    ScanSnapshot,
    TableFinding,
)
from portal.access.models import User
from portal.approvals.changes import Share
from portal.lake.errors import PortalError
from tests.component.conftest import LAKE, NOW, People
from tests.component.portal.approvals.proposal_rows import CASES

pytestmark = pytest.mark.usefixtures("lake")
LATER = NOW + timedelta(days=1)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def compared(name: str, older: Any, newer: Any, user: User) -> Any:
    """Return the comparison, after a look at page and API."""
    case = CASES[name]
    found = case.kind.changes(newer, user)
    assert found is not None
    assert found.previous == older
    page = client_of(user).get(case.kind.url_of(newer)).content.decode()
    assert "Since the last one" in page
    assert f'href="{case.kind.url_of(older)}"' in page
    api = f"/api/v1/approvals/{case.kind.name}/{newer.pk}/changes/"
    said = client_of(user).get(api).json()
    assert (said["previous"], said["url"]) == (str(older.pk), case.kind.url_of(older))
    assert case.kind.changes(older, user) is None
    assert client_of(user).get(api.replace(str(newer.pk), str(older.pk))).json()["previous"] is None
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_kind_names_the_last_one_of_the_same_table(people: People, name: str) -> None:
    case = CASES[name]
    older: Any = case.ask("ada", NOW, 0)
    newer: Any
    if name == "removal":  # another list of the same table
        newer = type(older).objects.get(pk=older.pk)
        newer.pk, newer.created_at, newer.n_items = uuid4(), LATER, 7
        newer.state, newer.approval = "FAILED", None
        newer.save(force_insert=True)
    else:
        newer = case.ask("ada", LATER, 1)
    found = compared(name, older, newer, people.admin)
    if name == "removal":
        assert (found.now.n_items, found.before.n_items) == (7, older.n_items)
    if name == "standing rule":
        assert (found.now, found.before) == (Share(1, 2, 1), Share(1, 1, 1))
    if name == "policy request":
        assert found.now is None
        other = PolicyRequest.objects.filter(pk=older.pk)
        other.update(table="carts")
        assert case.kind.changes(newer, people.admin) is None
    stranger = client_of(people.stranger)
    api = f"/api/v1/approvals/{case.kind.name}/{newer.pk}/changes/"
    assert stranger.get(api).status_code == 404


def relocation(at: datetime, *moves: tuple[str, str, int], n: int) -> Any:
    """Make a plan of moves: table, partition and bytes."""
    fix: Any = CASES["relocation plan"].ask("ada", at, n)
    fix.items.all().delete()
    for table, partition, n_bytes in moves:
        RelocationMove.objects.create(
            fix=fix, lake=LAKE, kind="PARTITION" if partition else "TABLE", db="sales",
            table=table, partition=partition, owner="olga" if table == "orders" else "stan",
            source=f"/old/{table}/{partition}", target=f"/new/{table}/{partition}",
            n_bytes=n_bytes, state="PLANNED", n_partitions=0 if partition else 3,
        )  # fmt: skip
    RelocationMove.objects.create(
        fix=fix, lake=LAKE, kind="TABLE", db="sales", table="left", state="LEFT_OUT", n_bytes=9
    )
    return fix


def test_relocations_are_compared_by_path(people: People) -> None:
    older = relocation(NOW, ("orders", "dt=1", 5), ("orders", "dt=2", 6), ("carts", "", 7), n=0)
    newer = relocation(LATER, ("orders", "dt=2", 6), ("orders", "dt=3", 8), ("new", "", 1), n=1)
    found = compared("relocation plan", older, newer, people.admin)
    assert (found.now, found.before) == (Share(2, 3, 15), Share(2, 3, 18))
    assert (found.new, found.gone) == (Share(1, 1, 1), Share(1, 1, 7))
    assert (found.n_unchanged, found.items_more, found.bytes_more) == (1, 0, -3)
    theirs = CASES["relocation plan"].kind.changes(newer, people.owner)
    assert theirs is not None
    assert (theirs.now, theirs.new) == (Share(1, 2, 14), Share(0, 0, 0))


def test_enrollments_are_compared_by_table(people: People) -> None:
    older: Any = CASES["enrolment"].ask("ada", NOW, 0)
    newer: Any = CASES["enrolment"].ask("ada", LATER, 1)
    older.items.update(n_items=4, bytes_now=40)
    newer.items.update(n_items=6, bytes_now=60)
    EnrollmentItem.objects.create(enrollment=newer, db="sales", table="carts", tbl_id=2, n_items=1)
    kind = CASES["enrolment"].kind
    found = kind.changes(newer, people.admin)
    assert found is not None
    assert (found.now, found.before) == (Share(2, 7, 60), Share(1, 4, 40))
    assert (found.new, found.n_unchanged) == (Share(1, 1, 0), 0)


def scanned(generation: ScanSnapshot, table: str) -> None:
    """Let a scan have seen two ranges of a table."""
    finding = TableFinding.objects.create(
        generation=generation, lake=LAKE, db="sales", table=table, tbl_id=1, owner="olga",
        mode="ACT", table_type="EXTERNAL_TABLE",
    )  # fmt: skip
    for first, last, n in (("dt=2026-01-01", "dt=2026-01-30", 30), ("dt=2026-03-01",) * 2 + (1,)):
        PartitionRange.objects.create(
            table=finding, generation=generation, cls="NOT_ENROLLED", first=first, last=last,
            n_items=n, n_bytes=n * 10,
        )  # fmt: skip


def test_a_table_of_an_enrollment_unfolds_to_what_its_scan_saw(people: People) -> None:
    found: Any = CASES["enrolment"].ask("ada", NOW, 0)
    scanned(found.generation, "orders")
    name = f"{CASES['enrolment'].kind.name}/{found.pk}/ranges/sales/orders/"
    client = client_of(people.second)
    page = client.get(CASES["enrolment"].kind.url_of(found)).content.decode()
    # The list around it selects #list in what it loads, which this is not.
    unfold = page[page.index(f'hx-get="/approvals/{name}"') :].partition(">")[0]
    assert 'hx-select="unset"' in unfold
    words = "<code>dt=2026-01-01</code> to <code>dt=2026-01-30</code>: 30 items"
    whole = client.get(f"/approvals/{name}").content.decode()
    part = client.get(f"/approvals/{name}", headers={"HX-Request": "true"}).content.decode()
    assert words in whole
    assert words in part
    assert "<h1>" in whole
    assert "<h1>" not in part
    said = client.get(f"/api/v1/approvals/{name}").json()
    assert [one["n_items"] for one in said] == [30, 1]
    assert set(said[0]) == {"first", "last", "n_items", "n_bytes", "note"}
    refused = client.get(f"/api/v1/approvals/{name.replace('orders', 'nothing')}")
    assert (refused.status_code, refused.json()["code"]) == (404, "approval.table")
    assert client_of(people.stranger).get(f"/approvals/{name}").status_code == 404


def test_a_table_that_moves_unfolds_and_partitions_stand_for_themselves(people: People) -> None:
    found = relocation(NOW, ("orders", "", 5), ("carts", "dt=1", 6), ("carts", "dt=2", 7), n=0)
    enrolled: Any = CASES["enrolment"].ask("ada", NOW, 3)
    scanned(enrolled.generation, "orders")
    found.generation = enrolled.generation
    found.save()
    kind = CASES["relocation plan"].kind
    page = client_of(people.admin).get(kind.url_of(found)).content.decode()
    assert f"/approvals/{kind.name}/{found.pk}/ranges/sales/orders/" in page
    assert "/ranges/sales/carts/" not in page
    seen = kind.ranges_for_user(found, "sales", "orders", user=people.owner)
    assert [one.n_items for one in seen] == [30, 1]
    alone = kind.ranges_for_user(found, "sales", "carts", user=people.admin)
    assert [(one.first, one.n_bytes) for one in alone] == [("dt=1", 6), ("dt=2", 7)]
    for table in ("carts", "left"):
        with pytest.raises(PortalError) as refused:
            kind.ranges_for_user(found, "sales", table, user=people.owner)
        assert refused.value.code == "approval.table"


def test_a_comparison_costs_the_same_for_many_paths(people: People) -> None:
    kind = CASES["relocation plan"].kind

    def cost(n: int, day: int) -> int:
        moves = [(f"t{one}", "", 1) for one in range(n)]
        relocation(NOW + timedelta(days=day), *moves, n=day)
        newer = relocation(NOW + timedelta(days=day + 1), *moves, n=day + 1)
        with CaptureQueriesContext(connection) as queries:
            kind.changes(newer, people.admin)
        return len(queries)

    assert people.admin.is_lake_staff_of("")
    assert cost(1, 0) == cost(60, 2) == 8
