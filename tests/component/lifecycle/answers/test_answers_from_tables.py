"""The list of all tables answers for the ticked ones as Expiring data does."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.backup.models import Hold
from portal.access.models import User
from portal.catalog.models import Table
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.lifecycle.answers.owned_lake import scan_tables, table
from tests.component.portal.ui.table_rows import listed

pytestmark = pytest.mark.django_db
LIST, FORM = "/tables/?lake=main&db=sales", "/lifecycle/answers/"


def client(user: User) -> Client:
    found = Client()
    found.force_login(user)
    return found


@pytest.fixture
def keys(lake: LakeConfig) -> dict[str, int]:
    scan_tables(
        lake,
        table(1),
        table(2),
        table(4, owner="paul"),
        now=timezone.now() - timedelta(minutes=5),
    )
    listed("t3", db="sales")
    return dict(Table.objects.filter(db="sales").values_list("name", "pk"))


def send(user: User, **said: Any) -> Any:
    about = {
        "list": "tables",
        "seen_at": timezone.now().isoformat(),
        "reason": "the audit reads it",
        "next": LIST,
        "answer": "KEEP-30",
    }
    return client(user).post(f"{FORM}?lake=main", {**about, **said}, follow=True)


def test_boxes_are_for_what_one_may_answer(people: People, keys: dict[str, int]) -> None:
    text = client(people.owner).get(LIST).content.decode()
    assert text.count('name="tables" value=') == 2, "t3 is not in the scan, and t4 is paul's"
    assert 'aria-label="Select sales.t1"' in text
    assert 'formaction="/lifecycle/answers/?lake=main"' in text
    assert text.index('id="chosen-tables"') < text.index('name="tables" value=')
    nothing = client(people.operator).get(LIST).content.decode()
    assert 'id="chosen-tables"' not in nothing
    assert 'name="tables"' not in nothing


def test_ticked_tables_are_kept_and_one_stays_on_the_list(
    people: People, keys: dict[str, int]
) -> None:
    answer = send(people.owner, tables=[keys["t1"], keys["t2"]])
    assert answer.redirect_chain[-1][0] == LIST
    assert "Kept 2 tables until" in answer.content.decode()
    assert sorted(Hold.objects.values_list("table", flat=True)) == ["t1", "t2"]


def test_all_of_the_filter_are_those_that_wait_for_me(people: People, keys: dict[str, int]) -> None:
    answer = send(people.owner, everything="on", filter="lake=main&db=sales")
    assert "Kept 2 tables until" in answer.content.decode()
    again = send(people.owner, everything="on", filter="lake=main&db=sales")
    assert again.status_code == 400
    assert "Choose at least one table" in again.content.decode(), "both are answered already"


def test_what_cannot_be_taken_is_shown_again_with_what_was_ticked(
    people: People, keys: dict[str, int]
) -> None:
    refused = send(people.owner, tables=[keys["t1"]], answer="HAND_OVER", to="nobody")
    text = refused.content.decode()
    assert refused.status_code == 400
    assert "Nobody called" in text
    assert f'<input type="hidden" name="tables" value="{keys["t1"]}">' in text
    assert '<input type="hidden" name="list" value="tables">' in text
    gone = send(people.owner, tables=[keys["t1"], keys["t4"]])
    assert "1 of the ticked tables are gone" in gone.content.decode(), "what one may not see"
    assert send(people.owner, everything="on", filter="level=NONSENSE").status_code == 400
    assert not Hold.objects.exists()
