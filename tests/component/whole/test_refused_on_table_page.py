"""A form of a table's page that is refused is shown again below the table's header and tabs."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.backup.models import Hold
from lifecycle.models import DeletionRequest, PolicyRequest, SamplePartition
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import People
from tests.component.lifecycle.answers.owned_lake import ALSO_DUE, DUE, FRESH, scan_tables, table

pytestmark = pytest.mark.django_db
SITE, TAB = "http://testserver", "/tables/sales/t1/lifecycle/?lake=main"
ITEMS = "/tables/sales/t1/partitions/?lake=main"
NEW, ANSWERS = (
    "/lifecycle/policy-requests/new/?lake=main",
    "/lifecycle/tables/sales/t1/partitions/answers/",
)


def client(user: User) -> Client:
    found = Client()
    found.force_login(user)
    return found


@pytest.fixture(autouse=True)
def scanned(lake: LakeConfig) -> None:
    scan_tables(lake, table(1, DUE, ALSO_DUE, FRESH), now=timezone.now())


def stands_on_the_table(answer: Any, tab: str) -> str:
    text = answer.content.decode()
    assert "<h1>sales.t1</h1>" in text
    current = [one.title for one in answer.context["frame"]["subject"].tabs if one.current]
    assert current == [tab]
    return str(text)


def extend(**said: str) -> dict[str, str]:
    return {"kind": "EXTEND", "db": "sales", "table": "t1", "days": "30", **said}


def test_a_refused_request_keeps_what_was_typed_and_says_what_is_wrong_at_the_field(
    people: People,
) -> None:
    said = extend(until="nonsense", reason="the audit reads it")
    refused = client(people.owner).post(NEW, said, headers={"referer": SITE + TAB})
    assert refused.status_code == 400
    text = stands_on_the_table(refused, "Lifecycle")
    assert "the audit reads it" in text
    assert "Enter a valid date." in text
    assert "<h2>Not sent yet</h2>" in text
    assert not PolicyRequest.objects.exists()


def test_the_page_that_the_form_names_goes_before_the_browsers(people: People) -> None:
    said = extend(until="x", next=ITEMS)
    refused = client(people.owner).post(NEW, said, headers={"referer": SITE + TAB})
    stands_on_the_table(refused, "Partitions")


@pytest.mark.parametrize(
    "referer",
    ["", "http://elsewhere.example/tables/sales/t1/lifecycle/", SITE + "/tables/sales/no/", "%%%"],
)
def test_from_elsewhere_it_is_a_page_of_its_own(people: People, referer: str) -> None:
    refused = client(people.owner).post(NEW, extend(until="x"), headers={"referer": referer})
    assert refused.status_code == 400
    assert "<h1>Not sent yet</h1>" in refused.content.decode()


def test_who_may_not_see_the_table_gets_no_header_of_it(people: People) -> None:
    refused = client(people.stranger).post(NEW, extend(until="x"), headers={"referer": SITE + TAB})
    assert "<h1>sales.t1</h1>" not in refused.content.decode()


def test_an_error_of_a_form_of_the_page_stands_there_too(people: People) -> None:
    wrong = {"kind": "NONSENSE", "next": TAB}
    refused = client(people.owner).post(NEW, wrong)
    assert "policy.kind" in stands_on_the_table(refused, "Lifecycle")


def keys(*names: str) -> list[int]:
    return list(SamplePartition.objects.filter(partition__in=names).values_list("pk", flat=True))


def answer(user: User, **said: Any) -> Any:
    about = {
        "seen_at": timezone.now().isoformat(),
        "reason": "the audit reads it",
        "next": ITEMS,
        "answer": "KEEP-30",
        "partitions": keys("dt=2026-08-01", "dt=2026-08-02"),
    }
    return client(user).post(f"{ANSWERS}?lake=main", {**about, **said}, follow=True)


def test_ticked_partitions_are_kept_from_their_tab(people: People) -> None:
    text = client(people.owner).get(ITEMS).content.decode()
    assert text.index("Ranges of partitions") < text.index('name="partitions" value=')
    assert text.count('name="partitions" value=') == 3
    done = answer(people.owner)
    assert done.redirect_chain[-1][0] == ITEMS
    assert "Kept 2 partitions until" in done.content.decode()
    kept = sorted(Hold.objects.values_list("partition", flat=True))
    assert kept == ["dt=2026-08-01", "dt=2026-08-02"]
    again = answer(people.owner, partitions=keys("dt=2026-08-01", "dt=2026-11-01"))
    assert "could not be answered" in again.content.decode()


def test_the_deletion_of_ticked_partitions_is_requested(people: People) -> None:
    done = answer(people.owner, answer="LET_GO")
    assert "Let 2 partitions go" in done.content.decode()
    assert DeletionRequest.objects.count() == 2
    refused = answer(people.admin, answer="LET_GO")
    assert "Only an owner may request" in refused.content.decode()


def test_an_answer_without_a_reason_or_a_tick_is_shown_again_on_the_tab(people: People) -> None:
    for said, words in (
        ({"reason": ""}, "Enter a reason"),
        ({"partitions": []}, "tick it"),
        ({"answer": "KEEP_FOREVER"}, "whole tables"),
        ({"partitions": [999_999]}, "not kept any more"),
    ):
        refused = answer(people.owner, **said)
        assert refused.status_code == 400
        assert words in stands_on_the_table(refused, "Partitions")
    assert not Hold.objects.exists()
    stranger = answer(people.stranger)
    assert stranger.status_code == 404


def test_the_api_answers_for_partitions_too(people: People) -> None:
    url = "/api/v1/lifecycle/tables/sales/t1/answers/"
    said = {
        "partitions": ["dt=2026-08-01", "dt=2026-11-01"],
        "answer": "KEEP",
        "days": 30,
        "reason": "r x",
    }
    found = client(people.owner).post(url, said, content_type="application/json").json()
    assert [one["outcome"] for one in found["answers"]] == ["DONE", "REFUSED"]
    assert found["answers"][1]["code"]
    assert "Kept 1 of 2 partitions until" in found["words"]
