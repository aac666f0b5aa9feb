"""Exceptions of path rules: who asks, who agrees, what the scan and the plans make of them."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.drop.services.execution import plan_execute
from lifecycle.models import PathException, PathFinding, PlanState, PolicyRequest, TrendPoint
from lifecycle.policies.services.exceptions import ExceptionParams, exception_end, exception_request
from lifecycle.policies.services.requests import (
    REQUESTS,
    policy_request_decide,
    policy_request_withdraw,
)
from lifecycle.rules.domain.conformity import Reason
from lifecycle.schedule.run_kinds.scan import ScanKind
from portal.access.models import DatabaseAdministrator, User
from portal.access.services import person_create
from portal.approvals.domain import DecisionInput
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotAllowed, NotVisible, PortalError, RuleViolation, StaleState
from portal.runs.models import Run
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle import plan_world
from tests.component.lifecycle.plan_world import make_world, partitions
from tests.component.lifecycle.scanned import PICTURE, scan
from tests.support.plan_words import plan_approve

pytestmark = pytest.mark.django_db(transaction=True)
TODAY = NOW.date()
UNTIL = TODAY + timedelta(days=90)
DAY = timedelta(days=1)
RULE = "OWNER_PATH_FAIL"


@pytest.fixture
def paul(lake: LakeConfig, people: People) -> User:
    """The owner of sales.stray, which the scan found to break two rules."""
    scan(lake, now=NOW)
    return person_create("paul", password="correct horse staple", email="paul@example.org")


def wish(**changes: Any) -> ExceptionParams:
    said: dict[str, Any] = {"db": "sales", "table": "stray", "rule": RULE, "until": UNTIL}
    return ExceptionParams(**(said | {"reason": "moved in the spring"} | changes))


def ask(user: User, **changes: Any) -> PolicyRequest:
    return exception_request(LAKE, wish(**changes), user=user, now=NOW)


def answer(request: PolicyRequest, user: User, decision: str = "APPROVE") -> PolicyRequest:
    return policy_request_decide(
        request.pk,
        user=user,
        answer=DecisionInput(decision, "seen", request.digest),
        authenticated_at=NOW,
        now=NOW,
    )


def granted(owner: User, admin: User, **changes: Any) -> PathException:
    answer(ask(owner, **changes), admin)
    return PathException.objects.latest("pk")


def carried(now: datetime = NOW) -> list[dict[str, str]]:
    """What a scan at `now` is told of exceptions."""
    run = Run(lake=LAKE, kind="lifecycle.scan", params={"now": now.isoformat()})
    found: list[dict[str, str]] = ScanKind().request(run)["waivers"]
    return found


def test_an_owner_asks_an_admin_agrees_and_the_next_scan_is_told(
    paul: User, people: People
) -> None:
    request = ask(paul)
    assert request.state == "PENDING"
    assert ask(paul).pk == request.pk, "asked again, the same request"
    assert carried() == []
    done = answer(request, people.admin)
    assert (done.state, done.decided_by) == ("DONE", "ada")
    assert carried() == [
        {"db": "sales", "table": "stray", "reason": RULE, "until": UNTIL.isoformat()}
    ]
    event = AuditEvent.objects.get(action="path_waiver.granted")
    assert (event.object_id, event.actor) == ("sales.stray", "ada")
    assert event.data["requested_by"] == "paul"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"reason": " "}, "policy.reason"),
        ({"rule": "NO_SUCH_RULE"}, "waiver.rule"),
        ({"rule": "HAS_OTHER_TBL"}, "waiver.not_broken"),
        ({"until": TODAY - DAY}, "waiver.until"),
        ({"until": TODAY + timedelta(days=366)}, "waiver.until"),
        ({"table": "stray'; --"}, "name.grammar"),
    ],
)
def test_a_wish_that_cannot_be_is_refused_in_words(
    paul: User, changes: dict[str, Any], code: str
) -> None:
    with pytest.raises(RuleViolation) as refused:
        ask(paul, **changes)
    assert refused.value.code == code
    assert not PolicyRequest.objects.exists()


def test_the_first_and_the_last_day_that_may_be_asked_for(paul: User) -> None:
    assert ask(paul, until=TODAY).until == TODAY
    assert ask(paul, rule="TBL_NOT_SUB_DB", until=TODAY + timedelta(days=365)).rule


def test_only_owners_and_admins_ask_and_never_agree_to_their_own(
    paul: User, people: People
) -> None:
    with pytest.raises(NotVisible):
        ask(people.stranger)
    with pytest.raises(NotAllowed):
        ask(people.operator)
    own = ask(people.admin)
    with pytest.raises(NotAllowed):
        answer(own, people.admin)
    assert not REQUESTS.steps(own, people.operator, now=NOW).names
    assert REQUESTS.steps(own, people.second, now=NOW).names == ["approve", "reject"]
    assert answer(own, people.second, "REJECT").state == "REJECTED"
    again = ask(people.admin)
    policy_request_withdraw(again.pk, user=people.admin, reason="", now=NOW)
    assert not PathException.objects.exists()


def test_a_rule_of_a_database_itself_is_asked_for_by_who_answers_for_it(
    paul: User, people: People
) -> None:
    with pytest.raises(RuleViolation):
        ask(people.admin, db="web", table="", rule="TBL_NOT_SUB_DB")
    with pytest.raises(NotVisible):
        ask(people.dba, db="web", table="", rule="HAS_OTHER_DB")
    DatabaseAdministrator.objects.create(lake=LAKE, db="web", username="dora")
    dora = User.objects.get(username="dora")
    assert granted(dora, people.admin, db="web", table="", rule="HAS_OTHER_DB").name == "web"


def test_its_last_day_ends_it_by_itself(paul: User, people: People) -> None:
    granted(paul, people.admin)
    last = datetime.combine(UNTIL, NOW.timetz())
    assert len(carried(last)) == 1
    assert carried(last + DAY) == []
    late = ask(paul, rule="TBL_NOT_SUB_DB", until=TODAY)
    with pytest.raises(StaleState, match="last day"):
        policy_request_decide(
            late.pk,
            user=people.admin,
            answer=DecisionInput("APPROVE", "", late.digest),
            authenticated_at=NOW + DAY,
            now=NOW + DAY,
        )


def test_the_first_scan_after_its_last_day_records_its_end_once(
    paul: User, people: People, lake: LakeConfig
) -> None:
    waiver, other = granted(paul, people.admin), granted(paul, people.admin, rule="TBL_NOT_SUB_DB")
    exception_end(LAKE, other.public_id, user=paul, reason="it is moved", now=NOW)
    last = datetime.combine(UNTIL, NOW.timetz())
    lapsed = AuditEvent.objects.filter(action="path_waiver.lapsed")
    scan(lake, now=last)
    assert not lapsed.exists(), "it counts on its last day"
    for n_days in (1, 2):
        scan(lake, now=last + n_days * DAY)
    event = lapsed.get()
    assert (event.object_id, event.actor, event.at) == ("sales.stray", "system", last + DAY)
    assert event.data["request"] == str(waiver.request_id)
    assert (event.data["until"], event.data["rule"]) == (UNTIL.isoformat(), RULE)


def test_who_may_end_it_at_any_time(paul: User, people: People) -> None:
    waiver = granted(paul, people.admin)

    def end(user: User, reason: str = "it is moved") -> PathException:
        return exception_end(LAKE, waiver.public_id, user=user, reason=reason, now=NOW)

    for user, error in ((people.stranger, NotVisible), (people.operator, NotAllowed)):
        with pytest.raises(error):
            end(user)
    with pytest.raises(RuleViolation):
        end(paul, " ")
    assert end(paul).ended_by == "paul"
    assert carried() == []
    assert AuditEvent.objects.get(action="path_waiver.ended").actor == "paul"
    with pytest.raises(StaleState):
        end(people.second)
    assert ask(paul).state == "PENDING", "it can be asked for again"


def waived_picture(lake: LakeConfig) -> None:
    """Take in a scan to which the table's rules were waived."""
    (stray, web) = PICTURE.findings
    reasons = stray.reasons
    waived = replace(stray, reasons=(), waived=reasons, excepted_until=UNTIL)
    scan(lake, replace(PICTURE, findings=(waived, web)), now=NOW)


