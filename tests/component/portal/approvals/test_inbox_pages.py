"""The page and API of the inbox, and the way from one proposal to the next."""

import csv
import io
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.access.models import User
from portal.approvals.models import Approval
from portal.approvals.waiting import n_needs_me
from tests.component.conftest import LAKE, People
from tests.component.portal.approvals.proposal_rows import CASES
from tests.component.portal.approvals.test_waiting import broken_kind

__all__ = ["broken_kind"]
pytestmark = pytest.mark.usefixtures("lake")
PAGE, API = "/approvals/", "/api/v1/approvals/"


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def proposals(people: People) -> list[Any]:
    """One proposal of every kind that ada asked for."""
    return [
        case.ask("ada", timezone.now() - timedelta(hours=hour), 0)
        for hour, case in enumerate(CASES.values())
    ]


def shown(user: User, **params: str) -> str:
    answer = client_of(user).get(PAGE, params)
    assert answer.status_code == 200
    return answer.content.decode()


def listed(user: User, **params: Any) -> dict[str, Any]:
    answer = client_of(user).get(API, params)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_page_badge_and_api_count_the_same(people: People, proposals: list[Any]) -> None:
    for user in (people.admin, people.second, people.operator, people.owner):
        n = n_needs_me(user, LAKE)
        found = listed(user)
        assert (len(found["results"]), found["n_needs_me"]) == (n, n)
        text = shown(user)
        assert text.count('class="lw-approvals"') == n
        assert (f'lw-nav-count">{n}<' in text) is bool(n)
    assert n_needs_me(people.second, LAKE) == len(proposals)


def test_the_page_names_each_by_what_it_asks_and_who_may_answer(
    people: People, proposals: list[Any]
) -> None:
    text = shown(people.second)
    for one in proposals:
        assert one.title in text
        assert one.short_id not in text.replace(str(one.pk), "")
    assert text.count("ben or cem") == len(proposals)
    assert text.count("0 of 2") == sum(case.n_needed == 2 for case in CASES.values())
    assert text.index(proposals[-1].title) < text.index(proposals[0].title)


def test_filters_and_tabs_stand_in_the_address(people: People, proposals: list[Any]) -> None:
    assert listed(people.admin)["results"] == []
    assert len(listed(people.admin, tab="mine")["results"]) == len(proposals)
    assert len(listed(people.second, tab="all", kind="lifecycle.drop")["results"]) == 1
    assert listed(people.second, tab="all", state="closed")["results"] == []
    assert "Nothing fits this filter" in shown(people.second, requester="nobody")
    assert "Nothing needs you" in shown(people.owner)
    assert "Nothing of yours waits" in shown(people.owner, tab="mine")
    assert "Nothing waits for approval" in shown(people.stranger, tab="all")


def test_bad_values_are_refused_with_words(people: People, proposals: list[Any]) -> None:
    client = client_of(people.second)
    refused = client.get(API, {"tab": "theirs"})
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["tab"])
    for cursor in ("nonsense", "W10", "WyJ4IiwieSIsInoiXQ", "WzEsMiwzXQ"):
        refused = client.get(API, {"after": cursor})
        assert (refused.status_code, refused.json()["code"]) == (400, "page.cursor")
        assert client.get(PAGE, {"before": cursor}).status_code == 400
    assert "Select a valid choice" in shown(people.second, kind="nothing")


def test_pages_of_the_api_follow_their_addresses(people: People, proposals: list[Any]) -> None:
    whole = [one["id"] for one in listed(people.second)["results"]]
    client, address, seen = client_of(people.second), f"{API}?size=5", []
    while address:
        found = client.get(address).json()
        seen += [one["id"] for one in found["results"]]
        back, address = found["previous"], found["next"]
    assert seen == whole
    assert [one["id"] for one in client.get(back).json()["results"]] == whole[:5]


def test_the_csv_has_the_rows_of_the_screen(people: People, proposals: list[Any]) -> None:
    answer = client_of(people.second).get(PAGE, {"format": "csv", "kind": "lifecycle.drop"})
    (row,) = csv.DictReader(io.StringIO(b"".join(answer).decode()))
    assert (row["kind"], row["title"]) == ("lifecycle.drop", proposals[0].title)
    assert (row["waits_for"], row["n_needed"]) == ("ben; cem", "2")


