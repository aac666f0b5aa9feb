"""Tests the access grid: every address answers exactly those people whom it names."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone

from lifecycle.backup.models import Hold
from lifecycle.models import (
    DatabaseSetting,
    DeletionConsent,
    DeletionRequest,
    DropPlan,
    Enrollment,
    PathException,
    PolicyEvent,
    PolicyRequest,
    StandingRule,
    TableFinding,
)
from optimizer.models import HudiTable, IcebergTable, OptimizeTask, PolicyVersion
from portal.access.models import DatabaseAdministrator
from portal.approvals.models import Approval, Decision
from portal.notices.models import Notice
from portal.people.models import ApiToken
from portal.runs.models import Run
from portal.safety.models import EmergencyStop
from refresh.models import Cluster, RefreshTarget, WatchedTable
from tests.security.addresses import all_names
from tests.security.grid import GRID
from tests.security.grid_rows import Row
from tests.security.refusals import wrong_words
from tests.security.target import PEOPLE, Target

REFUSED = (403, 404)
ODD = ("00000000-0000-4000-8000-000000000000", "%27%20or%201=1--", "..%2f..%2fetc")
pytestmark = pytest.mark.django_db(transaction=True)


def address(name: str, target: Target) -> str:
    row = GRID[name]
    places = (value.partition(":") for value in row.values)
    path = reverse(name, kwargs={key: target.values[other or key] for key, _, other in places})
    return f"{path}?{row.query}" if row.query else path


def is_login(answer: HttpResponseBase) -> bool:
    return answer.status_code == 302 and answer["Location"].startswith(reverse("ui:login"))


def test_every_address_has_a_row_and_every_row_an_address() -> None:
    assert sorted(GRID) == all_names()


@pytest.mark.parametrize("who", PEOPLE)
def test_reading(target: Target, who: str) -> None:
    wrong = []
    for name, row in GRID.items():
        path = address(name, target)
        answer = target.client(who).get(path)
        if not reads_as_told(row, who, answer):
            wrong.append(f"GET {path} as {who}: {answer.status_code}")
        elif is_spoken(who, answer) and (why := wrong_words(path, answer)):
            wrong.append(f"GET {path} as {who}: {answer.status_code} {why}")
    assert not wrong, "\n".join(wrong)


def is_spoken(who: str, answer: HttpResponseBase) -> bool:
    """Whether an answer refuses a known person in words (a program's wrong method has none)."""
    return who != "nobody" and answer.status_code >= 400 and answer.status_code != 405


def reads_as_told(row: Row, who: str, answer: HttpResponseBase) -> bool:
    if not row.is_get:
        # Where programs come by a token, nobody is asked for one first.
        is_asked_who = who == "nobody" and answer.status_code == 401
        return answer.status_code in (405, *REFUSED) or is_asked_who or is_login(answer)
    if row.is_door:
        return answer.status_code == 302
    if who in row.reads:
        return answer.status_code in (200, 302) and not is_login(answer)
    if who == "nobody":
        return answer.status_code in (401, 403) or is_login(answer)
    return answer.status_code in REFUSED


def send(name: str, who: str, target: Target, body: Mapping[str, Any]) -> HttpResponseBase:
    said, client, path = target.said(body), target.client(who), address(name, target)
    if path.startswith("/api/"):
        return client.post(path, json.dumps(said), content_type="application/json")
    return client.post(path, said)


@pytest.mark.parametrize("who", PEOPLE)
def test_a_right_form_of_the_wrong_person_changes_nothing_and_is_refused_in_words(
    target: Target, who: str
) -> None:
    wrong = []
    before = states(target)
    for name, row in GRID.items():
        if who in row.changes:
            continue
        answer = send(name, who, target, row.body)
        if not refuses(who, answer):
            wrong.append(f"POST {name} as {who}: {answer.status_code}")
        elif is_spoken(who, answer) and (why := wrong_words(address(name, target), answer)):
            wrong.append(f"POST {name} as {who}: {answer.status_code} {why}")
    assert not wrong, "\n".join(wrong)
    assert states(target) == before


def test_an_owner_changes_nothing_of_another_owner(target: Target) -> None:
    """The stranger of the grid owns tables and administers a database too, only not these."""
    orders = TableFinding.objects.get(db="sales", table="orders")
    for db, table in (("stock", "items"), ("sales", "returns")):
        TableFinding.objects.create(
            generation=orders.generation,
            lake=orders.lake,
            db=db,
            table=table,
            tbl_id=len(table) * 1_000,
            owner="eve",
            db_owner="eve" if db == "stock" else "dora",
            mode="ACT",
            table_type="MANAGED_TABLE",
        )
        IcebergTable.objects.create(
            lake=orders.lake, db=db, table=table, uuid=table, owner="eve", event_at=timezone.now()
        )
    DatabaseAdministrator.objects.create(lake=orders.lake, db="stock", username="eve")
    wrong, before, n_sent = [], states(target), 0
    for name, row in GRID.items():
        if "stranger" not in row.changes and row.body:
            n_sent += 1
            answer = send(name, "stranger", target, row.body)
            if not refuses("stranger", answer):
                wrong.append(f"POST {name}: {answer.status_code}")
    assert not wrong, "\n".join(wrong)
    assert states(target) == before
    assert n_sent > 30


def refuses(who: str, answer: HttpResponseBase) -> bool:
    if who == "nobody":
        return answer.status_code in (401, 403, 405) or is_login(answer)
    # 400: a name that this person may not see is answered like one that does not exist.
    return answer.status_code in (*REFUSED, 400, 405, 409)


def states(target: Target) -> list[Any]:
    """What could have changed: every state that a form moves, and how many of each there are."""
    return [
        sorted(model.objects.values_list(*fields), key=str)
        for model, *fields in (
            (Run, "pk", "state", "cancel_requested_by"),
            (DropPlan, "pk", "state"),
            (Approval, "pk", "state"),
            (Decision, "pk", "decision"),
            (Hold, "pk", "released_by"),
            (DeletionRequest, "pk", "state"),
            (StandingRule, "pk", "state"),
            (DatabaseSetting, "pk", "mode"),
            (Enrollment, "pk", "state"),
            (PolicyRequest, "pk", "state"),
            (PathException, "pk", "ended_by"),
            (DeletionConsent, "pk", "ended_by"),
            (Notice, "pk", "state"),
            (PolicyEvent, "pk", "closed_by"),
            (EmergencyStop, "pk", "released_by"),
            (ApiToken, "pk", "ended_by"),
            (WatchedTable, "pk", "is_opted_out", "table_changed_at"),
            (RefreshTarget, "pk", "due_at"),
            (IcebergTable, "pk", "is_paused"),
            (HudiTable, "pk", "is_paused", "inspect_due_at"),
            (OptimizeTask, "pk", "state", "requested_by", "outcome_code"),
            (PolicyVersion, "pk", "is_current"),
            (Cluster, "pk", "is_paused", "per_fe", "names_read_at"),
        )
    ]


def test_the_right_person_is_let_in_as_far_as_the_form(target: Target) -> None:
    """An empty POST says nothing, so nothing changes; but it must not be refused for the person."""
    wrong = []
    for name, row in GRID.items():
        for who in sorted(row.changes):
            answer = send(name, who, target, {})
            if answer.status_code not in (200, 202, 204, 302, 400, 409):
                wrong.append(f"POST {name} as {who}: {answer.status_code}")
    assert not wrong, "\n".join(wrong)


def test_no_form_is_taken_without_its_token(target: Target) -> None:
    wrong = []
    for name, row in GRID.items():
        for who in sorted(row.changes - {"nobody"}):
            answer = target.client(who, enforce_csrf_checks=True).post(address(name, target))
            # Without the body of a mail program a signed address takes nothing either.
            if answer.status_code != (400 if row.is_signed else 403):
                wrong.append(f"POST {name} as {who} without a token: {answer.status_code}")
    assert not wrong, "\n".join(wrong)


def test_no_form_is_taken_from_another_site(target: Target) -> None:
    for name, row in GRID.items():
        for who in sorted(row.changes - {"nobody"}):
            answer = target.client(who).post(
                address(name, target), headers={"Sec-Fetch-Site": "cross-site"}
            )
            assert answer.status_code == 403, (name, who)


def test_ids_that_are_none_and_ids_of_nothing_are_not_found(target: Target) -> None:
    admin = target.client("admin")
    for name, row in GRID.items():
        if not row.values or not row.is_get:
            continue
        path = address(name, target).split("?", 1)[0]
        for value in row.values:
            there = str(target.values[value.rpartition(":")[2]])
            for odd in (
                "00000000-0000-4000-8000-000000000000",
                "%27%20or%201=1--",
                "..%2f..%2fetc",
            ):
                status = admin.get(path.replace(f"/{there}/", f"/{odd}/")).status_code
                assert status == 404, (name, odd, status)


def test_an_address_of_nothing_says_so_on_pages_and_in_the_api(target: Target) -> None:
    client = target.client("admin")
    for path in ("/no/such/page/", "/api/v1/no/such/thing/", "/lifecycle/plans/not-an-id/"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert wrong_words(path, answer) == ""