def test_what_is_waived_is_no_nonconforming_path_but_is_shown(
    paul: User, people: People, lake: LakeConfig
) -> None:
    granted(paul, people.admin, until=date(2027, 2, 18))
    waived_picture(lake)
    assert TrendPoint.objects.get(metric="paths.nonconforming").value == 1
    client = Client()
    client.force_login(people.admin)
    page = client.get(reverse("lifecycle:paths"))
    assert [str(row) for row in page.context["page"].rows] == ["web"]
    assert "not in this list" in page.content.decode()
    shown = client.get(reverse("lifecycle:paths") + "?state=WAIVED").content.decode()
    assert "Waived" in shown
    assert "2027-02-18" in shown or "18 Feb 2027" in shown
    both = client.get(reverse("lifecycle:paths") + "?state=ALL&format=csv")
    text = both.getvalue().decode()
    assert "WAIVED" in text
    assert "NONCONFORMING" in text
    api = client.get(reverse("lifecycle-api:paths") + "?state=WAIVED").json()["results"]
    assert [(row["table"], row["state"]) for row in api] == [("stray", "WAIVED")]
    assert api[0]["waived"] == ["OWNER_PATH_FAIL", "TBL_NOT_SUB_DB"]
    client.force_login(paul)
    assert client.get(reverse("lifecycle-api:paths")).json()["results"] == []