@pytest.mark.usefixtures("broken_kind")
def test_a_kind_that_cannot_be_read_is_named_beside_the_others(
    people: People, proposals: list[Any]
) -> None:
    for params in ({}, {"tab": "all"}):
        text = shown(people.second, **params)
        assert "could not be read just now: Drop plan." in text
        assert text.count('class="lw-approvals"') == len(proposals) - 1
    assert listed(people.second)["broken"] == ["lifecycle.drop"]


def links(text: str) -> Iterator[str]:
    """Return where the inbox's rows lead."""
    for part in text.split('href="')[1:]:
        address = part.partition('"')[0].replace("&amp;", "&")
        if "inbox=" in address and address.startswith("/"):
            yield address


def test_a_proposal_leads_to_the_next_and_the_previous_of_its_list(
    people: People, proposals: list[Any]
) -> None:
    client = client_of(people.second)
    listing = links(client.get(PAGE, {"requester": "ada"}).content.decode())
    addresses = list(dict.fromkeys(listing))
    assert len(addresses) == len(proposals)
    for n, address in enumerate(addresses):
        text = client.get(address).content.decode()
        following = 'rel="next"' in text
        preceding = 'rel="prev"' in text
        assert (following, preceding) == (n < len(addresses) - 1, n > 0), address
        beside = {urlsplit(one).path for one in links(text)}
        around = addresses[max(n - 1, 0) : n + 2]
        beside -= {urlsplit(address).path}
        assert beside == {urlsplit(one).path for one in around} - {urlsplit(address).path}
        assert parse_qs(urlsplit(next(links(text))).query)["inbox"] == [
            "tab=needs-me&requester=ada" if "tab" in address else "requester=ada"
        ]


def test_after_a_decision_the_next_one_is_one_click_away(
    people: People, proposals: list[Any]
) -> None:
    client = client_of(people.second)
    session = client.session
    session["lw_authenticated_at"] = timezone.now().timestamp()
    session.save()
    plan = proposals[1]
    body = {"decision": "APPROVE", "digest": plan.digest, "inbox": "tab=needs-me"}
    body["reason"] = "Read all of it"
    answer = client.post(f"/lifecycle/path-fixes/{plan.pk}/decide/", body, follow=True)
    text = answer.content.decode()
    assert "Your decision was recorded. Next: <a href=" in text
    assert plan.approval.decisions.get().reason == "Read all of it"
    assert proposals[0].title in text
    assert "inbox=tab" in answer.redirect_chain[0][0]


def test_the_pages_cost_the_same_for_one_and_for_sixty(people: People) -> None:
    def cost(address: str) -> int:
        client = client_of(people.second)
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        return len(queries)

    made = [case.ask("ada", timezone.now(), 0) for case in CASES.values()]
    addresses = [PAGE, f"{PAGE}?tab=all", API, f"/lifecycle/plans/{made[0].pk}/?inbox=tab%3Dall"]
    one = [cost(address) for address in addresses]
    for case in CASES.values():
        for n in range(1, 10):
            case.ask("ada", timezone.now(), n)
    sixty = [cost(address) for address in addresses]
    # Where nothing comes before it, nobody's decisions on that are read.
    assert all(after <= before + 1 for before, after in zip(one, sixty, strict=True))
    assert max(one[:3]) <= 44
    assert one[3] <= 70  # it looks both ways in seven kinds


def test_a_card_of_home_leads_to_the_one_proposal_and_its_button_approves_it(
    people: People, proposals: list[Any]
) -> None:
    client = client_of(people.second)
    cards = [one for one in links(client.get("/").content.decode()) if "kind%3D" in one]
    assert len(cards) == len(proposals)
    for case, made in zip(CASES.values(), proposals, strict=True):
        (address,) = (one for one in cards if urlsplit(one).path == case.kind.url_of(made))
        review = client.get(address).content.decode()
        approve = review[review.index('<form id="approve"') :].partition("</form>")[0]
        assert f'name="digest" value="{made.digest}"' in approve
        assert "<label" in approve
        assert "required" not in approve
        assert re.search(r"</i>(Approve|Accept): [^<]+", approve), case.kind.name
        assert "confirm-approve" not in review
        assert len(listed(people.second, kind=case.kind.name)["results"]) == 1
    for user in (people.admin, people.owner):
        assert "kind%3D" not in client_of(user).get("/").content.decode()


