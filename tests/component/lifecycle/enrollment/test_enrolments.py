"""Existing tables enter lifecycle by a frozen choice that two others approve, and may leave."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.enrollment.selectors import candidates, preview
from lifecycle.enrollment.services.enrollments import (
    EnrollmentParams,
    enrollment_decide,
    enrollment_digest,
    enrollment_request,
    enrollment_undo,
    enrollment_withdraw,
)
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import Enrollment, EnrollmentItem, TableFinding
from lifecycle.policies.domain.policy import Values
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.approvals.services import approvals_lapse
from portal.audit.services import audit_record
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from portal.safety.services import emergency_stop_start
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.scanned import PICTURE, scan, set_mode
from tests.support.clock import start_clock
from tests.support.scan_results import Item, Table

pytestmark = pytest.mark.django_db(transaction=True)
LIFE = Values(1, 60)
NEW = "/lifecycle/enrolments/new/"
API = "/api/v1/lifecycle/enrolments/"
As = Callable[[User], Client]


def outside(name: str, tbl_id: int, *days: datetime, owner: str = "olga") -> Table:
    """A table without LEVEL and TTL, a partition a day."""
    items = tuple(Item(ExpiryClass.NOT_ENROLLED, f"dt={day:%Y-%m-%d}", day) for day in days)
    return Table("sales", name, tbl_id, owner=owner, items=items, ttl=None)


def at(month: int, day: int) -> datetime:
    return datetime(2026, month, day, tzinfo=UTC)


OLD = outside("old", 31, at(8, 1), at(8, 2), at(9, 24), at(11, 1))
PLAIN = outside("plain", 32, at(11, 10), owner="paul")
WEB = replace(outside("seen", 33, at(8, 1)), db="web")


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages and runs see the day of these tests: approvals expire by the clock."""
    start_clock(monkeypatch, NOW)


@pytest.fixture(autouse=True)
def picture(lake: LakeConfig, people: People) -> None:
    """Two tables outside lifecycle where the portal writes, one where it only watches."""
    scan(lake, replace(PICTURE, tables=(*PICTURE.tables, OLD, PLAIN, WEB)), now=NOW)
    set_mode("sales", "NOTIFY")