def test_the_page_says_what_became_of_a_waiver_since_the_scan(
    paul: User, people: People, lake: LakeConfig
) -> None:
    client = Client()
    client.force_login(paul)
    url = reverse("lifecycle:paths")
    assert "Request an exception" in client.get(url).content.decode()
    request = ask(paul)
    assert "An exception is requested" in client.get(url).content.decode()
    answer(request, people.admin)
    assert "from the next scan on" in client.get(url).content.decode()
    waived_picture(lake)
    exception_end(
        LAKE, PathException.objects.get().public_id, user=paul, reason="it is moved", now=NOW
    )
    shown = client.get(f"{url}?state=WAIVED").content.decode()
    assert "the next scan evaluates it again" in shown


def test_the_pages_and_the_api_of_waivers(paul: User, people: People) -> None:
    client = Client()
    client.force_login(paul)
    url = reverse("lifecycle:waivers")
    assert "No exceptions" in client.get(url).content.decode()
    form = {
        "kind": "WAIVE",
        "db": "sales",
        "table": "stray",
        "rule": RULE,
        "until": UNTIL.isoformat(),
        "reason": "moved in the spring",
    }
    # The pages take the clock's own day.
    form["until"] = (timezone.now() + DAY).date().isoformat()
    assert client.post(reverse("lifecycle:policy-request-new"), form).status_code == 302
    request = PolicyRequest.objects.get(kind="WAIVE")
    assert (
        "waive OWNER_PATH_FAIL"
        in client.get(reverse("lifecycle:policy-request", args=[request.pk])).content.decode()
    )
    answer(request, people.admin)
    waiver = PathException.objects.get()
    assert "moved in the spring" in client.get(url).content.decode()
    csv = client.get(f"{url}?format=csv")
    assert "stray" in csv.getvalue().decode()
    api = reverse("lifecycle-api:waivers")
    (row,) = client.get(api).json()["results"]
    assert (row["id"], row["is_standing"]) == (str(waiver.public_id), True)
    detail = client.get(reverse("lifecycle:policy-request", args=[request.pk])).content.decode()
    assert "End this exception" in detail
    ended = client.post(
        reverse("lifecycle-api:waiver-end", args=[waiver.public_id]),
        {"reason": "it is moved"},
        content_type="application/json",
    )
    assert ended.status_code == 204
    assert client.get(api).json()["results"] == []
    assert len(client.get(f"{api}?state=ended").json()["results"]) == 1
    assert client.get(f"{url}?state=ended").context["page"].rows
    client.force_login(people.stranger)
    assert client.get(f"{api}?state=all").json()["results"] == []


def test_nothing_is_planned_or_started_under_a_waiver_that_is_over(
    tmp_path: Path, settings: Settings
) -> None:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_COOLING_OFF_SECONDS = 0
    world = make_world(tmp_path)
    generation = world.scan(partitions(3))
    PathFinding.objects.create(
        generation=generation,
        lake=LAKE,
        kind="TABLE",
        db="sales",
        table="orders",
        owner="alice",
        waived=[Reason.OWNER_PATH_FAIL],
        is_excepted=True,
    )
    now = plan_world.NOW
    request = exception_request(
        LAKE,
        wish(table="orders", until=now.date() + timedelta(days=9)),
        user=world.person("alice"),
        now=now - DAY,
    )
    policy_request_decide(
        request.pk,
        user=world.person("bert"),
        answer=DecisionInput("APPROVE", "", request.digest),
        authenticated_at=now - DAY,
        now=now - DAY,
    )
    plan = world.plan()
    assert plan.n_items == 3
    for name in ("bert", "carl"):
        plan = plan_approve(
            plan.pk, user=world.person(name), digest=plan.digest, authenticated_at=now, now=now
        )
    waiver = PathException.objects.get()
    exception_end(
        LAKE, waiver.public_id, user=world.person("alice"), reason="moved", now=now + DAY / 2
    )
    with pytest.raises(PortalError) as refused:
        plan_execute(plan.pk, now=now + DAY / 2)
    assert refused.value.code == "plan.waiver"
    plan.refresh_from_db()
    assert plan.state == PlanState.APPROVED
    second = world.plan()
    assert second.n_items == 0
    assert second.left_out.get("IN_OTHER_PLAN", 0) + second.left_out.get("WAIVER_OVER", 0) == 3
