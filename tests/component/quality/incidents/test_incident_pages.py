"""The pages and the API of incidents, who may use them, and what a long list costs."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from portal.access.models import OwnerMapping, User
from portal.ui.lists.keyset import keyset_page
from quality.incidents.selectors.incidents import ORDERS, n_unclosed
from quality.incidents.selectors.numbers import unclosed
from quality.models import CheckSet, Incident, RuleResult
from tests.component.conftest import People
from tests.component.quality.checks.checked import declare
from tests.component.quality.flag_lake import FlagLake
from tests.component.quality.incidents.failing import DAY, NOW, measured

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def client(user: User) -> Client:
    made = Client()
    made.force_login(user)
    return made


def page(user: User, name: str, *args: Any, query: str = "", status: int = 200) -> str:
    answer = client(user).get(reverse(f"readiness:{name}", args=args) + query)
    assert answer.status_code == status, answer
    streamed = getattr(answer, "streaming_content", None)
    return (b"".join(streamed) if streamed else answer.content).decode()


def listed(user: User, query: str) -> str:
    """Return the rows of the list, without its filters."""
    return page(user, "incidents", query=query).partition('id="list"')[2]


@pytest.fixture
def checks(hive: FlagLake, people: People) -> CheckSet:
    return declare(people.owner, NOW)


@pytest.fixture
def row(checks: CheckSet) -> Incident:
    measured(checks, NOW, (DAY, 4, 3))
    return Incident.objects.get(rule="enough")


def many(n_rows: int, **other: Any) -> None:
    """Add closed incidents of tables that nobody but admins and operators sees."""
    known = {"lake": "main", "severity": "alarm", "state": "RECOVERED", "team": "owner", "db": "x"}
    Incident.objects.bulk_create(
        Incident(
            **{**known, "table": f"t{n}", "rule": "r", "text": "no", **other},
            opened_at=NOW - n * HOUR,
            failed_at=NOW - n * HOUR,
        )
        for n in range(n_rows)
    )


def test_an_empty_list_says_what_to_do(checks: CheckSet, people: People) -> None:
    assert "Give the tables that matter checks" in page(people.owner, "incidents")
    found = page(people.owner, "incidents", query="?state=OPEN")
    assert "No incident fits this filter" in found


def test_the_list_is_filtered_by_its_address(row: Incident, people: People) -> None:
    both = listed(people.owner, "?db=shop&table=notes")
    assert "enough" in both
    assert "no_nulls" in both
    for query, n_lines in (
        ("?severity=block", 1),
        ("?state=UNCLOSED&rule=no", 1),
        ("?state=RESOLVED", 0),
        ("?who=mine", 2),
        ("?who=nobody", 0),
        ("?assignee=olga&state=OPEN", 2),
        ("?assignee=otto", 0),
    ):
        csv = page(people.owner, "incidents", query=f"{query}&format=csv")
        assert len(csv.splitlines()) == 1 + n_lines, query
    assert "shop.notes" not in page(people.stranger, "incidents")
    assert listed(people.admin, "?who=mine").count("shop.notes") == 0
    assert "Select a valid choice" in page(people.admin, "incidents", query="?state=BAD")


def test_mine_is_what_waits_for_me_alone_or_as_one_of_a_team(row: Incident, people: People) -> None:
    def mine(user: User) -> bool:
        return "enough" in listed(user, "?who=mine&rule=enough")

    everybody = [people.owner, people.dba, people.operator, people.admin, people.stranger]
    assert [mine(one) for one in everybody] == [True, False, False, False, False]
    Incident.objects.update(assignee="", owner="etl")
    OwnerMapping.objects.create(
        lake="main", owner="etl", username="dora", added_by="ada", added_at=NOW
    )
    assert [mine(one) for one in everybody] == [False, True, False, False, False]
    Incident.objects.update(team="operators")
    assert [mine(one) for one in everybody] == [False, False, True, False, False]
    Incident.objects.update(team="admins")
    assert [mine(one) for one in everybody] == [False, False, False, True, False]


def test_one_incident_shows_its_windows_and_its_history(row: Incident, people: People) -> None:
    text = page(people.owner, "incident", row.pk)
    for said in ("enough of shop.notes", "row_count is 4, below the minimum of 5", DAY, "opened"):
        assert said in text
    for name, number in (("Value", "4"), ("Lower bound", "5"), ("Upper bound", "none")):
        assert f'data-title="{name}">{number}</td>' in text
    page(people.stranger, "incident", row.pk, status=404)


def test_windows_that_are_not_kept_are_counted(row: Incident, people: People) -> None:
    Incident.objects.filter(pk=row.pk).update(n_windows=41)
    assert "40 older windows are not kept" in page(people.owner, "incident", row.pk)


def test_checks_and_results_lead_to_their_incidents(row: Incident, people: People) -> None:
    assert row.check_set is not None
    result = RuleResult.objects.get(rule="enough")
    for text in (
        page(people.owner, "check-set", row.check_set.pk),
        page(people.owner, "check-result", result.pk),
    ):
        assert f"{reverse('readiness:incidents')}?lake=main&amp;db=shop&amp;table=notes" in text
    assert f"{reverse('readiness:check-set', args=[row.check_set.pk])}?rule=enough" in page(
        people.owner, "incident", row.pk
    )


def test_people_act_on_the_page(row: Incident, people: People) -> None:
    def post(user: User, name: str, **data: Any) -> int:
        row.refresh_from_db()
        url = reverse(f"readiness:incident-{name}", args=[row.pk])
        return client(user).post(url, {"version": row.version, **data}).status_code

    olga = people.owner
    assert post(people.stranger, "acknowledge") == 404
    assert "Acknowledge</button>" in page(olga, "incident", row.pk)
    assert post(olga, "acknowledge", version="") == 400
    assert post(olga, "acknowledge", version=row.version + 7) == 409
    assert post(olga, "acknowledge") == 302
    assert "Acknowledge</button>" not in page(olga, "incident", row.pk)
    assert "Take over</button>" in page(people.admin, "incident", row.pk)
    assert post(olga, "assign", to="stan") == 400
    assert post(olga, "assign", to="ada") == 302
    assert post(people.admin, "resolve", resolution="nothing", reason="x") == 400
    assert post(people.admin, "resolve", resolution="fixed", reason=" ") == 400
    assert post(people.admin, "resolve", resolution="fixed", reason="loaded again") == 302
    closed = page(olga, "incident", row.pk)
    assert "loaded again" in closed
    assert "Reopen" in closed
    assert "Resolve</button>" not in closed
    assert post(olga, "reopen", reason="it was not") == 302
    row.refresh_from_db()
    assert (row.state, row.assignee) == ("OPEN", "ada")


def test_the_api_does_what_the_pages_do(row: Incident, people: People) -> None:
    olga = client(people.owner)
    version = row.version

    def post(name: str, status: int = 200, **data: Any) -> Any:
        url = reverse(f"readiness-api:incident-{name}", args=[row.pk])
        answer = olga.post(url, {"version": version, **data}, content_type="application/json")
        assert answer.status_code == status, answer.content
        return answer.json()

    found = olga.get(reverse("readiness-api:incidents") + "?who=mine&severity=block").json()
    assert [one["rule"] for one in found["results"]] == ["enough"]
    one = olga.get(reverse("readiness-api:incident", args=[row.pk])).json()
    assert one["windows"][0]["window"] == DAY
    assert (one["windows"][0]["value"], one["windows"][0]["low"]) == (4.0, 5.0)
    assert [step["action"] for step in one["events"]] == ["opened"]
    taken = post("acknowledge")
    assert (taken["state"], taken["acknowledged_by"]) == ("ACKNOWLEDGED", "olga")
    assert post("assign", 409, assignee="ada")["code"] == "incident.changed"
    version = taken["version"]
    assert post("assign", 400, assignee="stan")["code"] == "incident.assignee"
    version = post("assign", assignee="ada")["version"]
    post("resolve", 400, reason="done")
    post("resolve", 400, resolution="maybe", reason="done")
    closed = post("resolve", resolution="expected", reason="a holiday")
    assert (closed["state"], closed["resolution"], closed["due_at"]) == (
        *("RESOLVED", "expected", None),
    )
    version = closed["version"]
    assert post("reopen", reason="no holiday")["state"] == "OPEN"
    stan = client(people.stranger)
    url = reverse("readiness-api:incident-reopen", args=[row.pk])
    told = stan.post(url, {"version": 1, "reason": "x"}, content_type="application/json")
    assert told.status_code == 404


def test_home_counts_what_is_not_closed_of_what_a_person_sees(
    row: Incident, people: People
) -> None:
    many(3)
    assert n_unclosed("main", people.owner) == 2
    home = client(people.owner).get("/").content.decode()
    assert "Open incidents" in home
    assert "/readiness/incidents/?lake=main&amp;state=UNCLOSED" in home
    assert "Open incident" not in client(people.stranger).get("/").content.decode()


def test_a_monitoring_server_reads_the_numbers(row: Incident) -> None:
    Incident.objects.filter(rule="no_nulls").update(state="ACKNOWLEDGED")
    found = {(one["severity"], one["state"]): n for one, n in unclosed()}
    assert found == {
        ("alarm", "open"): 0,
        ("alarm", "acknowledged"): 1,
        ("block", "open"): 1,
        ("block", "acknowledged"): 0,
    }


def test_a_long_list_costs_what_a_short_one_costs(row: Incident, people: People) -> None:
    ada = client(people.admin)
    url = reverse("readiness:incidents")
    ada.get(url)

    def n_queries(query: str) -> int:
        with CaptureQueriesContext(connection) as caught:
            assert ada.get(url + query).status_code == 200
        return len(caught)

    few = [n_queries(query) for query in ("", "?state=UNCLOSED", "?who=mine")]
    many(5_000)
    assert [n_queries(query) for query in ("", "?state=UNCLOSED", "?who=mine")] == few
    assert max(few) <= 16
    csv = page(people.admin, "incidents", query="?format=csv")
    assert len(csv.splitlines()) == 5_003


@pytest.mark.parametrize(
    ("asked", "index"),
    [({}, "incidents_opened"), ({"is_open__in": (True,)}, "incidents_unclosed")],
)
def test_a_deep_page_is_found_in_the_index(asked: dict[str, Any], index: str) -> None:
    many(300, is_open=True)
    rows = Incident.objects.filter(lake="main", **asked)
    place = keyset_page(rows, {}, orders=ORDERS)
    with CaptureQueriesContext(connection) as caught:
        keyset_page(rows, {"after": place.next_cursor}, orders=ORDERS)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {caught.captured_queries[0]['sql']}")
        plan = " ".join(str(one[-1]) for one in cursor.fetchall())
    assert f"COVERING INDEX {index}" in plan
    assert "TEMP B-TREE" not in plan
