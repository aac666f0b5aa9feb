"""Tests requests on Hudi table pages: what is possible, for whom, and what the pages report."""

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from optimizer.core.domain.tasks import TaskState
from optimizer.hudi.inspect.domain.facts import Action, HudiInspection
from optimizer.models import HudiTable, OptimizeTask, PolicyVersion
from portal.access.models import User
from portal.audit.models import AuditEvent
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_shown import NOW, healthy, hudi, ill
from tests.unit.optimizer.hudi.hudi_world import (
    LOCK,
    STANDALONE,
    asked,
    at,
    begun,
    done,
    logs,
    look,
    name,
    plan,
    waiting,
)
from tests.unit.optimizer.hudi.hudi_world import table as of_world

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake", "clock")]
HUDI = "/optimizer/hudi/"
WHY = {"reason": "readers wait"}
COMPACT = {"service": "COMPACTION", "step": "EXECUTE", **WHY}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be the hour of the looks, whose instants have their times in their names."""
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)


def piled() -> HudiInspection:
    """A look at a table of three compactions that wait, with something stuck of each sort."""
    return look(
        *(done(minute) for minute in (100, 110, 120)),
        *(asked(minute) for minute in (130, 140, 150)),
        begun(160, heartbeat_at=at(161)),
        begun(170, Action.CLUSTERING),
        done(180),
        table=of_world(properties={**STANDALONE, "hoodie.write.lock.provider": LOCK}),
        slices=tuple(logs(one, 100, n=2) for one in "abcdef"),
        plans=(
            plan(130, "a"),
            plan(140, "b"),
            plan(150, "c"),
            plan(170, "d", action=Action.CLUSTERING, begun=True),
        ),
        uncompacted=waiting(100, 110, 120, 180),
        has_read_logs=True,
        has_read_keys=True,
    )


def locked(table: HudiTable) -> HudiTable:
    """Declare the lock for the table, and take three plans for too many."""
    values = {"is_on": True, "lock": LOCK, "quiet": None, "max_pending": 2}
    PolicyVersion.objects.create(
        lake="main", scope=str(table), version=1, values=values, format="hudi", by="ada", at=NOW
    )
    return table


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(user: User, table: HudiTable, tab: str = "") -> str:
    answer: Any = client_of(user).get(f"{HUDI}{table.pk}/{tab}")
    assert answer.status_code == 200, answer.content[:400]
    return str(answer.content.decode())


def post(user: User, table: HudiTable, act: str, **body: Any) -> Any:
    return client_of(user).post(f"{HUDI}{table.pk}/{act}/", body)


def test_services_tell_what_waits_and_what_may_be_done(people: People) -> None:
    row = locked(hudi(seen=piled()))
    text = page(people.owner, row, "services/")
    for words in (
        f'value="{name(130)}"',
        "Execute all pending, oldest first",
        "Execute the chosen",
        "is the newest plan and 2 older ones wait",
        "Schedule a compaction",
        "List what it wrote",  # the writer's instant, by approval
        "Roll back the instant",  # the service's own
        "Partition TTL",
    ):
        assert words in text, words
    (of_the_ticks,) = re.findall(r'<form[^>]* id="chosen-compaction".*?</form>', text, re.DOTALL)
    assert 'name="chosen"' in of_the_ticks, "what is ticked goes with this button and no other"
    without = hudi("unlocked", seen=piled())
    text = page(people.owner, without, "services/")
    assert "Schedule a compaction…" not in text
    assert "the table says" in text or "declares no lock provider" in text


def test_a_damaged_table_gets_no_plan_that_makes_the_damage_last(people: People) -> None:
    text = page(people.owner, locked(hudi(seen=ill())), "services/")
    assert "it takes file groups that are damaged" in text
    assert "Schedule a clean…" not in text
    assert "Repair it first." in text


def test_one_some_or_all_plans_are_executed_oldest_first(people: People) -> None:
    row = locked(hudi(seen=piled()))
    for sent, wanted in (
        ({"instants": name(130)}, [name(130)]),
        ({"instants": [name(150), name(130)], "chosen": "1"}, [name(130), name(150)]),
        ({}, [name(130), name(140), name(150)]),
    ):
        answer = post(people.owner, row, "service", **COMPACT, **sent)
        assert answer.status_code == 302, answer.content[:400]
        # The catalog of this test has no such table: the page of the area itself shows it.
        assert answer["Location"] == f"/optimizer/hudi/{row.pk}/services/"
        task = OptimizeTask.objects.get(hudi=row)
        assert task.instants == wanted, sent
        assert "readers wait" in task.reason
        task.delete()
    assert AuditEvent.objects.filter(action="optimizer.asked", actor="olga").count() == 3


def test_what_may_not_be_done_is_refused_in_words(people: People) -> None:
    row = locked(hudi(seen=piled()))
    for sent, status, words in (
        ({**COMPACT, "chosen": "1"}, 400, "Tick the plans"),
        ({**COMPACT, "instants": name(150)}, 400, "older ones wait"),
        ({**COMPACT, "instants": name(1)}, 409, "not pending any more"),
        ({**COMPACT, "reason": ""}, 400, "Enter a reason"),
        ({**COMPACT, "service": "MAGIC"}, 400, "Name a service"),
        ({**COMPACT, "step": ""}, 400, "Name a service"),
        ({**COMPACT, "instants": " ".join(map(str, range(1001)))}, 400, "1000 instants at most"),
    ):
        answer = post(people.owner, row, "service", **sent)
        assert answer.status_code == status, sent
        assert words in answer.content.decode(), sent
    assert not OptimizeTask.objects.exists()


def test_who_does_not_see_a_table_asks_for_nothing(people: People) -> None:
    row = locked(hudi(seen=piled()))
    client = client_of(people.owner)
    for act in ("service", "look", "pause", "resume"):
        assert post(people.stranger, row, act, **COMPACT).status_code == 404, act
        assert client.get(f"{HUDI}{row.pk}/{act}/").status_code == 405, act
    row.refresh_from_db()
    assert not row.is_paused
    assert not OptimizeTask.objects.exists()


def test_the_button_of_a_finding_names_the_plans_that_will_run(people: People) -> None:
    seen = piled()
    begun_one = begun(140, Action.COMPACTION, heartbeat_at=NOW)
    others = tuple(one for one in seen.instants if one.instant != name(140))
    instants = tuple(sorted((*others, begun_one), key=lambda one: one.instant))
    row = locked(hudi(seen=replace(seen, instants=instants)))
    text = page(people.owner, row)
    assert "Execute 2 of 3, oldest first" in text
    assert "Execute all 3" not in text
    assert f"1 of them not now. {name(140)}: " in text
    sent = {"service": "COMPACTION", "step": "EXECUTE", "instants": f"{name(130)} {name(150)}"}
    assert f'name="instants" value="{sent["instants"]}"' in text
    assert post(people.owner, row, "service", **sent, **WHY).status_code == 302
    assert OptimizeTask.objects.get().instants == [name(130), name(150)]


def test_a_remedy_is_one_click_or_says_why_not(people: People) -> None:
    row = locked(hudi(seen=piled()))
    text = page(people.owner, row)
    for words in ("Execute all 3, oldest first", "Roll it back", "Approved by people first."):
        assert words in text, words
    assert "Not by the portal:" not in text
    assert "Not by the portal:" in page(people.owner, hudi("unlocked", seen=piled()))
    damaged = hudi("damaged", seen=ill())
    assert "Hold the services" in page(people.owner, damaged)
    assert post(people.owner, damaged, "pause", **WHY).status_code == 302
    text = page(people.owner, damaged)
    for words in ("Held: no service", "readers wait", "Its services are held already.", "Resume"):
        assert words in text, words
    assert "Execute this" not in page(people.owner, damaged, "services/")
    assert post(people.owner, damaged, "pause", **WHY).status_code == 409
    assert post(people.owner, damaged, "resume", **WHY).status_code == 302
    damaged.refresh_from_db()
    assert not damaged.is_paused


def test_a_look_is_asked_for_with_keys_or_without(people: People) -> None:
    row = hudi(seen=healthy())
    assert post(people.owner, row, "look", read_keys="1").status_code == 302
    row.refresh_from_db()
    assert row.inspect_due_at == NOW
    assert Run.objects.filter(lake="main", requested_by="olga").count() == 1
    assert OptimizeTask.objects.count() == 0
    gone = hudi("gone", seen=healthy(), is_deleted=True)
    assert post(people.owner, gone, "look").status_code == 404
    assert "Refresh status" not in page(people.owner, gone)


def test_a_dry_run_says_what_would_be_done_and_what_not(people: People) -> None:
    row = locked(hudi(seen=piled()))
    text = page(people.owner, row, "plan/")
    for words in ("Compaction: run", "3 plans of compaction pending", "Would not be done", "Clean"):
        assert words in text, words
    assert not OptimizeTask.objects.exists()
    assert client_of(people.owner).get(f"{HUDI}{hudi('unseen').pk}/plan/").status_code == 409


def test_tasks_show_how_far_they_are_and_what_came_of_them(people: People) -> None:
    row = hudi(seen=healthy())
    assert "hx-get" not in page(people.owner, row, "now/"), "nothing is open, so nothing is polled"
    run = Run.objects.create(
        lake="main", kind="hudi_services", requested_by="schedule", queued_at=NOW, state="RUNNING",
        phase="compaction", done=3, total=8,
    )  # fmt: skip
    task(row, "HUDI_COMPACTION_EXECUTE", TaskState.SENT, instants=[name(1)], run=run.pk)
    task(
        row, "HUDI_CLEAN_SCHEDULE", TaskState.DONE, is_open=None, ended_at=NOW, outcome="Written.",
        before={"n_pending": 3, "log_bytes": 2048, "words": "x"}, after={"n_pending": 0,
        "log_bytes": 0}, seconds=12.5,
    )  # fmt: skip
    text = page(people.owner, row, "tasks/")
    for words in ("3 of 8", "pending: 3 → 0", "log: 2.0 KiB → 0 B", "12.5 s", "Written."):
        assert words in text, words
    assert 'hx-trigger="every 5s"' in page(people.owner, row, "now/")
    done_only = client_of(people.owner).get(f"{HUDI}{row.pk}/tasks/?kind=HUDI_CLEAN_SCHEDULE")
    assert [one.kind for one in done_only.context["page"].rows] == ["HUDI_CLEAN_SCHEDULE"]
    queue = client_of(people.owner).get("/optimizer/queue/").content.decode()
    assert f"/tables/{row.db}/{row.table}/files/tasks/" in queue


def task(
    table: HudiTable, kind: str, state: TaskState, *, noted: datetime = NOW, **values: Any
) -> OptimizeTask:
    return OptimizeTask.objects.create(
        hudi=table, kind=kind, state=state, reason="It is due.", created_at=noted,
        started_at=noted + timedelta(seconds=1), **values,
    )  # fmt: skip
