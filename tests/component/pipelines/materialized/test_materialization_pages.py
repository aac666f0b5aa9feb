"""The pages and the API of materializations."""

import html
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from pipelines.materialized.services.definitions import Wanted, materialization_create
from pipelines.materialized.services.requests import refresh_request, refreshes_due
from pipelines.models import Materialization, MaterializationRefresh
from portal.access.models import User
from portal.catalog.services.stored_aggregates import aggregate_answered
from portal.runs.models import Run
from tests.component.conftest import People
from tests.support.materialized_lake import SQL, MaterializedLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)


def client(user: User) -> Client:
    made = Client()
    made.force_login(user)
    return made


def page(user: User, name: str, *args: Any, query: str = "", status: int = 200) -> str:
    answer = client(user).get(reverse(f"pipelines:{name}", args=args) + query)
    assert answer.status_code == status, answer
    streamed = getattr(answer, "streaming_content", None)
    return (b"".join(streamed) if streamed else answer.content).decode()


@pytest.fixture
def found(hive: MaterializedLake, people: People) -> Materialization:
    row = materialization_create("main", "marts.days", Wanted(SQL), user=people.owner, now=NOW)
    MaterializationRefresh.objects.create(
        materialization=row,
        run="1",
        requested_by="olga",
        ended_at=NOW,
        state="done",
        way="incremental",
        reason="2 commits changed rows.",
        n_dirty_groups=4,
    )
    return row


def test_pages_show_definition_plan_and_history(found: Materialization, people: People) -> None:
    assert "marts.days" in page(people.owner, "materializations")
    assert "marts.days" not in page(people.stranger, "materializations")
    assert len(page(people.admin, "materializations", query="?format=csv").splitlines()) == 2
    Materialization.objects.update(problem="Written by somebody else.", has_floats=True)
    one = page(people.owner, "materialization", found.pk)
    for said in ("shop.orders", "2 commits changed rows.", "By changes", "drifts", "somebody else"):
        assert said in one
    csv = page(people.owner, "materialization", found.pk, query="?format=csv&way=incremental")
    assert len(csv.splitlines()) == 2
    page(people.stranger, "materialization", found.pk, status=404)
    page(people.stranger, "materialization-edit", found.pk, status=404)


def test_the_page_shows_use_cost_and_commits(found: Materialization, people: People) -> None:
    aggregate_answered("main", "marts.days", now=NOW)
    Materialization.objects.update(on_commit=True, way="full", reason="New.", n_dirty_groups=4)
    one = " ".join(page(people.owner, "materialization", found.pk).split())
    for said in (
        "after commits of shop.orders, at most each 5 minutes",
        "In full: New.",
        "4 of 0 were computed from the table",
        "Queries in 35 days",
        "2026-11-21",
    ):
        assert said in one
    csv = page(people.owner, "materializations", query="?format=csv")
    assert "n_answers" in csv


@pytest.mark.parametrize(
    ("state", "facts"),
    [
        ("new", {}),
        ("fresh", {"fresh_at": NOW}),
        ("paused", {"is_paused": True, "fresh_at": NOW}),
        ("problem", {"is_paused": True, "problem": "Written."}),
    ],
)
def test_the_list_is_filtered_by_state(
    found: Materialization, people: People, state: str, facts: dict[str, Any]
) -> None:
    Materialization.objects.update(**facts)
    for one in ("new", "fresh", "paused", "problem"):
        csv = page(people.owner, "materializations", query=f"?format=csv&state={one}")
        assert len(csv.splitlines()) == 1 + (one == state)


def test_a_link_fills_in_the_page_that_answers_queries(
    found: Materialization, people: People
) -> None:
    assert "Try it" not in page(people.owner, "materialization", found.pk), "it is not computed"
    Materialization.objects.update(
        types={"keys": ["string"], "arguments": []}, positions={}, max_lag_minutes=90
    )
    text = page(people.owner, "materialization", found.pk)
    (link,) = re.findall(r'href="([^"]*)">Try it with its own query', text)
    form = client(people.owner).get(html.unescape(link)).content.decode()
    assert f"{SQL}</textarea>" in html.unescape(form)
    for name, value in (("max_age", "3600"), ("time_zone", "UTC")):
        field = re.search(rf'<input[^>]*name="{name}"[^>]*>', form)
        assert field is not None
        assert f'value="{value}"' in field.group()


