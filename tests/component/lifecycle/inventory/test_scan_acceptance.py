"""A scan that stopped because the lake had shrunk: who may overrule it, how, and for how long."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.inventory.services.scan import scan_request
from lifecycle.inventory.services.scan_acceptance import scan_accept_smaller
from lifecycle.schedule.run_kinds.scan import ScanKind
from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, NotVisible, PortalError, RuleViolation, StaleState
from portal.runs.models import Run
from tests.component.conftest import LAKE, People

pytestmark = pytest.mark.usefixtures("lake")
COUNTS = {"databases": 4, "tables": 90, "partitions": 300}


@pytest.fixture
def stopped(people: People, lake: LakeConfig) -> Run:
    """A scan that saw a third of the partitions, as the job tells it."""
    fields: dict[str, str] = {}
    for what, n in COUNTS.items():
        fields |= {f"{what}_before": str(3 * n), f"{what}_now": str(n)}
    return Run.objects.create(
        lake=LAKE,
        kind=ScanKind.name,
        queue="scan",
        state="FAILED",
        requested_by="schedule",
        queued_at=timezone.now() - timedelta(hours=1),
        finished_at=timezone.now(),
        error={
            "code": "scan.inventory_shrank",
            "message": "The metastore shows 300 partitions, the last good scan saw 900.",
            "fields": fields,
        },
    )


def client_of(user: User, *, fresh: bool = True) -> Client:
    client = Client()
    client.force_login(user)
    if fresh:
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
    return client


def accept(run: Run, user: User, **changes: Any) -> Run:
    now: datetime = timezone.now()
    values: dict[str, Any] = {"reason": "the old lake was moved", "authenticated_at": now}
    return scan_accept_smaller(run.pk, user=user, now=now, **(values | changes))


def test_the_run_the_page_and_the_api_show_what_was_seen(stopped: Run, people: People) -> None:
    client = client_of(people.operator)
    address = f"/lifecycle/scans/{stopped.pk}/smaller/"
    run_page = client.get(f"/runs/{stopped.pk}/").content.decode()
    assert "the last good scan saw 900" in run_page
    assert address in run_page
    (step,) = client.get(f"/api/v1/runs/{stopped.pk}/").json()["steps"]
    assert step["url"] == address
    page = client.get(address).content.decode()
    assert all(number in page for number in (">900<", ">300<", ">270<", ">90<"))
    assert "Only an admin may accept it." in page
    assert client_of(people.owner).get(address).status_code == 404


def test_an_admin_accepts_on_the_page_for_one_scan(stopped: Run, people: People) -> None:
    admin, address = client_of(people.admin), f"/lifecycle/scans/{stopped.pk}/smaller/"
    assert "Accept 300 partitions instead of 900" in admin.get(address).content.decode()
    refused = admin.post(address, {"reason": " "})
    assert (refused.status_code, b"scan.accept_reason" in refused.content) == (400, True)
    done = admin.post(address, {"reason": "the old lake was moved"})
    run = Run.objects.exclude(pk=stopped.pk).get()
    assert done["Location"] == f"/runs/{run.pk}/"
    assert ScanKind().request(run)["accepted"] == COUNTS
    event = AuditEvent.objects.get(action="scan.smaller_accepted")
    assert (event.actor, event.object_id) == ("ada", str(stopped.pk))
    assert event.data["accepted"] == COUNTS
    assert event.data["reason"] == "the old lake was moved"
    assert "ada accepted the smaller lake" in admin.get(address).content.decode()
    again = admin.post(address, {"reason": "once more"})
    assert (again.status_code, b"scan.accept_old" in again.content) == (409, True)
    # The next scan compares with the picture again: the acceptance was for this one.
    Run.objects.filter(pk=run.pk).update(state="DONE", finished_at=timezone.now())
    later = scan_request(LAKE, user=people.admin, now=timezone.now())
    assert ScanKind().request(later)["accepted"] is None


def test_the_api_does_the_same(stopped: Run, people: People) -> None:
    address = f"/api/v1/lifecycle/scans/{stopped.pk}/accept-smaller/"

    def post(client: Client, **body: str) -> tuple[int, dict[str, Any]]:
        answer = client.post(address, json.dumps(body), content_type="application/json")
        return answer.status_code, answer.json()

    why = "the old lake was moved"
    assert post(client_of(people.admin))[0] == 400
    stale = post(client_of(people.admin, fresh=False), reason=why)
    assert (stale[0], stale[1]["code"]) == (403, "approval.fresh_login")
    assert stale[1]["next_step"]
    assert post(client_of(people.operator), reason=why)[1]["code"] == "scan.accept_role"
    assert post(client_of(people.owner), reason=why)[0] == 404
    status, run = post(client_of(people.admin), reason=why)
    assert (status, run["state"], run["requested_by"]) == (201, "QUEUED", "ada")
    assert post(client_of(people.second), reason=why)[1]["code"] == "scan.accept_old"


def test_a_page_without_a_fresh_login_asks_for_the_password(stopped: Run, people: People) -> None:
    client = client_of(people.admin, fresh=False)
    answer = client.post(f"/lifecycle/scans/{stopped.pk}/smaller/", {"reason": "moved away"})
    assert answer["Location"].startswith("/login/again/")
    assert Run.objects.get() == stopped


def test_what_cannot_be_accepted(stopped: Run, people: People) -> None:
    def refused(kind: type[PortalError], user: User, **changes: Any) -> str:
        with pytest.raises(kind) as caught:
            accept(stopped, user, **changes)
        return caught.value.code

    assert refused(NotVisible, people.owner) == "scan.missing"
    assert refused(NotAllowed, people.operator) == "scan.accept_role"
    assert refused(RuleViolation, people.admin, reason="") == "scan.accept_reason"
    early = timezone.now() - timedelta(minutes=16)
    assert refused(NotAllowed, people.admin, authenticated_at=early) == "approval.fresh_login"
    assert refused(NotAllowed, people.admin, authenticated_at=None) == "approval.fresh_login"
    newer = scan_request(LAKE, user=people.admin, now=timezone.now())
    assert refused(StaleState, people.admin) == "scan.accept_old"
    Run.objects.filter(pk=newer.pk).delete()
    Run.objects.filter(pk=stopped.pk).update(error={"code": "metastore.unreachable", "fields": {}})
    assert refused(NotVisible, people.admin) == "scan.missing"