@pytest.fixture
def as_() -> As:
    """Return a client that is freshly signed in as somebody."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
        return client

    return sign_in


def ask(user: User, *, n_tables: int = 2, reason: str = "old lake", **selection: str) -> Enrollment:
    wish = EnrollmentParams(selection, LIFE, n_tables=n_tables, reason=reason)
    return enrollment_request(LAKE, wish, user=user, now=NOW)


def decide(
    found: Enrollment, user: User, decision: str = "APPROVE", digest: str = ""
) -> Enrollment:
    answer = DecisionInput(decision, "so it is", digest or found.digest)
    return enrollment_decide(found.pk, user=user, answer=answer, authenticated_at=NOW, now=NOW)


def code(step: Callable[[], object]) -> str:
    with pytest.raises(PortalError) as error:
        step()
    return error.value.code


def test_what_may_be_enrolled_is_outside_lifecycle_and_written_to() -> None:
    assert [str(one) for one in candidates(LAKE, {}).order_by("table")] == [
        "sales.old", "sales.plain"
    ]  # fmt: skip
    assert [str(one) for one in candidates(LAKE, {"owner": "paul"})] == ["sales.plain"]
    assert [str(one) for one in candidates(LAKE, {"table": "ol"})] == ["sales.old"]
    TableFinding.objects.filter(table="orders").update(level=0)
    assert [str(one) for one in candidates(LAKE, {"what": "forever"})] == ["sales.orders"]
    assert candidates(LAKE, {"what": "none"}).count() == 2
    TableFinding.objects.filter(table="old").update(unsupported_reason="a view")
    assert not candidates(LAKE, {"table": "old"}).exists()


def test_the_preview_says_what_would_go() -> None:
    found = preview(LAKE, {}, LIFE)
    assert (found.n_tables, found.n_observed) == (2, 1)
    assert found.outcome is not None
    assert (found.outcome.now.n, found.outcome.soon.n, found.outcome.later.n) == (2, 1, 2)
    assert preview(LAKE, {"table": "old"}, Values(0, 5)).outcome is not None


def test_an_enrolment_is_frozen_and_two_others_approve_it(people: People) -> None:
    found = ask(people.admin)
    assert (found.state, found.n_tables, found.what_if["now"]["n"]) == ("PENDING", 2, 2)
    items = {str(item): item for item in found.items.all()}
    assert (items["sales.old"].n_now, items["sales.old"].bytes_now) == (2, 2_000)
    assert items["sales.old"].before is None
    assert enrollment_digest(found, found.items.all()) == found.digest
    assert code(lambda: decide(found, people.admin)) == "approval.own"
    assert code(lambda: decide(found, people.operator)) == "approval.role"
    assert code(lambda: decide(found, people.second, digest="0" * 64)) == "approval.changed"
    assert decide(found, people.second).state == "PENDING"
    assert code(lambda: decide(found, people.second)) == "approval.decided"
    done = decide(found, people.third)
    assert done.state == "RUNNING"
    assert done.run is not None
    assert done.run.kind == "lifecycle.enrol"
    assert code(lambda: decide(found, people.third)) == "enrolment.closed"


@pytest.mark.parametrize(
    ("who", "changes", "expected"),
    [
        ("owner", {}, "enrol.role"),
        ("admin", {"reason": " "}, "enrol.reason"),
        ("admin", {"n_tables": 3}, "enrol.changed"),
        ("admin", {"db": "web", "n_tables": 0}, "enrol.nothing"),
        ("admin", {"db": "nothing", "n_tables": 0}, "enrol.nothing"),
    ],
)
def test_what_may_not_be_asked(
    people: People, who: str, changes: dict[str, Any], expected: str
) -> None:
    assert code(lambda: ask(getattr(people, who), **changes)) == expected
    assert not Enrollment.objects.exists()


def test_odd_values_and_too_many_tables_are_refused(people: People, settings: Any) -> None:
    for values in (Values(1, 0), Values(1, 10**12), Values(2, 5), Values(1)):
        wish = EnrollmentParams({}, values, 2, "r")
        step = partial(enrollment_request, LAKE, wish, user=people.admin, now=NOW)
        assert code(step) == "policy.values"
    settings.LAKEWARDEN_ENROL_MAX_TABLES = 1
    assert code(lambda: ask(people.admin)) == "enrol.too_many"


def test_who_last_changed_a_table_may_not_approve_its_enrolment(people: People) -> None:
    audit_record(
        "policy.changed",
        actor="ben",
        lake=LAKE,
        object_type="table",
        object_id="sales.old",
        data={
            "from": {"level": 1, "ttl": 5},
            "to": {"level": None, "ttl": None},
            "through": "portal",
        },
        now=NOW,
    )
    # What the guard tells of the portal's own change does not hide who asked for it.
    audit_record(
        "policy.changed",
        actor="lakewarden",
        lake=LAKE,
        object_type="table",
        object_id="sales.old",
        data={"before": {"LEVEL": "1", "TTL": "5"}, "after": {}},
        now=NOW,
    )
    found = ask(people.admin)
    assert found.requesters == ["ada", "ben"]
    assert code(lambda: decide(found, people.second)) == "approval.own"


def test_one_no_ends_it_nobody_lets_it_lapse_and_its_maker_withdraws_it(people: People) -> None:
    assert decide(ask(people.admin), people.second, "REJECT").state == "REJECTED"
    lapsed = ask(people.admin)
    approvals_lapse(NOW + timedelta(days=4))
    lapsed.refresh_from_db()
    assert lapsed.state == "LAPSED"
    mine = ask(people.admin)
    assert (
        code(lambda: enrollment_withdraw(mine.pk, user=people.second, reason="", now=NOW))
        == "approval.withdraw"
    )
    gone = enrollment_withdraw(mine.pk, user=people.admin, reason="no", now=NOW)
    assert gone.state == "WITHDRAWN"
    assert not Run.objects.filter(kind="lifecycle.enrol").exists()


def running(people: People) -> Enrollment:
    found = ask(people.admin)
    decide(found, people.second)
    return decide(found, people.third)


def test_without_a_metastore_nothing_is_written_and_the_enrolment_says_so(people: People) -> None:
    found = running(people)
    assert run_drive(str(found.run_id)).state == "FAILED"
    found.refresh_from_db()
    assert (found.state, found.undo_run_id) == ("FAILED", None)
    assert "does not answer" in found.note
    assert {item.state for item in found.items.all()} == {"PENDING"}


def test_what_was_tampered_with_or_stopped_does_not_run(people: People) -> None:
    found = running(people)
    EnrollmentItem.objects.filter(table="plain").update(table="orders")
    run_drive(str(found.run_id))
    found.refresh_from_db()
    assert (found.state, found.note) == ("FAILED", "The content is not what was approved.")
    stopped = running(people)
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason="stop", now=NOW)
    run_drive(str(stopped.run_id))
    stopped.refresh_from_db()
    assert "emergency stop" in stopped.note


def test_only_what_was_enrolled_can_be_undone_by_an_admin_with_a_reason(people: People) -> None:
    found = running(people)
    assert (
        code(lambda: enrollment_undo(found.pk, user=people.second, reason="no", now=NOW))
        == "enrolment.closed"
    )
    Enrollment.objects.filter(pk=found.pk).update(state="DONE")
    for user, reason, expected in (
        (people.operator, "r", "enrol.undo"),
        (people.second, " ", "enrol.reason"),
    ):
        step = partial(enrollment_undo, found.pk, user=user, reason=reason, now=NOW)
        assert code(step) == expected
    undone = enrollment_undo(found.pk, user=people.second, reason="too early", now=NOW)
    assert (undone.state, undone.undo_by) == ("UNDOING", "ben")


def test_each_person_sees_their_own_tables_of_an_enrolment(people: People, as_: As) -> None:
    found = ask(people.admin)
    url = f"/lifecycle/enrolments/{found.pk}/"
    seen = {
        people.owner: {"sales.old"},
        User.objects.create_user("paul"): {"sales.plain"},
        User.objects.create_user("sara"): {"sales.old", "sales.plain"},
        people.operator: {"sales.old", "sales.plain"},
    }
    for user, names in seen.items():
        page = as_(user).get(url)
        assert {str(row) for row in page.context["page"].rows} == names, user
        assert bool(page.context["sees_all"]) is (user == people.operator)
    assert as_(people.stranger).get(url).status_code == 404
    assert list(as_(people.owner).get("/lifecycle/enrolments/").context["page"].rows) == [found]
    assert not as_(people.stranger).get("/lifecycle/enrolments/").context["page"].rows
    assert "Enrollments to decide" in as_(people.second).get("/").content.decode()
    assert "Enrollments to decide" not in as_(people.admin).get("/").content.decode()


def test_an_enrolment_goes_its_way_over_the_pages(people: People, as_: As) -> None:
    page = as_(people.admin).get(NEW + "?level=1&ttl=60")
    assert page.context["preview"].n_tables == 2
    assert "Request to enroll 2 tables" in page.content.decode()
    assert as_(people.owner).get(NEW).status_code == 403
    assert not as_(people.admin).get(NEW + "?what=odd").context["page"].rows
    said = {"level": "1", "ttl": "60", "n_tables": "2", "reason": "old lake"}
    assert as_(people.admin).post(NEW, said | {"ttl": "x"}).status_code == 400
    assert as_(people.admin).post(NEW, said | {"n_tables": "x"}).status_code == 409
    asked = as_(people.admin).post(NEW, said)
    found = Enrollment.objects.get()
    url = asked["Location"]
    assert url == f"/lifecycle/enrolments/{found.pk}/"
    assert as_(people.admin).get(url).context["may"].names == ["withdraw"]
    assert as_(people.second).get(url).context["may"].names == ["approve", "reject"]
    answer = {"decision": "APPROVE", "digest": found.digest}
    assert as_(people.second).post(url + "decide/", answer).status_code == 302
    assert as_(people.second).post(url + "decide/", answer).status_code == 409
    lines = as_(people.admin).get(url + "?format=csv").getvalue().decode()
    assert lines.count("\n") == 3
    assert as_(people.admin).get(url + "?state=DONE").status_code == 200


def test_the_api_gives_and_takes_what_the_pages_do(people: People, as_: As) -> None:
    admin, second = as_(people.admin), as_(people.second)
    shown = admin.get(API + "preview/?level=1&ttl=60&table=old").json()
    assert (shown["n_tables"], shown["outcome"]["now"]["n"]) == (1, 2)
    assert admin.get(API + "preview/?level=1&ttl=x").status_code == 400
    assert admin.get(API + "preview/").json()["outcome"] is None

    def post(client: Client, path: str, **body: Any) -> tuple[int, Any]:
        answer = client.post(API + path, json.dumps(body), content_type="application/json")
        return answer.status_code, answer.json()

    said = {"level": 1, "ttl": 60, "n_tables": 2, "reason": "old lake"}
    assert post(admin, "", **(said | {"ttl": 0}))[0] == 400
    status, made = post(admin, "", **said)
    assert (status, made["state"], made["transitions"]) == (201, "PENDING", ["withdraw"])
    url = f"{made['id']}/"
    assert second.get(API + url).json()["transitions"] == ["approve", "reject"]
    answer = {"decision": "APPROVE", "digest": made["digest"]}
    assert post(second, url + "decide/", **(answer | {"digest": "0" * 64}))[0] == 409
    assert post(second, url + "decide/", **answer)[1]["state"] == "PENDING"
    former = {"verdict": "APPROVE", "digest": made["digest"]}
    assert post(as_(people.third), url + "decide/", **former)[1]["state"] == "RUNNING"
    assert len(admin.get(API + url + "items/").json()["results"]) == 2
    assert as_(people.owner).get(API + url).json()["what_if"] == {}
    assert post(admin, url + "undo/", reason="r")[0] == 409
    assert len(admin.get(API + "?state=RUNNING").json()["results"]) == 1