def test_the_editor_checks_before_it_saves(hive: MaterializedLake, people: People) -> None:
    olga, url = client(people.owner), reverse("pipelines:materialization-new")
    assert "GROUP BY" in olga.get(url).content.decode()
    said = {"name": "marts.days", "sql": f"{SQL} LIMIT 3", "every_minutes": 5}
    answer = olga.post(url, said)
    assert answer.status_code == 400
    assert "LIMIT: all groups are kept" in answer.content.decode()
    said |= {"sql": SQL, "on_commit": "on", "pause_minutes": 3}
    checked = olga.post(url, {**said, "do": "check"})
    assert "It can be kept by changes" in checked.content.decode()
    assert not Materialization.objects.exists()
    assert olga.post(url, said).status_code == 302
    row = Materialization.objects.get()
    assert (row.on_commit, row.pause_minutes) == (True, 3)
    url = reverse("pipelines:materialization-edit", args=[row.pk])
    assert "count(*)" in olga.get(url).content.decode()
    other = {"sql": SQL.replace("count(*)", "max(id)"), "every_minutes": 7, "name": "a.b"}
    assert olga.post(url, {**other, "version": 7}).status_code == 409
    assert olga.post(url, {**other, "version": 0}).status_code == 302
    row.refresh_from_db()
    assert (str(row), row.version, row.every_minutes) == ("marts.days", 1, 7)


def test_people_refresh_pause_and_delete(found: Materialization, people: People) -> None:
    olga = client(people.owner)
    for name, data in (
        ("refresh", {"full": "1"}),
        ("pause", {"paused": "1"}),
        ("delete", {"typed": "marts.days", "version": "0"}),
    ):
        url = reverse(f"pipelines:materialization-{name}", args=[found.pk])
        assert client(people.stranger).post(url, data).status_code == 404
        assert olga.post(url, data).status_code == 302
    assert Run.objects.get().params == {"ids": [found.pk], "is_full": True}
    assert not Materialization.objects.exists()


def test_the_api_does_what_the_pages_do(hive: MaterializedLake, people: People) -> None:
    olga = client(people.owner)

    def post(page: str, *args: int, status: int, **data: Any) -> Any:
        url = reverse(f"pipelines-api:{page}", args=args)
        answer = olga.post(url, data, content_type="application/json")
        assert answer.status_code == status, answer.content
        return answer.json() if answer.content else None

    def get(name: str, *args: int) -> Any:
        return olga.get(reverse(f"pipelines-api:{name}", args=args)).json()

    assert post("materialization-check", sql=SQL, status=200) == {
        "tables": ["shop.orders"],
        "dimensions": ["dt"],
        "aggregates": ["n"],
    }
    refused = post("materialization-check", sql=f"{SQL} ORDER BY 1", status=400)
    assert refused["code"] == "materialized.definition"
    key = post("materializations", lake="main", name="marts.days", sql=SQL, status=201)["id"]
    assert get("materializations")["results"][0]["name"] == "marts.days"
    aggregate_answered("main", "marts.days", now=NOW)
    one = get("materialization", key)
    assert (one["positions"], one["n_answers"], one["pause_minutes"]) == ({}, 1, 5)
    assert one["days"][0]["n_answers"] == 1
    run = post("materialization-refresh", key, status=202)["id"]
    assert str(Run.objects.get().pk) == run
    assert get("materialization-refreshes", key)["results"] == []
    other = {"sql": SQL.replace("count(*)", "max(id)"), "every_minutes": 7, "on_commit": True}
    post("materialization", key, version=3, status=409, **other)
    assert post("materialization", key, version=0, status=200, **other)["version"] == 1
    assert get("materialization", key)["on_commit"]
    post("materialization-pause", key, paused=True, status=204)
    assert get("materialization", key)["is_paused"]
    post("materialization-delete", key, typed="x", version=1, status=400)
    post("materialization-delete", key, typed="marts.days", version=1, status=204)


def test_the_page_and_the_api_tell_of_the_run_that_refreshes_it(
    found: Materialization, people: People
) -> None:
    def told(user: User) -> Any:
        url = reverse("pipelines-api:materialization", args=[found.pk])
        return client(user).get(url).json()["run"]

    assert told(people.owner) is None
    assert "lw-progress" not in page(people.owner, "materialization", found.pk)
    assert refreshes_due("main", now=NOW) == 1
    run = Run.objects.get()
    Run.objects.update(state="RUNNING", phase="all rows", done=17, total=120, message="marts.days")
    assert told(people.owner) == told(people.admin) == str(run.pk)
    one = page(people.admin, "materialization", found.pk)
    assert "17 of 120" in one
    assert reverse("ui:run", args=[run.pk]) in one
    # Whoever may not see the run of a schedule is not shown how far it is.
    assert "17 of 120" not in page(people.owner, "materialization", found.pk)
    mine = refresh_request(found, is_full=True, by="olga", now=NOW)
    Run.objects.filter(pk=mine.pk).update(done=3, total=9)
    assert told(people.owner) == str(mine.pk)
    assert "3 of 9" in page(people.owner, "materialization", found.pk)
    Run.objects.update(finished_at=NOW)
    assert told(people.owner) is None
