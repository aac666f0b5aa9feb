"""A writer's report stands with its commit, whichever is heard of first."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from optimizer.discovery.services.event_handlers import on_event, on_events
from optimizer.iceberg.tables.api.reports import MOST_BYTES
from optimizer.iceberg.tables.domain.events import TASK_KEY
from optimizer.models import Commit, IcebergTable
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_make
from tests.component.conftest import People
from tests.component.optimizer.iceberg.iceberg_said import NOW, altered, created, parameters

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
ADDRESS = "/api/optimizer/v1/main/namespaces/shop/tables/clicks/metrics"
# As Iceberg's CommitReportParser writes it.
REPORT = {
    "report-type": "commit-report",
    "table-name": "lake.shop.clicks",
    "snapshot-id": 7002,
    "sequence-number": 2,
    "operation": "overwrite",
    "metrics": {
        "total-duration": {
            "count": 1,
            "time-unit": "nanoseconds",
            "total-duration": 883_000_000,
        },
        "attempts": {"unit": "count", "value": 4},
        "added-data-files": {"unit": "count", "value": 3},
        "removed-data-files": {"unit": "count", "value": 9},
        "added-files-size-bytes": {"unit": "bytes", "value": 300},
        "odd": "word",
        "negative": {"unit": "count", "value": -1},
    },
    "metadata": {"engine-name": "spark"},
}


def send(user: User, body: Any = REPORT, *, address: str = ADDRESS) -> Any:
    client = Client()
    client.force_login(user)
    return client.post(address, json.dumps(body), content_type="application/json")


@pytest.fixture(autouse=True)
def table() -> IcebergTable:
    """A table of olga's after one commit, looked at since."""
    on_events([created(parameters(0)), altered(parameters(0), parameters(1))], NOW)
    IcebergTable.objects.update(inspect_due_at=None)
    return IcebergTable.objects.get()


def test_a_report_before_the_event_is_kept(people: People, lake: LakeConfig) -> None:
    for _ in range(2):
        assert send(people.owner).status_code == 204
    found = Commit.objects.get(snapshot_id=7002)
    assert (found.source, found.operation, found.sequence) == ("report", "overwrite", 2)
    assert (found.n_added, found.n_removed, found.bytes_added) == (3, 9, 300)
    assert (found.report["attempts"], found.report["total-duration-ms"]) == (4, 883)
    assert "odd" not in found.report
    assert "negative" not in found.report
    assert IcebergTable.objects.get().inspect_due_at is not None
    on_event(altered(parameters(1), parameters(2, summary={TASK_KEY: 1})), NOW)
    found.refresh_from_db()
    assert (found.is_ours, found.report["attempts"]) == (True, 4)


def test_a_report_after_the_event_joins_it(people: People, lake: LakeConfig) -> None:
    send(people.owner, REPORT | {"snapshot-id": 7001, "operation": "append"})
    found = Commit.objects.get()
    assert (found.source, found.operation, found.n_added) == ("event", "append", 1)
    assert found.report["attempts"] == 4


def test_a_scan_report_makes_no_commit_and_no_inspection(people: People) -> None:
    body = {"report-type": "scan-report", "snapshot-id": 7001, "filter": True, "metrics": {}}
    assert send(people.owner, body).status_code == 204
    assert Commit.objects.count() == 1
    assert IcebergTable.objects.get().inspect_due_at is None


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        REPORT | {"report-type": "other"},
        {key: value for key, value in REPORT.items() if key != "snapshot-id"},
        REPORT | {"snapshot-id": "x"},
        REPORT | {"snapshot-id": 2**63},
        REPORT | {"sequence-number": -1},
        REPORT | {"operation": "steal"},
        REPORT | {"metrics": 3},
    ],
)
def test_what_is_wrong_is_refused_and_nothing_is_kept(people: People, body: Any) -> None:
    answer = send(people.owner, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "api.400")
    assert Commit.objects.count() == 1


@pytest.mark.parametrize("field", ["report-type", "snapshot-id"])
def test_a_missing_field_is_named(people: People, field: str) -> None:
    answer = send(people.owner, {key: value for key, value in REPORT.items() if key != field})
    assert field in json.dumps(answer.json())


@pytest.mark.parametrize(
    ("address", "code"),
    [
        (ADDRESS.replace("main", "moon"), "lake.unknown"),
        (ADDRESS.replace("clicks", "nope"), "optimizer.table"),
        (ADDRESS.replace("shop", "a%1Fb"), "optimizer.table"),
    ],
)
def test_an_unknown_table_is_said(people: People, address: str, code: str) -> None:
    answer = send(people.operator, address=address)
    assert (answer.status_code, answer.json()["code"]) == (404, code)


def test_only_who_sees_a_table_reports_of_it(people: People) -> None:
    refused = send(people.stranger)
    assert (refused.status_code, refused.json()["code"]) == (404, "optimizer.table")
    assert send(people.operator).status_code == 204
    assert Client().post(ADDRESS, "{}", content_type="application/json").status_code == 401


def test_a_token_of_the_scope_reports(people: People) -> None:
    for scope, status in (("optimizer", 204), ("refresh", 403)):
        wish = TokenParams("job", (scope,), 9)
        made = token_make("olga", wish, user=people.owner, now=timezone.now() - timedelta(days=0))
        answer = Client().post(
            ADDRESS,
            json.dumps(REPORT),
            content_type="application/json",
            headers={"Authorization": f"Bearer {made.secret}"},
        )
        assert answer.status_code == status


HUGE = "9" * 4_000
POISON = [
    '{"added-data-files": {"value": 1e400}}',
    '{"added-data-files": {"value": NaN}}',
    '{"added-data-files": {"value": -9223372036854775809}}',
    '{"added-data-files": {"value": 9223372036854775808}}',
    '{"added-data-files": {"value": ' + HUGE + "}}",
    '{"total-duration": {"time-unit": "nanoseconds", "total-duration": -1}}',
    '{"total-duration": {"time-unit": ["x"], "total-duration": 1}}',
    '{"<script>alert(1)</script>": {"value": 7}}',
    '{"a\\u0000b\\ud800": {"value": 7}}',
    "{" + ",".join(f'"m{n}": {{"value": {n}}}' for n in range(5_000)) + "}",
    '{"a": ' * 900 + "1" + "}" * 900,
]


@pytest.mark.parametrize("metrics", POISON, ids=range(len(POISON)))
def test_a_poisoned_report_with_a_right_token_harms_nothing(people: People, metrics: str) -> None:
    made = token_make(
        "olga", TokenParams("job", ("optimizer",), 9), user=people.owner, now=timezone.now()
    )
    text = json.dumps(REPORT | {"metrics": {}}).replace('"metrics": {}', f'"metrics": {metrics}')
    answer = Client(raise_request_exception=False).post(
        ADDRESS,
        text,
        content_type="application/json",
        headers={"Authorization": f"Bearer {made.secret}"},
    )
    assert answer.status_code in (204, 400)
    for commit in Commit.objects.all():
        assert len(commit.report or {}) <= 100
        assert all(0 <= value < 2**63 for value in (commit.report or {}).values())
        assert 0 <= commit.n_added < 2**63
    keeper = Client()
    keeper.force_login(people.admin)
    page = keeper.get(reverse("optimizer:table-commits", args=[IcebergTable.objects.get().pk]))
    assert page.status_code == 200
    assert "<script>alert" not in page.content.decode()


def test_a_body_that_is_too_big_is_refused_unread(people: People) -> None:
    client = Client()
    client.force_login(people.owner)
    answer = client.post(ADDRESS, b" " * (MOST_BYTES + 1), content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (413, "optimizer.body")
