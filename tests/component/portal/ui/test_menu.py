"""Tests the menu: its entries, the tabs of each, and what a page says of where it is."""

import re
from dataclasses import replace
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from lifecycle.drop.services.plans import PLANS
from portal.access import registry
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.connectors.lake_config import LakeConfig
from portal.runs.domain import RunState
from portal.runs.models import Run
from tests.component.conftest import LAKE, People
from tests.component.portal.approvals.proposal_rows import CASES

OF_EVERYBODY = [
    "Home", "Tables", "Approvals", "Backups", "Lifecycle", "Path rules", "Table services", "Jobs",
]  # fmt: skip
OF_STAFF = [
    *OF_EVERYBODY[:-2], "Cache refresh", "Table services", "Pipelines", "Data readiness", "Jobs",
]  # fmt: skip
MOST_TABS = 7


def shown(user: User, url: str) -> str:
    client = Client()
    client.force_login(user)
    answer = client.get(url)
    assert answer.status_code == 200, url
    return answer.content.decode()


def links(part: str) -> dict[str, tuple[str, str]]:
    """Return the links of a part of a page: text to address and `aria-current`."""
    link = r'<a (?:class="[^"]*" )?href="([^"]*)"(?: aria-current="(\w+)")?>(.*?)</a>'
    found = re.findall(link, part)
    return {
        unescape(re.sub(r"<[^>]+>", "", text)): (address, current)
        for address, current, text in found
    }


def nav(page: str, label: str) -> str:
    found = re.search(rf'<nav[^>]*aria-label="{label}"[^>]*>(.*?)</nav>', page, re.DOTALL)
    return found[1] if found else ""


def current(part: str) -> list[tuple[str, str]]:
    return [(text, state) for text, (_, state) in links(part).items() if state]


def test_people_see_the_entries_of_their_role(people: People, lake: LakeConfig) -> None:
    for user, expected in (
        (people.owner, OF_EVERYBODY),
        (people.admin, OF_STAFF),
        (people.operator, OF_STAFF),
    ):
        entries, _, gear = nav(shown(user, "/"), "Main").partition("<details")
        assert list(links(entries)) == expected, user
        assert ("Audit log" in links(gear)) is user.is_lake_staff_of("")
    assert list(links(gear)) == [
        "Audit log", "Users", "Service-account owners", "Notifications", "System health",
        "Emergency stop", "Policy alarms", "API", "API tokens",
    ]  # fmt: skip


def test_every_page_of_the_menu_belongs_to_an_entry_and_opens_on_its_tab(
    people: People, lake: LakeConfig
) -> None:
    registered = set(registry._pages.values())
    pages = [(entry, page) for entry, of in registry.menu_for(people.admin, "") for page in of]
    assert {page for _, page in pages} == registered
    for entry, page in pages:
        text = shown(people.admin, reverse(page.url_name))
        main = nav(text, "Main")
        title = page.title if entry.key == registry.GEAR else entry.title
        assert current(main) == [(title, "page")], page
        assert ('lw-nav-gear" open' in main) is (entry.key == registry.GEAR)
        assert f'<span class="lw-nav-here">{entry.title}</span>' in text
        tabs = nav(text, f"Pages of {entry.title}")
        of_entry = [one.title for other, one in pages if other is entry]
        if entry.key == registry.GEAR or len(of_entry) == 1:
            assert not tabs
        else:
            assert list(links(tabs)) == of_entry
            assert len(of_entry) <= MOST_TABS
            assert current(tabs) == [(page.title, "page")]
            # Where the entry leads to this page, it is none above it.
            above = [] if page.title == of_entry[0] else [entry.title]
            assert list(links(nav(text, "Breadcrumb"))) == above


@pytest.mark.parametrize(
    ("url", "entry", "tab", "crumbs"),
    [
        ("/lifecycle/plans/new/", "Approvals", "Drop plans", ["Approvals", "Drop plans"]),
        ("/optimizer/hudi/policies/", "Table services", "Policies", ["Table services", "Policies"]),
        ("/refresh/add-cluster/", "Cache refresh", "Clusters", ["Cache refresh", "Clusters"]),
        ("/readiness/rules/new/", "Data readiness", "Freshness rules (SLA)",
         ["Data readiness", "Freshness rules (SLA)"]),
    ],
)  # fmt: skip
def test_a_page_below_a_list_keeps_its_tab_and_names_what_is_above_it(
    people: People, lake: LakeConfig, url: str, entry: str, tab: str, crumbs: list[str]
) -> None:
    text = shown(people.admin, url)
    assert current(nav(text, "Main")) == [(entry, "true")]
    assert current(nav(text, f"Pages of {entry}")) == [(tab, "true")]
    assert list(links(nav(text, "Breadcrumb"))) == crumbs


def test_a_page_of_no_entry_has_neither_tabs_nor_breadcrumbs(
    people: People, lake: LakeConfig
) -> None:
    text = shown(people.admin, "/profile/")
    assert current(nav(text, "Main")) == []
    assert "Pages of" not in text
    assert nav(text, "Breadcrumb") == ""


def badges(user: User, url: str = "/profile/") -> dict[str, int]:
    found = re.findall(
        r"<span>([\w ]+)</span><span class=\"lw-nav-count\">(\d+)", nav(shown(user, url), "Main")
    )
    return {title: int(count) for title, count in found}


def test_approvals_have_a_badge_of_what_the_person_may_decide(
    people: People, lake: LakeConfig
) -> None:
    now = timezone.now()
    proposals = [case.ask(people.admin.username, now, 0) for case in CASES.values()]
    assert badges(people.admin) == {}  # they asked
    assert badges(people.second) == {"Approvals": len(CASES)}
    assert badges(people.owner) == {}
    plan = proposals[0]
    PLANS.decide(
        plan.pk,
        user=people.second,
        answer=DecisionInput(decision="APPROVE", reason="", digest=plan.digest, typed=""),
        authenticated_at=now,
        now=now,
    )
    assert badges(people.second) == {"Approvals": len(CASES) - 1}
    assert badges(people.third) == {"Approvals": len(CASES)}


def test_jobs_have_a_badge_of_the_failed_runs_that_the_person_asked_for(
    people: People, lake: LakeConfig
) -> None:
    for name in (people.owner.username, people.owner.username, "schedule"):
        Run.objects.create(
            lake=LAKE,
            kind="lifecycle.scan",
            queue="scan",
            state=RunState.FAILED,
            requested_by=name,
            queued_at=timezone.now(),
        )
    assert badges(people.owner) == {"Jobs": 2}
    assert badges(people.admin) == {}
    Run.objects.bulk_create(
        [
            Run(
                lake=LAKE,
                kind="lifecycle.scan",
                state=RunState.FAILED,
                requested_by="olga",
                queued_at=timezone.now(),
            )
            for _ in range(120)
        ]
    )
    assert badges(people.owner) == {"Jobs": 122}
    home = shown(people.owner, "/")
    assert '<span class="lw-waiting-value">122</span>' in home


def test_badges_cost_two_queries_as_long_as_nothing_happens(
    people: People, lake: LakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cost(user: User) -> int:
        client = Client()
        client.force_login(user)
        client.get("/profile/")
        with CaptureQueriesContext(connection) as caught:
            client.get("/profile/")
        return len(caught)

    with_badges = {user.username: cost(user) for user in (people.admin, people.owner)}
    plain = {key: replace(entry, count=None) for key, entry in registry._entries.items()}
    monkeypatch.setattr(registry, "_entries", plain)
    assert with_badges[people.admin.username] - cost(people.admin) == 2
    assert with_badges[people.owner.username] - cost(people.owner) == 2