def test_a_card_of_several_leads_to_the_inbox_and_to_the_longest_wait(people: People) -> None:
    case, now = CASES["drop plan"], timezone.now()
    newer, older = case.ask("ada", now, 0), case.ask("ada", now - timedelta(hours=1), 1)
    client = client_of(people.second)
    text = client.get("/").content.decode()
    inbox = f"{PAGE}?lake={LAKE}&amp;kind={case.kind.name}"
    assert f'href="{inbox}"' in text
    first = next(links(text))
    assert urlsplit(first).path == case.kind.url_of(older)
    assert "Review next" in text
    listing = client.get(inbox.replace("&amp;", "&")).content.decode()
    assert "Review next" in listing
    assert urlsplit(next(links(listing))).path == case.kind.url_of(older)
    after = [urlsplit(one).path for one in links(client.get(first).content.decode())]
    assert case.kind.url_of(newer) in after
    assert "Review next" not in client.get(f"{PAGE}?tab=all").content.decode()


def test_who_comes_second_reads_what_the_first_one_did(
    people: People, proposals: list[Any]
) -> None:
    plan = proposals[1]
    address = f"/lifecycle/path-fixes/{plan.pk}/decide/"

    def decide(user: User, **body: str) -> str:
        client = client_of(user)
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
        given = {"digest": plan.digest, "inbox": "tab=needs-me", **body}
        return client.post(address, given, follow=True).content.decode()

    changed = decide(people.second, decision="APPROVE", digest="1" * 64)
    assert "is not the one that was read" in changed
    decide(people.second, decision="REJECT", reason="not this year")
    late = decide(people.third, decision="APPROVE")
    assert "does not wait for a decision any more" in late
    page = client_of(people.third).get(f"/lifecycle/path-fixes/{plan.pk}/").content.decode()
    assert "not this year" in page
    assert "ben" in page


def test_the_page_of_each_kind_names_who_may_still_decide(
    people: People, proposals: list[Any]
) -> None:
    client = client_of(people.admin)
    for case, one in zip(CASES.values(), proposals, strict=True):
        text = client.get(case.kind.url_of(one)).content.decode()
        assert "<dt>Waits for</dt><dd>ben or cem</dd>" in text, case.kind.name


def test_a_stale_digest_is_refused_with_what_changed(people: People, proposals: list[Any]) -> None:
    plan = proposals[1]
    now = timezone.now()
    kind = CASES["relocation plan"].kind
    read, more = plan.digest, {"n_items": 3, "n_bytes": 2_048}
    Approval.objects.filter(pk=plan.approval_id).update(summary={"n_items": 2, "n_bytes": 2_048})
    plan.digest = "f" * 64
    plan.approval = kind.open(plan, requesters=["ada"], summary=more, now=now)
    plan.save()
    client = client_of(people.second)
    session = client.session
    session["lw_authenticated_at"] = now.timestamp()
    session.save()
    address = f"/lifecycle/path-fixes/{plan.pk}/decide/"
    answer = client.post(address, {"decision": "APPROVE", "digest": read})
    text = answer.content.decode()
    assert answer.status_code == 409
    assert f"Items: 2 then, 3 now; Digest: {read[:12]} was read, ffffffffffff is asked now" in text
    assert f'href="{kind.url_of(plan)}"' in text
    assert "Bytes" not in text
    body = {"decision": "APPROVE", "digest": read}
    said = client.post(f"/api/v1{address}", body, content_type="application/json").json()
    assert said["fields"]["changes"].startswith("Items: 2 then, 3 now")
    unknown = client.post(address, {"decision": "APPROVE", "digest": ""}).content.decode()
    assert "Digest: none was read" in unknown
    assert not plan.approval.decisions.exists()
