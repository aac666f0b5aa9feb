"""The API and the page's form take one answer for many tables and say what came of each."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.backup.models import Hold
from lifecycle.models import PolicyRequest, TableFinding
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.lifecycle.answers.owned_lake import FRESH, scan_tables, table

pytestmark = pytest.mark.django_db
API, FORM = "/api/v1/lifecycle/answers/", "/lifecycle/answers/"
WHY = {"reason": "the audit reads it"}


@pytest.fixture(autouse=True)
def picture(lake: LakeConfig, people: People) -> None:
    """Two due tables of olga's, one that is not due, and one of paul's."""
    scan_tables(
        lake, table(1), table(2), table(3, FRESH), table(4, owner="paul"), now=timezone.now()
    )


def client(user: User) -> Client:
    found = Client()
    found.force_login(user)
    return found


def post(user: User, **said: Any) -> Any:
    return client(user).post(API, {**WHY, **said}, content_type="application/json")


def test_the_api_answers_for_named_tables_and_says_what_came_of_each(people: People) -> None:
    tables = ["sales.t1", "sales.t3", "sales.t4"]
    answer = post(people.owner, tables=tables, answer="KEEP", days=30)
    assert answer.status_code == 200, answer.content
    told = answer.json()
    assert [(one["table"], one["outcome"], one["code"]) for one in told["answers"]] == [
        ("t1", "DONE", ""), ("t3", "REFUSED", "extension.not_due"),
        ("t4", "REFUSED", "table.missing"),
    ]  # fmt: skip
    assert (told["n_done"], told["n_refused"], told["run"]) == (1, 2, None)
    assert told["message"].startswith("Kept 1 of 3 tables until ")
    assert told["told"] == told["message"], "the former name stays for this release"


def test_the_api_answers_for_a_filter(people: People) -> None:
    told = post(people.owner, filter={"show": "week"}, answer="KEEP", days=30).json()
    assert [one["table"] for one in told["answers"]] == ["t1", "t2"]
    empty = post(people.owner, filter={"show": "week"}, answer="KEEP", days=30)
    assert (empty.status_code, empty.json()["code"]) == (400, "answers.nothing")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"answer": "KEEP", "days": 30}, "answers.choice"),
        ({"answer": "KEEP", "days": 30, "tables": ["t1"]}, "name.table"),
        ({"answer": "KEEP", "tables": ["sales.t1"]}, "extension.days"),
        ({"answer": "HAND_OVER", "to": "x", "tables": ["sales.t1"]}, "policy.owner"),
    ],
)
def test_the_api_refuses_what_is_wrong_for_all(
    people: People, data: dict[str, Any], code: str
) -> None:
    answer = post(people.owner, **data)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert not PolicyRequest.objects.exists()


def form(user: User, *tables: str, **said: Any) -> Any:
    keys = TableFinding.objects.filter(table__in=tables).values_list("pk", flat=True)
    body = {**WHY, "rows": list(keys), "seen_at": timezone.now().isoformat(), **said}
    return client(user).post(FORM, body)


def test_the_form_keeps_the_ticked_tables_and_leads_back_to_the_list(people: People) -> None:
    back = "/lifecycle/expiring/?lake=main&show=week&after=abc"
    answer = form(people.owner, "t1", "t2", answer="KEEP-60", next=back)
    assert (answer.status_code, answer["Location"]) == (302, back)
    assert sorted(Hold.objects.values_list("table", flat=True)) == ["t1", "t2"]


def test_the_form_leads_to_no_other_site(people: People) -> None:
    answer = form(people.owner, "t1", answer="KEEP-30", next="https://evil.example/")
    assert answer["Location"] == "/"


def test_an_unknown_person_is_refused_at_the_field_and_everything_typed_is_there(
    people: People,
) -> None:
    answer = form(people.owner, "t1", answer="HAND_OVER", to="nobody")
    text = answer.content.decode()
    assert answer.status_code == 400
    assert "Nobody called &#x27;nobody&#x27; with a mail address is known here" in text
    assert 'value="nobody"' in text
    assert "the audit reads it" in text
    assert 'name="rows"' in text
    assert not PolicyRequest.objects.exists()


def test_a_form_without_a_reason_or_an_answer_is_shown_again(people: People) -> None:
    assert form(people.owner, "t1", answer="KEEP-30", reason="").status_code == 400
    assert form(people.owner, "t1", answer="EAT").status_code == 400
    assert form(people.owner, answer="KEEP-30").status_code == 400
    assert client(people.owner).post(FORM, {}).status_code == 400
    assert not Hold.objects.exists()
