"""N7.

Relocation plans are asked for, approved by two others, run, and taken back by a plan of its own.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.backup.services.ingesting import IngestReport
from lifecycle.drop.domain.refusal import Name
from lifecycle.models import PathFinding, RelocationPlan, ScanSnapshot
from lifecycle.relocation.services.execution import fix_execute, fix_finish, fixes_start_due
from lifecycle.relocation.services.plans import (
    fix_decide,
    fix_request,
    fix_undo_request,
    fix_withdraw,
)
from portal.access.models import User
from portal.approvals.domain import DecisionInput
from portal.approvals.services import approvals_lapse
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.connectors.name_services.crossing import crossing
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath
from portal.notices.models import Notice
from portal.runs.models import Run
from portal.safety.services import emergency_stop_start
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.fix_world import drawn_fix, store_drawn, stray_findings
from tests.component.lifecycle.scanned import scan, set_mode

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/lifecycle/path-fixes/"
API = "/api/v1/lifecycle/path-fixes/"
LATER = NOW + timedelta(days=1)


@pytest.fixture
def picture(lake: LakeConfig, people: People) -> ScanSnapshot:
    """A picture of an ACT database with two strays."""
    generation = scan(lake, now=NOW)
    set_mode("sales", "ACT")
    PathFinding.objects.all().delete()
    stray_findings(generation, owner="olga", db_owner="dora")
    return generation


@pytest.fixture
def fix(picture: ScanSnapshot, people: People) -> RelocationPlan:
    """A plan that waits for two admins."""
    return drawn_fix(list(PathFinding.objects.all()), user=people.admin, now=NOW)


def decide(
    fix: RelocationPlan, user: User, decision: str = "APPROVE", digest: str = ""
) -> RelocationPlan:
    answer = DecisionInput(decision, "so it is", digest or fix.digest)
    return fix_decide(fix.pk, user=user, answer=answer, authenticated_at=NOW, now=NOW)


def approved(fix: RelocationPlan, people: People) -> RelocationPlan:
    makers = set(fix.requesters)
    others = (people.admin, people.second, people.third)
    for user in [one for one in others if one.username not in makers][:2]:
        fix = decide(fix, user)
    return fix


def finished(
    fix: RelocationPlan, outcome: str = "MOVED", *, at: datetime = LATER
) -> RelocationPlan:
    """Run a plan to its end with this word about `stray`."""
    run = fix_execute(fix.pk, now=at)
    report = IngestReport(run.pk, window=0.5)
    report.put("sales.stray", outcome, "" if outcome == "MOVED" else "as told")
    for _ in range(2):
        found = RelocationPlan.objects.select_related("approval", "undo_of").get(pk=fix.pk)
        fix_finish(found, run, outcome="done", report=report, error="", now=at)
    return RelocationPlan.objects.get(pk=fix.pk)


def code(step: Callable[[], object]) -> str:
    with pytest.raises(PortalError) as error:
        step()
    return error.value.code


def states(fix: RelocationPlan) -> dict[str, str]:
    return {str(row): row.state for row in fix.items.all()}


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    session = client.session
    session["lw_authenticated_at"] = timezone.now().timestamp()
    session.save()
    return client


def test_a_plan_is_approved_by_two_others_and_cools_off_before_it_runs(
    fix: RelocationPlan, people: People
) -> None:
    assert (fix.state, fix.n_items, fix.n_left_out) == ("PENDING", 1, 1)
    assert states(fix) == {"sales.stray": "PLANNED", "sales.shared": "LEFT_OUT"}
    assert code(lambda: decide(fix, people.admin)) == "approval.own"
    assert code(lambda: decide(fix, people.operator)) == "approval.role"
    assert code(lambda: decide(fix, people.second, digest="0" * 64)) == "fix.changed"
    assert decide(fix, people.second).state == "PENDING"
    assert code(lambda: fix_execute(fix.pk, now=NOW)) == "fix.not_approved"
    assert decide(fix, people.third).state == "APPROVED"
    assert fixes_start_due(NOW, lake=LAKE) == []
    (run,) = fixes_start_due(LATER, lake=LAKE)
    assert run.kind == "lifecycle.fix_path"
    assert code(lambda: fix_execute(fix.pk, now=LATER)) == "fix.not_approved"


def test_what_would_leave_its_file_system_says_from_where_to_where(
    picture: ScanSnapshot, people: People
) -> None:
    rows = [one.pk for one in PathFinding.objects.all()]
    fix = fix_request(LAKE, rows, reason="tidy", user=people.admin, now=NOW)
    name = Name("sales", "shared")
    said = crossing(LakePath.parse("hdfs://archive/t"), LakePath.parse("hdfs://lake/sales/t"))
    fix = store_drawn(fix, picture, now=NOW, far={name: said})
    (row,) = fix.items.filter(table="shared")
    assert (row.state, row.left_out_reason) == ("LEFT_OUT", "OTHER_FILE_SYSTEM")
    assert "is on hdfs://archive, hdfs://lake/sales/t on hdfs://lake, " in row.note


def test_who_may_ask_and_for_what(picture: ScanSnapshot, people: People, settings: Any) -> None:
    rows = [one.pk for one in PathFinding.objects.all()]

    def ask(user: User, keys: list[int], reason: str = "tidy") -> RelocationPlan:
        return fix_request(LAKE, keys, reason=reason, user=user, now=NOW)

    assert code(lambda: ask(people.owner, rows)) == "fix.role"
    assert code(lambda: ask(people.admin, rows, " ")) == "fix.reason"
    assert code(lambda: ask(people.admin, [])) == "fix.nothing"
    assert code(lambda: ask(people.admin, [*rows, 10**9])) == "fix.picture"
    settings.LAKEWARDEN_FIX_MAX_ITEMS = 1
    assert code(lambda: ask(people.admin, rows)) == "fix.too_many"
    assert not RelocationPlan.objects.exists()
    made = ask(people.operator, rows[:1])
    assert made.plan_run is not None
    assert made.plan_run.kind == "lifecycle.path_fix_plan"
    assert fix_withdraw(made.pk, user=people.operator, reason="no", now=NOW).state == "WITHDRAWN"


def test_one_no_ends_it_and_nobody_in_time_lapses_it(
    picture: ScanSnapshot, fix: RelocationPlan, people: People
) -> None:
    other = drawn_fix(list(PathFinding.objects.all()), user=people.admin, now=NOW)
    assert code(lambda: decide(fix, people.second, "REJECT", "x")) == "fix.changed"
    assert decide(fix, people.second, "REJECT").state == "REJECTED"
    approvals_lapse(NOW + timedelta(days=4))
    other.refresh_from_db()
    assert other.state == "LAPSED"
    actions = list(
        AuditEvent.objects.filter(object_type="path_fix").values_list("action", flat=True)
    )
    assert {"path_fix.requested", "path_fix.created", "path_fix.rejected"} <= set(actions)
    assert "path_fix.lapsed" in actions


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [("red", "red_button.on"), ("mode", "plan.mode"), ("caps", "plan.caps")],
)
def test_what_stops_a_drop_stops_a_move(
    fix: RelocationPlan, people: People, settings: Any, spoil: str, expected: str
) -> None:
    approved(fix, people)
    if spoil == "red":
        emergency_stop_start(lake=LAKE, pressed_by="olga", reason="stop", now=NOW)
    elif spoil == "mode":
        set_mode("sales", "NOTIFY")
    else:
        settings.LAKEWARDEN_PLAN_MAX_BYTES = 1
    assert fixes_start_due(LATER, lake=LAKE) == []
    fix.refresh_from_db()
    assert fix.outcome["blocked"]["code"] == expected
    assert not Run.objects.filter(kind="lifecycle.fix_path").exists()


def test_what_became_of_each_path_stands_on_the_plan_and_in_the_audit_chain(
    fix: RelocationPlan, people: People
) -> None:
    done = finished(approved(fix, people))
    assert done.state == "DONE"
    assert done.outcome == {"counts": {"MOVED": 1}, "window": 0.5}
    assert states(done) == {"sales.stray": "MOVED", "sales.shared": "LEFT_OUT"}
    event = AuditEvent.objects.get(action="item.moved")
    assert event.object_id == "sales.stray"
    assert (event.data["from"], event.data["to"]) == (
        "file:///stray/stray",
        "file:///lake/sales/stray",
    )


def test_an_undo_is_a_plan_of_its_own_for_what_was_moved(
    picture: ScanSnapshot, fix: RelocationPlan, people: People
) -> None:
    def ask(user: User) -> RelocationPlan:
        return fix_undo_request(fix.pk, reason="wrong", user=user, now=NOW)

    assert code(lambda: ask(people.second)) == "fix.nothing_moved"
    finished(approved(fix, people))
    assert code(lambda: ask(people.operator)) == "fix.undo_role"
    undo = ask(people.second)
    assert code(lambda: ask(people.second)) == "fix.undo_under_way"
    (row,) = undo.items.all()
    assert (row.source, row.target) == ("file:///lake/sales/stray", "file:///stray/stray")
    undo = store_drawn(undo, picture, now=NOW)
    assert code(lambda: decide(undo, people.second)) == "approval.own"
    back = finished(approved(undo, people))
    assert back.state == "DONE"
    assert back.run is not None
    assert back.run.kind == "lifecycle.undo_fix_path"
    assert states(fix)["sales.stray"] == "TAKEN_BACK"
    assert code(lambda: ask(people.second)) == "fix.nothing_moved"


def test_the_people_behind_a_moved_table_are_told_once_and_again_of_its_way_back(
    picture: ScanSnapshot, fix: RelocationPlan, people: People
) -> None:
    finished(approved(fix, people), "NEW_DATA")
    told = {notice.recipient: notice for notice in Notice.objects.all()}
    assert set(told) == {"olga", "dora"}  # the owners of the table and of the database
    mail = told["olga"]
    assert (mail.kind, mail.day) == (f"lifecycle.moved.{fix.short_id}", LATER.date())
    assert mail.subject == "[Lakewarden] Your data was moved: 1 place"
    link = f"{PAGE}{fix.pk}/"
    for text in (mail.text, mail.html):
        said = ("sales.stray", "file:///stray/stray", "file:///lake/sales/stray", link, "tidy up")
        assert all(one in text for one in said), text
        assert "at the old place" in text
        assert "sales.shared" not in text
    assert client_of(people.owner).get(link).status_code == 200
    listed = client_of(people.owner).get("/mails/?kind=lifecycle.moved").content.decode()
    assert mail.subject in listed
    assert str(told["dora"].pk) not in listed
    undo = fix_undo_request(fix.pk, reason="wrong", user=people.second, now=NOW)
    finished(approved(store_drawn(undo, picture, now=NOW), people))
    back = Notice.objects.get(kind=f"lifecycle.moved_back.{undo.short_id}", recipient="olga")
    assert back.subject == "[Lakewarden] Your data was moved back: 1 place"
    assert "was moved back by an approved plan" in back.text
    assert Notice.objects.count() == 4


def test_of_an_owner_nobody_can_write_to_the_admins_are_told(
    picture: ScanSnapshot, people: People
) -> None:
    PathFinding.objects.update(owner="ghost\nx", db_owner="")
    fix = drawn_fix(list(PathFinding.objects.all()), user=people.admin, now=NOW)
    finished(approved(fix, people))
    assert set(Notice.objects.values_list("recipient", flat=True)) == {"ada", "ben", "cem"}
    text = Notice.objects.get(recipient="ben").text
    assert "  nobody can write to ghost x: you are notified instead" in text.splitlines()


def test_a_run_that_moved_nothing_is_no_news(fix: RelocationPlan, people: People) -> None:
    finished(approved(fix, people), "SKIPPED")
    assert not Notice.objects.exists()


def test_what_a_stopped_run_never_came_to_is_said(fix: RelocationPlan, people: People) -> None:
    approved(fix, people)
    run = fix_execute(fix.pk, now=LATER)
    found = RelocationPlan.objects.select_related("undo_of").get(pk=fix.pk)
    report = IngestReport(run.pk)
    fix_finish(found, run, outcome="cancelled", report=report, error="", now=LATER)
    assert (found.state, states(found)["sales.stray"]) == ("CANCELLED", "NOT_REACHED")
    assert "cancelled" in found.ended_reason


def test_the_pages_lead_from_a_stray_path_to_its_undo(
    picture: ScanSnapshot, people: People
) -> None:
    admin, second = client_of(people.admin), client_of(people.second)
    assert "Relocate paths" in admin.get("/lifecycle/paths/").content.decode()
    page = admin.get(f"{PAGE}new/").content.decode()
    assert "sales.stray" in page or "sales/stray" in page
    rows = [one.pk for one in PathFinding.objects.all()]
    answer = admin.post(f"{PAGE}new/", {"row": rows, "reason": "tidy up"})
    fix = RelocationPlan.objects.get()
    assert answer["Location"] == f"{PAGE}{fix.pk}/"
    assert "Preparing" in admin.get(answer["Location"]).content.decode()
    fix = store_drawn(fix, picture, now=timezone.now())
    page = second.get(f"{PAGE}{fix.pk}/").content.decode()
    assert "file:///stray/stray" in page
    assert "file:///lake/sales/stray" in page
    assert "Another database, table or partition has its data there or below." in page
    assert "Approve: move 1 path" in page
    assert "Approve: move" not in admin.get(f"{PAGE}{fix.pk}/").content.decode()
    said = {"decision": "APPROVE", "digest": fix.digest}
    assert second.post(f"{PAGE}{fix.pk}/decide/", said).status_code == 302
    assert client_of(people.third).post(f"{PAGE}{fix.pk}/decide/", said).status_code == 302
    assert "HX-Refresh" in second.get(f"{PAGE}{fix.pk}/progress/?was=PENDING").headers
    finished(RelocationPlan.objects.get(pk=fix.pk), at=timezone.now() + timedelta(days=2))
    page = admin.get(f"{PAGE}{fix.pk}/").content.decode()
    assert "Create an undo plan" in page
    answer = admin.post(f"{PAGE}{fix.pk}/undo/", {"reason": "wrong"})
    undo = RelocationPlan.objects.get(undo_of=fix)
    assert answer["Location"] == f"{PAGE}{undo.pk}/"
    listed = admin.get(PAGE).content.decode()
    assert f"undoes relocation plan {fix.short_id}" in listed
    table = admin.get(f"{PAGE}{fix.pk}/?format=csv")
    assert b"SHARED_LOCATION" in b"".join(table.streaming_content)  # type: ignore[attr-defined]  # streamed


def test_the_api_does_what_the_pages_do(picture: ScanSnapshot, people: People) -> None:
    admin = client_of(people.admin)
    listed = admin.get(f"{API}candidates/").json()["results"]
    body = {"rows": [one["id"] for one in listed], "reason": "tidy"}
    made = admin.post(API, body, content_type="application/json")
    assert made.status_code == 201, made.content
    fix = RelocationPlan.objects.get(pk=made.json()["id"])
    fix = store_drawn(fix, picture, now=timezone.now())
    shown = client_of(people.second).get(f"{API}{fix.pk}/").json()
    assert shown["transitions"] == ["approve", "reject"]
    items = admin.get(f"{API}{fix.pk}/items/").json()["results"]
    assert {one["table"]: one["left_out_reason"] for one in items} == {
        "shared": "SHARED_LOCATION",
        "stray": "",
    }
    stranger = client_of(people.stranger)
    assert stranger.get(f"{API}{fix.pk}/").status_code == 404
    assert stranger.get(f"{API}candidates/").json()["results"] == []
    owner = client_of(people.owner)
    assert owner.get(f"{API}{fix.pk}/items/").status_code == 200
    refused = owner.post(f"{API}{fix.pk}/undo/", {"reason": "no"}, content_type="application/json")
    assert refused.status_code == 403
