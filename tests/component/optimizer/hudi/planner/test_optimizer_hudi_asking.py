"""Tests requests of people for a Hudi table: they are met, or refused with the reason."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.dispatcher import choose
from optimizer.hudi.inspect.domain.facts import Action
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.planner.services.actions import (
    hudi_explain,
    hudi_pause,
    hudi_resume,
    service_ask,
)
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.models import HudiTable, OptimizeTask, PolicyVersion
from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.lake.errors import NotVisible, PortalError, RuleViolation, StaleState
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_task_rows import allow, hudi, hudi_task, looked
from tests.unit.optimizer.hudi.hudi_world import (
    NOW,
    asked,
    begun,
    done,
    logs,
    look,
    name,
    plan,
    waiting,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
API = "/api/v1/optimizer/hudi/"
TWO = look(asked(10), asked(20), plans=(plan(10, "a"), plan(20, "b")))
COMPACTION, EXECUTE, SCHEDULE = Service.COMPACTION, Step.EXECUTE, Step.SCHEDULE


def ask(
    row: HudiTable,
    user: User | None,
    service: Service = COMPACTION,
    step: Step = EXECUTE,
    *instants: str,
    reason: str = "it is slow",
) -> OptimizeTask:
    return service_ask(
        row.pk, service=service, step=step, instants=instants, user=user, reason=reason, now=NOW
    )


def refused(row: HudiTable, user: User | None, *what: Any, **more: Any) -> PortalError:
    with pytest.raises(PortalError) as caught:
        ask(row, user, *what, **more)
    return caught.value


def test_run_now_goes_first_whatever_the_hour_and_the_switch_say(people: People) -> None:
    allow(quiet="08:00-20:00")
    row = looked("rides", TWO)
    made = ask(row, people.owner)
    assert (made.kind, made.state, made.requested_by) == (
        "HUDI_COMPACTION_EXECUTE",
        "WAITING",
        "olga",
    )
    assert made.instants == [name(10), name(20)]
    PolicyVersion.objects.update(values={"is_on": False})
    assert choose(HUDI, "main", now=NOW) == [made]
    again = ask(row, people.admin, COMPACTION, EXECUTE, name(10))
    assert (again.pk, again.instants, again.requested_by) == (made.pk, [name(10)], "ada")
    event = AuditEvent.objects.filter(action="optimizer.asked").latest("pk")
    assert event.data["kind"] == "HUDI_COMPACTION_EXECUTE"
    assert event.data["instants"] == [name(10)]


def test_who_does_not_see_a_table_asks_nothing_of_it(people: People) -> None:
    row = looked("rides", TWO)
    for act in (hudi_pause, hudi_resume):
        with pytest.raises(NotVisible):
            act(row.pk, user=people.stranger, reason="reason", now=NOW)
    with pytest.raises(NotVisible):
        hudi_explain(row.pk, people.stranger, NOW)
    assert isinstance(refused(row, people.stranger), NotVisible)
    assert isinstance(refused(HudiTable(pk=99), people.admin), NotVisible)


def test_refusals_say_what_would_allow_it(people: People) -> None:
    allow()
    row = looked("rides", TWO)
    assert refused(row, people.owner, reason=" ").code == "optimizer.reason"
    assert refused(row, people.owner, COMPACTION, EXECUTE, name(20)).code == "hudi.newest-alone"
    assert refused(row, people.owner, Service.CLUSTERING).code == "hudi.nothing"
    assert refused(row, people.owner, Service.ROLLBACK).code == "hudi.nothing"
    assert refused(row, people.owner, Service.TTL, SCHEDULE).code == "hudi.ttl-days"
    assert refused(hudi("fresh"), people.owner).code == "hudi.not_looked_at"
    gone = looked("gone", TWO, is_deleted=True)
    assert refused(gone, people.owner).code == "optimizer.gone"
    unlocked = looked("unlocked", look(done(5)))
    allow(scope="shop.unlocked", lock="")
    no_lock = refused(unlocked, people.owner, COMPACTION, SCHEDULE)
    assert (no_lock.code, isinstance(no_lock, RuleViolation)) == ("hudi.no-lock", True)
    assert "hoodie.write.lock.provider" in no_lock.message
    hudi_task(row, state=TaskState.SENT)
    assert refused(row, people.owner).code in {"optimizer.running", "hudi.running"}


def test_what_has_to_be_approved_is_listed_first(people: People) -> None:
    allow(ttl_days=30)
    row = looked("rides", look(asked(10, Action.CLEAN), begun(5, heartbeat_at=NOW - timedelta(1))))
    clean = ask(row, people.owner, Service.CLEAN)
    assert (clean.kind, clean.instants) == ("HUDI_CLEAN_SCHEDULE", [name(10)])
    ttl = ask(row, people.owner, Service.TTL)
    assert (ttl.kind, ttl.instants) == ("HUDI_TTL_SCHEDULE", None)
    undo = ask(row, people.owner, Service.ROLLBACK, EXECUTE, name(5))
    assert (undo.kind, undo.instants) == ("HUDI_ROLLBACK_SCHEDULE", [name(5)])
    hudi_task(row, kind="HUDI_CLEAN_EXECUTE", state=TaskState.TO_APPROVE)
    assert refused(row, people.owner, Service.CLEAN).code == "optimizer.to_approve"


def test_a_pause_holds_and_a_resumption_looks_again(people: People) -> None:
    allow()
    row = looked("rides", TWO)
    ask(row, people.owner)
    assert hudi_pause(row.pk, user=people.owner, reason="a repair", now=NOW).is_paused
    with pytest.raises(StaleState):
        hudi_pause(row.pk, user=people.owner, reason="twice", now=NOW)
    assert refused(row, people.owner).code == "optimizer.paused"
    assert choose(HUDI, "main", now=NOW) == []
    resumed = hudi_resume(row.pk, user=people.owner, reason="done", now=NOW)
    assert (resumed.is_paused, resumed.inspect_due_at) == (False, NOW)
    assert len(choose(HUDI, "main", now=NOW)) == 1


def test_the_api_asks_explains_pauses_and_resumes(people: People) -> None:
    allow(cluster_files=0)
    row = looked("rides", look(done(10), slices=(logs("a", 10),), uncompacted=waiting(10)))
    client = Client()
    client.force_login(people.owner)
    found = client.get(f"{API}{row.pk}/plan/").json()
    assert [one["name"] for one in found["proposals"]] == ["HUDI_COMPACTION_SCHEDULE"]
    assert {one["code"] for one in found["decisions"]} >= {"task", "none"}
    assert not OptimizeTask.objects.exists()
    body = {"service": "COMPACTION", "step": "SCHEDULE", "instants": [], "reason": "now"}
    made = client.post(f"{API}{row.pk}/service/", body, content_type="application/json")
    assert (made.status_code, made.json()["kind"]) == (202, "HUDI_COMPACTION_SCHEDULE")
    for wrong in ({"service": "VACUUM"}, {"step": "NOW"}, {"instants": ["x" * 33]}):
        answer = client.post(
            f"{API}{row.pk}/service/", body | wrong, content_type="application/json"
        )
        assert answer.status_code == 400
    reason = {"reason": "a repair"}
    for act, is_paused in (("pause", True), ("resume", False)):
        answer = client.post(f"{API}{row.pk}/{act}/", reason, content_type="application/json")
        assert answer.json()["is_paused"] is is_paused
    client.force_login(people.stranger)
    assert client.get(f"{API}{row.pk}/plan/").status_code == 404
