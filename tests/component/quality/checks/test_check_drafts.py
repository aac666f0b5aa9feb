"""Drafts of checks on pages and by the API: proposed, imported, tried, and measured."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from portal.access.gauges import all_gauges
from portal.access.models import User
from quality.checks.services.requests import check_request
from quality.models import CheckSet, CheckTrial, RuleResult
from tests.component.conftest import People
from tests.component.portal.ui.table_rows import listed
from tests.component.quality.checks.checked import DOCUMENT, declare, measure
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
DRAFT = DOCUMENT.replace("min: 5", "min: 10").replace(
    "{name: no_nulls",
    "{name: filled, metric: null_rate, column: note, max: 0}\n  - {name: no_nulls",
)
SODA = "checks for shop.notes:\n  - row_count > 0\n  - anomaly score for row_count < default\n"


def client(user: User) -> Client:
    made = Client()
    made.force_login(user)
    return made


def text_of(answer: Any) -> str:
    streamed = getattr(answer, "streaming_content", None)
    return (b"".join(streamed) if streamed else answer.content).decode()


def page(user: User, name: str, *args: Any, query: str = "", status: int = 200) -> str:
    answer = client(user).get(reverse(f"readiness:{name}", args=args) + query)
    assert answer.status_code == status, answer
    return text_of(answer)


@pytest.fixture
def measured(hive: FlagLake, people: People) -> CheckSet:
    """Checks of a table whose rule on rows failed an hour ago, of a window of these days."""
    row = declare(people.owner, timezone.now())
    measure(row, check_request(row, by="olga", now=timezone.now()), timezone.now(), 4)
    row.refresh_from_db()
    return row


def test_the_editor_tries_a_draft_and_saves_nothing(measured: CheckSet, people: People) -> None:
    olga, url = client(people.owner), reverse("readiness:check-set-edit", args=[measured.pk])
    body = {"document": DRAFT, "every_minutes": 60, "version": 0}
    answer = olga.post(url, {**body, "do": "try"})
    text = text_of(answer)
    assert answer.status_code == 200
    assert "would have failed 1 time in 90 days" in text
    assert "row_count is 4, below the minimum of 10" in text
    assert "null_rate(note)" in text.partition("Not measured before")[2]
    assert "min: 10" in text, "what was written stands in the form"
    measured.refresh_from_db()
    assert measured.version == 0
    wrong = olga.post(url, {**body, "document": "rules: [", "do": "try"})
    assert wrong.status_code == 400
    assert "no YAML" in text_of(wrong)


def test_past_partitions_are_measured_on_request(
    measured: CheckSet, hive: FlagLake, people: People
) -> None:
    olga, url = client(people.owner), reverse("readiness:check-set-edit", args=[measured.pk])
    body = {"document": DRAFT, "every_minutes": 60, "version": 0, "do": "measure"}
    answer = olga.post(url, body)
    trial = CheckTrial.objects.get()
    assert answer.headers["Location"] == reverse("readiness:check-trial", args=[trial.pk])
    assert "are being measured" in page(people.owner, "check-trial", trial.pk)
    page(people.stranger, "check-trial", trial.pk, status=404)
    reading = {
        "window": str(timezone.now().date()),
        "value": 0.5,
        "measured_at": timezone.now().isoformat(),
    }
    trial.readings = {"null_rate(note)": [reading]}
    trial.measured_at = timezone.now()
    trial.save()
    text = page(people.owner, "check-trial", trial.pk)
    assert "null_rate(note) is 50 %, above the maximum of 0 %" in text
    assert "Not measured before" not in text
    again = page(people.owner, "check-set-edit", measured.pk, query=f"?trial={trial.pk}")
    assert "name: filled" in again
    page(people.stranger, "check-set-new", query=f"?trial={trial.pk}", status=404)


def test_rules_are_proposed_from_columns(hive: FlagLake, people: People) -> None:
    text = page(people.owner, "check-set-new", query="?table=shop.notes&propose=1")
    assert "table: shop.notes" in text
    assert "name: row_count" in text
    page(people.stranger, "check-set-new", query="?table=shop.notes&propose=1", status=404)


def test_checks_of_soda_are_shown_before_they_are_saved(hive: FlagLake, people: People) -> None:
    olga, url = client(people.owner), reverse("readiness:check-soda")
    text = text_of(olga.post(url, {"soda": SODA}))
    assert "1 rule of shop.notes" in text
    assert "metric: row_count" in text
    refused = text.partition("<h2>Refused</h2>")[2]
    assert ">3<" in refused
    assert "write it as `compare` or `learnt`" in refused
    none = text_of(olga.post(url, {"soda": "checks for shop.notes:\n  - odd"}))
    assert "No check could be taken over" in none
    wrong = olga.post(url, {"soda": "a: 1"})
    assert wrong.status_code == 400
    assert "This is no SodaCL" in text_of(wrong)
    assert not CheckSet.objects.exists()


def test_a_rule_has_its_trend_and_its_results(measured: CheckSet, people: People) -> None:
    text = page(people.owner, "check-rule", measured.pk, "enough")
    assert "1 outside of them" in text
    assert "failed" in text.partition("Data table")[2]
    assert "row_count is 4, below the minimum of 5" in text
    csv = page(people.owner, "check-rule", measured.pk, "enough", query="?format=csv")
    assert len(csv.splitlines()) == 2
    page(people.owner, "check-rule", measured.pk, "other", status=404)
    page(people.stranger, "check-rule", measured.pk, "enough", status=404)
    whole = page(people.owner, "check-set", measured.pk)
    assert whole.count("<figcaption>") == 2


def test_tables_without_checks_are_listed(measured: CheckSet, people: People) -> None:
    for name in ("notes", "sales"):
        listed(name)
    text = page(people.owner, "check-coverage")
    assert "shop.sales" in text
    assert "shop.notes" not in text
    assert "table=shop.sales&amp;propose=1" in text
    csv = page(people.admin, "check-coverage", query="?format=csv&table=sal")
    assert len(csv.splitlines()) == 2
    assert "No table fits" in page(people.admin, "check-coverage", query="?db=other")
    assert "Every table has checks" in page(people.stranger, "check-coverage")


def test_the_page_of_a_table_has_its_checks(measured: CheckSet, people: People) -> None:
    for name in ("notes", "sales"):
        listed(name)
    olga = client(people.owner)
    text = text_of(olga.get("/tables/shop/notes/checks/"))
    assert "2 rules on 1 column" in text
    assert "row_count is 4, below the minimum of 5" in text
    none = text_of(olga.get("/tables/shop/sales/checks/"))
    assert "No rule looks at this table" in none


def test_home_and_metrics_tell_of_tables_whose_checks_fail(
    measured: CheckSet, people: People
) -> None:
    listed("sales")
    card = "Tables whose checks fail"
    text = text_of(client(people.owner).get("/"))
    assert card in text
    assert "1 table without any check" in text
    assert card not in text_of(client(people.stranger).get("/"))
    gauges = {one.name: list(one.samples()) for one in all_gauges()}
    states = {of["state"]: n for of, n in gauges["readiness_checked_tables"]}
    assert states == {"failed": 1, "unknown": 0, "passed": 0, "problem": 0, "new": 0}
    assert gauges["readiness_unchecked_tables"] == [({"lake": "main"}, 1)]
    RuleResult.objects.update(outcome="passed")
    assert card not in text_of(client(people.owner).get("/"))


def test_the_api_of_drafts(measured: CheckSet, people: People) -> None:
    olga = client(people.owner)

    def post(name: str, *, status: int = 200, **data: Any) -> Any:
        url = reverse(f"readiness-api:{name}")
        answer = olga.post(url, data, content_type="application/json")
        assert answer.status_code == status, answer.content
        return answer.json()

    tried = post("check-try", lake="main", document=DRAFT)
    assert (tried["n_failed"], tried["unmeasured"]) == (1, ["null_rate(note)"])
    assert tried["rules"][0]["failed"][0]["low"] == 10
    made = post("check-trials", lake="main", document=DRAFT, status=202)
    assert (made["measured_at"], made["found"]["n_failed"]) == (None, 1)
    url = reverse("readiness-api:check-trial", args=[made["id"]])
    assert olga.get(url).json()["run"] == made["run"]
    assert client(people.stranger).get(url).status_code == 404
    proposed = post("check-proposal", lake="main", table="shop.notes")
    assert proposed["document"].startswith("table: shop.notes")
    found = post("check-soda", soda=SODA)
    assert "metric: row_count" in found["document"]
    assert found["refused"][0]["line"] == 3
    listed("sales")
    rows = olga.get(reverse("readiness-api:check-coverage")).json()["results"]
    assert [one["table"] for one in rows] == ["shop.sales"]


def test_a_trial_asks_the_database_little_whatever_the_rules(
    measured: CheckSet, people: People, django_assert_max_num_queries: Any
) -> None:
    olga = client(people.owner)
    rules = "".join(
        f"\n  - {{name: r{n}, metric: null_rate, column: c{n}, max: 0}}" for n in range(100)
    )
    body = {"document": f"{DOCUMENT}{rules}", "every_minutes": 60, "version": 0, "do": "try"}
    url = reverse("readiness:check-set-edit", args=[measured.pk])
    olga.get(url)
    with django_assert_max_num_queries(16):
        assert olga.post(url, body).status_code == 200
