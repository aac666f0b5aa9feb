"""The home page draws the largest tables by database, size and class; all others are one area."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from lifecycle.inventory.selectors import sizes
from lifecycle.models import ScanSnapshot, TableFinding
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.lifecycle.answers.owned_lake import scan_tables, table
from tests.component.portal.ui.test_home_pictures import client_of, picture, table_of

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024


def measured(name: str, **classes: int) -> None:
    """Let a table have these MiB in its classes."""
    found = {cls: n * MIB for cls, n in classes.items()}
    rows = TableFinding.objects.filter(table=name)
    assert rows.update(class_bytes=found, n_bytes=sum(found.values())) == 1


@pytest.fixture
def lake_of_four(lake: LakeConfig) -> None:
    tables = (table(1), table(2), table(3, owner="paul"), table(4, owner="paul"))
    scan_tables(lake, *tables, now=timezone.now())
    measured("t1", CLEAN_NOW=3, NOT_NOW=1)
    measured("t2", HELD=1, KEEP_FOREVER=1)
    measured("t3", NOT_ENROLLED=8)
    TableFinding.objects.filter(table="t4").update(n_bytes=None, class_bytes={})
    classes = {"CLEAN_NOW": 3, "NOT_NOW": 1, "HELD": 1, "KEEP_FOREVER": 1, "NOT_ENROLLED": 8}
    ScanSnapshot.objects.update(
        totals={"classes": {cls: {"n": 1, "bytes": n * MIB} for cls, n in classes.items()}}
    )


@pytest.mark.usefixtures("lake_of_four")
def test_each_table_is_divided_by_class_and_the_table_has_the_same(people: People) -> None:
    page = picture(client_of(people.admin), "tables-by-size")
    assert table_of(page) == {
        "sales.t3": ["0 B", "0 B", "0 B", "8.0 MiB", "8.0 MiB"],
        "sales.t1": ["3.0 MiB", "0 B", "1.0 MiB", "0 B", "4.0 MiB"],
        "sales.t2": ["0 B", "2.0 MiB", "0 B", "0 B", "2.0 MiB"],
    }
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page)
    assert heads == ["Table", "Due", "Kept", "Not due", "Other", "All"]
    assert "<title>sales.t1: 4.0 MiB (Due 3.0 MiB, Not due 1.0 MiB)</title>" in page
    assert page.count("<title>sales.") == 4, "a piece for each class"
    assert 'role="img"' in page
    assert "style=" not in page
    assert "data-lw-chart" not in page
    assert 'href="/tables/?lake=main&amp;cols=size%2Cpartitions%2Cdue%2Cowner"' in page


@pytest.mark.usefixtures("lake_of_four")
def test_what_is_not_shown_is_one_area_and_owners_see_their_own(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "LARGEST", 1)
    whole = table_of(picture(client_of(people.admin), "tables-by-size"))
    assert whole["sales.t3"][-1] == "8.0 MiB"
    assert whole["All other tables"] == ["3.0 MiB", "2.0 MiB", "1.0 MiB", "0 B", "6.0 MiB"]
    mine = table_of(picture(client_of(people.owner), "tables-by-size"))
    assert mine == {
        "sales.t1": ["3.0 MiB", "1.0 MiB", "0 B", "4.0 MiB"],
        "All other tables": ["0 B", "0 B", "2.0 MiB", "2.0 MiB"],
    }
    assert "nothing to draw yet" in picture(client_of(people.stranger), "tables-by-size")


@pytest.mark.usefixtures("lake_of_four")
def test_the_largest_come_from_an_index(people: People) -> None:
    with CaptureQueriesContext(connection) as caught:
        assert sizes.sizes_of("main", people.admin) is not None
    assert len(caught) <= 3  # one of them are the rights of a person
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {caught[-1]['sql']}")
            plan = " ".join(str(row[-1]) for row in cursor.fetchall())
        assert "table_finding_largest" in plan
        assert "TEMP B-TREE" not in plan


def test_without_a_scan_there_is_nothing_to_draw(people: People, lake: LakeConfig) -> None:
    assert "nothing to draw yet" in picture(client_of(people.admin), "tables-by-size")
