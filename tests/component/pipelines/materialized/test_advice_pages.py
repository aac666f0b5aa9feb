"""The pages and the API of advice on materializations."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from pipelines.models import Materialization, MaterializationAdvice
from portal.access.models import User
from tests.component.conftest import People
from tests.support.materialized_lake import SQL, MaterializedLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
GROUPING = {
    **{"digest": "d", "dimensions": ["dt"], "measures": ["count(*)"], "tables": ["shop.orders"]},
    **{"shape": "SELECT dt FROM x", "n_queries": 40, "n_days": 5, "n_bytes": 900, "seconds": 1.5},
}


def advice(**other: Any) -> MaterializationAdvice:
    said = {
        **{"lake": "main", "db": "shop", "table": "orders", "name": "marts.by_dt", "sql": SQL},
        **{"digest": "d", "reason": "It would have answered 40 queries.", "n_queries": 40},
        **{"n_days": 5, "n_bytes": 900, "seconds": 1.5, "groupings": [GROUPING]},
        **{"made_at": NOW, "confirmed_at": NOW},
    }
    return MaterializationAdvice.objects.create(**{**said, **other})


def client(user: User) -> Client:
    made = Client()
    made.force_login(user)
    return made


def page(user: User, name: str, *args: Any, query: str = "", status: int = 200) -> str:
    answer = client(user).get(reverse(f"pipelines:{name}", args=args) + query)
    assert answer.status_code == status, answer
    streamed = getattr(answer, "streaming_content", None)
    return (b"".join(streamed) if streamed else answer.content).decode()


def test_the_list_says_what_waits_and_what_to_do_without_any(
    hive: MaterializedLake, people: People
) -> None:
    assert "No advice yet" in page(people.admin, "materialization-advice")
    assert "new)" not in page(people.admin, "materializations")
    advice()
    assert "(1 new)" in page(people.admin, "materializations")
    text = page(people.operator, "materialization-advice")
    assert "It would have answered 40 queries." in text
    assert "marts.by_dt" not in page(people.owner, "materialization-advice")
    csv = page(people.admin, "materialization-advice", query="?format=csv&state=NEW&table=ord")
    assert len(csv.splitlines()) > 1
    nothing = page(people.admin, "materialization-advice", query="?state=DISMISSED")
    assert "No advice fits this filter" in nothing


def test_the_page_shows_its_queries_and_leads_to_the_editor(
    hive: MaterializedLake, people: People
) -> None:
    row = advice()
    text = page(people.admin, "materialization-advice-one", row.pk)
    for said in ("SELECT dt FROM x", "count(*)", "on 5 days", "Define it", "the first refresh"):
        assert said in text
    page(people.owner, "materialization-advice-one", row.pk, status=404)
    query = f"?lake=main&advice={row.pk}"
    text = page(people.admin, "materialization-new", query=query)
    assert f"{SQL}</textarea>" in text
    assert "Filled in from" in text
    for wrong in ("x", str(row.pk + 99)):
        page(people.admin, "materialization-new", query=f"?advice={wrong}", status=404)
    page(people.owner, "materialization-new", query=query, status=404)
    form = {"name": "marts.by_dt", "sql": SQL, "every_minutes": 5}
    url = reverse("pipelines:materialization-new") + query
    assert client(people.admin).post(url, form).status_code == 302
    row.refresh_from_db()
    assert (row.state, row.materialization) == ("APPLIED", Materialization.objects.get())
    answer = client(people.admin).post(url, {**form, "name": "marts.again"})
    assert answer.status_code == 409
    assert "applied already" in answer.content.decode()


def test_it_is_dismissed_and_paused_by_its_page(hive: MaterializedLake, people: People) -> None:
    kept = Materialization.objects.create(
        **{"lake": "main", "db": "marts", "table": "days", "location": "file:/x", "sql": SQL},
        **{"identity": "6f2f2f60-8f4c-4d55-a94e-1b1f6d1f7a11", "owner": "olga", "set_by": "olga"},
        **{"set_at": NOW, "next_at": NOW},
    )
    first = advice()
    second = advice(digest="e", gives_up=True, name="marts.days", materialization=kept, sql="")
    ada = client(people.admin)
    url = reverse("pipelines:materialization-advice-dismiss", args=[first.pk])
    ada.post(url, {"reason": ""})
    first.refresh_from_db()
    assert first.state == "NEW", "a reason is asked for"
    ada.post(url, {"reason": "It goes."})
    ada.post(
        reverse("pipelines:materialization-advice-pause", args=[second.pk]), {"reason": "Unread."}
    )
    first.refresh_from_db()
    second.refresh_from_db()
    kept.refresh_from_db()
    assert (first.state, second.state, kept.is_paused) == ("DISMISSED", "APPLIED", True)
    assert "Pause marts.days" in page(people.admin, "materialization-advice-one", second.pk)


def test_the_api_does_the_same(hive: MaterializedLake, people: People) -> None:
    row, other = advice(), advice(digest="e")
    ada = client(people.admin)
    url = reverse("pipelines-api:materialization-advice")
    (listed, _) = ada.get(f"{url}?lake=main&state=NEW").json()["results"]
    assert (listed["table"], listed["groupings"][0]["digest"]) == ("shop.orders", "d")
    assert client(people.owner).get(f"{url}?lake=main").json()["results"] == []
    one = reverse("pipelines-api:materialization-advice-one", args=[row.pk])
    assert ada.get(one).json()["sql"] == SQL
    define = reverse("pipelines-api:materialization-advice-define", args=[row.pk])
    made = ada.post(define, {"name": "marts.by_dt"}, content_type="application/json")
    assert (made.status_code, made.json()["sql"]) == (201, SQL)
    again = ada.post(define, {"name": "marts.by_dt"}, content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "materialized.advice_decided")
    dismiss = reverse("pipelines-api:materialization-advice-dismiss", args=[other.pk])
    said = ada.post(dismiss, {"reason": "It goes."}, content_type="application/json")
    assert said.status_code == 204
    other.refresh_from_db()
    assert other.state == "DISMISSED"
    pause = reverse("pipelines-api:materialization-advice-pause", args=[row.pk])
    refused = ada.post(pause, {"reason": "It is unread."}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "materialized.advice_defines")
