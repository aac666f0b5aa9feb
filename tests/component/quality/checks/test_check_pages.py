"""The pages and the API of checks: lists, the editor with its errors, running, overriding."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from portal.access.models import User
from portal.runs.models import Run
from quality.checks.services.requests import check_request
from quality.models import CheckSet, Override, RuleResult
from tests.component.conftest import People
from tests.component.quality.checks.checked import DOCUMENT, declare, measure
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)


def client(user: User) -> Client:
    made = Client()
    made.force_login(user)
    return made


def page(user: User, name: str, *args: Any, query: str = "", status: int = 200) -> str:
    answer = client(user).get(reverse(f"readiness:{name}", args=args) + query)
    assert answer.status_code == status, answer
    streamed = getattr(answer, "streaming_content", None)
    return (b"".join(streamed) if streamed else answer.content).decode()


@pytest.fixture
def failed(hive: FlagLake, people: People) -> CheckSet:
    row = declare(people.owner, NOW)
    measure(row, check_request(row, by="olga", now=NOW), NOW, 4, None, reason="column_gone")
    row.refresh_from_db()
    return row


def test_lists_show_how_checks_stand(failed: CheckSet, people: People) -> None:
    text = page(people.owner, "checks")
    assert "shop.notes" in text
    assert "Failed" in text
    assert "shop.notes" in page(people.admin, "checks", query="?state=CHECK_FAILED&paused=0")
    assert "No table fits" in page(people.admin, "checks", query="?state=CHECK_PASSED")
    assert "shop.notes" not in page(people.stranger, "checks")
    assert len(page(people.admin, "checks", query="?format=csv").splitlines()) == 2
    one = page(people.owner, "check-set", failed.pk)
    for said in (
        "row_count is 4, below the minimum of 5",
        "Not judged",
        "2026-11-21",
        "is running",
    ):
        assert said in one
    csv = page(people.owner, "check-set", failed.pk, query="?format=csv&outcome=failed")
    assert len(csv.splitlines()) == 2
    history = page(people.owner, "check-history", failed.pk, query="?metric=null_count")
    assert "column_gone" in history
    assert "row_count" not in history.partition('id="list"')[2]
    assert (
        len(page(people.owner, "check-history", failed.pk, query="?format=csv").splitlines()) == 3
    )
    page(people.stranger, "check-set", failed.pk, status=404)


def test_the_editor_shows_what_is_wrong_at_its_field(hive: FlagLake, people: People) -> None:
    assert "metric: row_count" in page(people.owner, "check-set-new")
    olga, url = client(people.owner), reverse("readiness:check-set-new")
    wrong = DOCUMENT.replace("column: id, ", "")
    answer = olga.post(url, {"document": wrong, "every_minutes": 60})
    assert answer.status_code == 400
    assert "null_count needs a column" in answer.content.decode()
    assert olga.post(url, {"document": DOCUMENT, "every_minutes": 60}).status_code == 302
    row = CheckSet.objects.get()
    url = reverse("readiness:check-set-edit", args=[row.pk])
    assert "no_nulls" in olga.get(url).content.decode()
    other = {"document": DOCUMENT.replace("min: 5", "min: 6"), "every_minutes": 30}
    assert olga.post(url, {**other, "version": 7}).status_code == 409
    assert olga.post(url, {**other, "version": 0}).status_code == 302
    row.refresh_from_db()
    assert (row.version, row.every_minutes) == (1, 30)


def test_people_run_pause_and_delete_checks(failed: CheckSet, people: People) -> None:
    olga = client(people.owner)
    Run.objects.update(finished_at=NOW)
    for name, data in (
        ("check-run", {"windows": "2026-01-01 2026-01-02"}),
        ("check-pause", {"paused": "1"}),
        ("check-delete", {"version": "0"}),
    ):
        url = reverse(f"readiness:{name}", args=[failed.pk])
        assert client(people.stranger).post(url, data).status_code == 404
        assert olga.post(url, data).status_code == 302
    asked = Run.objects.get(finished_at=None)
    assert asked.params["windows"] == ["2026-01-01", "2026-01-02"]
    assert not CheckSet.objects.exists()


def test_two_people_override_a_result(failed: CheckSet, people: People) -> None:
    result = RuleResult.objects.get(rule="enough")
    assert "Override" in page(people.owner, "check-result", result.pk)
    override = reverse("readiness:check-override", args=[result.pk])
    confirm = reverse("readiness:check-override-confirm", args=[result.pk])
    assert client(people.owner).post(override, {"reason": "a quiet day"}).status_code == 302
    assert "Confirm the override" not in page(people.owner, "check-result", result.pk)
    assert "Confirm the override" in page(people.admin, "check-result", result.pk)
    assert client(people.owner).post(confirm).status_code == 403
    assert client(people.admin).post(confirm).status_code == 302
    assert Override.objects.get().confirmed_by == "ada"


def test_the_api_does_what_the_pages_do(hive: FlagLake, people: People) -> None:
    olga = client(people.owner)

    def post(name: str, *args: int, status: int, **data: Any) -> Any:
        url = reverse(f"readiness-api:{name}", args=args)
        answer = olga.post(url, data, content_type="application/json")
        assert answer.status_code == status, answer.content
        return answer.json() if answer.content else None

    def get(name: str, *args: int) -> Any:
        return olga.get(reverse(f"readiness-api:{name}", args=args)).json()

    made = post("checks", lake="main", document=DOCUMENT, status=201)
    key = made["id"]
    assert get("checks")["results"][0]["table"] == "shop.notes"
    assert get("check-set", key)["document"]["partition_key"] == "dt"
    run = Run.objects.get(pk=post("check-run", key, status=202)["id"])
    measure(CheckSet.objects.get(), run, NOW, 4)
    found = {one["rule"]: one for one in get("check-results", key)["results"]}
    assert (found["enough"]["outcome"], found["enough"]["override"]) == ("failed", None)
    assert len(get("check-history", key)["results"]) == 2
    failed = found["enough"]["id"]
    assert post("check-override", failed, reason="ok", status=201)["confirmed_at"] is None
    assert get("check-result", failed)["override"]["asked_by"] == "olga"
    post("check-override-confirm", failed, status=403)
    post("check-pause", key, paused=True, status=204)
    assert get("check-set", key)["is_paused"]
    post("check-delete", key, version=5, status=409)
    post("check-delete", key, version=0, status=204)
