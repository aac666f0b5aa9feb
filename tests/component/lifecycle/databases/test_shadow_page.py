"""What observing would have done: counted from pictures, read before a database is moved on."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from django.test import Client

from lifecycle.databases.selectors.dry_run import dry_run_of, dry_run_summary, dry_run_tables
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import DryRunRecord, DryRunTable
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.scanned import PICTURE, scan, set_mode
from tests.support.scan_results import Item, Table

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
OLD = datetime(2026, 8, 1, tzinfo=NOW.tzinfo)
As = Callable[[User], Client]


def table(name: str, tbl_id: int, *items: Item) -> Table:
    return Table("sales", name, tbl_id, owner="olga", items=items)


def due(part: str, *, read: datetime | None = None, size: int = 1_000) -> Item:
    return Item(ExpiryClass.CLEAN_NOW, part, OLD, read=read, size=size)


def days(lake: LakeConfig, *pictures: tuple[Table, ...]) -> None:
    """Scan one picture a day."""
    for number, tables in enumerate(pictures):
        owners = {"sales": "sara"}
        scan(
            lake,
            replace(PICTURE, owners=owners, tables=tables, findings=()),
            now=NOW + number * DAY,
        )


@pytest.fixture
def as_(people: People) -> As:
    """Return a client that is signed in as somebody."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


def test_a_write_a_read_and_a_table_made_anew_count_as_used_again(lake: LakeConfig) -> None:
    written, read, still, made = (due(f"dt={n}", size=n * 100) for n in (1, 2, 3, 4))
    first = (table("a", 1, written, read, still), table("b", 2, made))
    second = (
        table(
            "a",
            1,
            replace(written, cls=ExpiryClass.NOT_NOW, updated=NOW + DAY),
            replace(read, cls=ExpiryClass.STILL_READ, read=NOW),
            still,
            due("dt=9", size=5),
        ),
        # Dropped and made again under its name: other ids, newer data.
        table("b", 99, replace(made, cls=ExpiryClass.NOT_NOW, updated=NOW + DAY)),
    )
    days(lake, first, second, second)
    one, two, three = dry_run_of(LAKE, "sales")
    assert (one.n_due, one.n_new, one.n_bytes_new, one.n_bytes_again) == (4, 4, 1_000, 0)
    assert (two.n_due, two.n_new, two.n_bytes_new) == (2, 1, 5)
    assert (two.n_written_again, two.n_read_again, two.n_bytes_again) == (2, 1, 700)
    assert sorted(two.examples) == ["sales.a dt=1", "sales.a dt=2", "sales.b dt=4"]
    assert (three.n_new, three.n_written_again, three.n_read_again) == (0, 0, 0)

    summary = dry_run_summary([one, two, three])
    assert (summary.n_days, summary.n_gone, summary.n_used) == (3, 5, 3)
    assert (summary.percent_used, summary.tone, summary.n_bytes_used) == (60.0, "bad", 700)
    rows = {row["table"]: row for row in dry_run_tables(LAKE, "sales")}
    assert (rows["a"]["gone"], rows["a"]["written"], rows["a"]["read"]) == (4, 1, 1)
    assert (rows["b"]["gone"], rows["b"]["written"], rows["b"]["read"]) == (1, 1, 0)
    for name in ("n_new", "n_written_again", "n_read_again", "n_bytes_new", "n_bytes_again"):
        of_tables = sum(getattr(row, name) for row in DryRunTable.objects.all())
        assert of_tables == sum(getattr(row, name) for row in (one, two, three)), name


def test_a_day_that_is_scanned_twice_stands_once(lake: LakeConfig) -> None:
    picture = (table("a", 1, due("dt=1")),)
    days(lake, picture)
    scan(
        lake, replace(PICTURE, owners={"sales": "s"}, tables=picture), now=NOW + timedelta(hours=1)
    )
    assert DryRunRecord.objects.filter(db="sales").count() == 1
    assert DryRunTable.objects.get().n_new == 1


def test_old_days_fall_out_and_a_database_in_act_is_not_shadowed(lake: LakeConfig) -> None:
    picture = (table("a", 1, due("dt=1")),)
    days(lake, picture)
    set_mode("sales", "ACT")
    scan(lake, replace(PICTURE, owners={"sales": "s"}, tables=picture), now=NOW + 31 * DAY)
    assert not DryRunRecord.objects.filter(db="sales").exists()
    assert not DryRunTable.objects.exists()


def test_an_admin_reads_the_record_before_moving_a_database_on(
    lake: LakeConfig, people: People, as_: As
) -> None:
    database, url = "/lifecycle/databases/sales/", "/lifecycle/databases/sales/shadow/"
    days(lake, (table("a", 1),))
    assert "nobody knows" not in as_(people.admin).get(database).content.decode()
    first = (table("a", 1, due("dt=1"), due("dt=2")),)
    second = (table("a", 1, due("dt=1"), replace(due("dt=2"), read=NOW)),)
    days(lake, first, second)
    text = as_(people.admin).get(database).content.decode()
    assert "2 items would have been dropped; 1 of them were written or read again" in " ".join(
        text.split()
    )
    assert url in text
    page = as_(people.admin).get(url)
    assert page.context["shadow"].n_used == 1
    assert [row["table"] for row in page.context["tables"]] == ["a"]
    assert "50.0 %" in page.content.decode()
    csv = as_(people.admin).get(url + "?format=csv").getvalue().decode()
    assert csv.splitlines()[1].startswith("sales,a,2,2000,0,1")
    shown = as_(people.admin).get("/api/v1/lifecycle/databases/sales/shadow/summary/").json()
    assert (shown["n_gone"], shown["n_used"], shown["tables"][0]["read"]) == (2, 1, 1)
    assert as_(people.owner).get(url).status_code == 404


def test_a_database_without_a_record_says_what_to_do(
    lake: LakeConfig, people: People, as_: As
) -> None:
    set_mode("sales", "ACT")
    days(lake, (table("a", 1),))
    text = as_(people.admin).get("/lifecycle/databases/sales/shadow/").content.decode()
    assert "No dry-run record" in text
