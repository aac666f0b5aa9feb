"""Tests removals from a Hudi table: none before people approved exactly what is removed."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.core.services.dispatcher import choose, claim
from optimizer.core.services.results import reclaim, results_ingest
from optimizer.hudi.inspect.domain.facts import Action, HudiInspection
from optimizer.hudi.planner.run_kinds import HudiRemoveKind, HudiServicesKind
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.hudi.planner.services.planner import hudi_decide
from optimizer.hudi.planner.services.scheduler import BY_LIST
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.models import HudiTable, OptimizeTask, PolicyVersion, RemovalPlan
from optimizer.removals.domain.papers import SEALED, intent_name
from optimizer.removals.services.claims import lists_claim, lists_ready
from optimizer.removals.services.removals import removal_decide, removal_withdraw
from portal.approvals.domain import DecisionInput
from portal.catalog.services import change_readers
from portal.catalog.services.change_readers import ChangeReader
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import DataSafetyError, NotAllowed, StaleState
from portal.lake.names import TableName
from portal.runs.models import Run
from portal.spark.spool import Spool
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_listed import (
    CLEANING,
    DRAWN,
    LOST,
    OLD,
    STUCK,
    WHOLE,
    approve,
    cool,
    listed,
    orders,
)
from tests.component.optimizer.hudi.hudi_task_rows import (
    allow,
    executed,
    hudi_task,
    inspect_again,
    looked,
    run_of,
    said,
)
from tests.unit.optimizer.hudi.hudi_world import (
    COMPACTION,
    NOW,
    asked,
    begun,
    done,
    look,
    name,
    plan,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
CLEAN, CLEAN_LIST = "HUDI_CLEAN_EXECUTE", "HUDI_CLEAN_SCHEDULE"


def later(found: HudiInspection, minutes: int) -> HudiInspection:
    return replace(found, inspected_at=found.inspected_at + MINUTE * minutes)


def test_a_clean_is_listed_approved_by_two_and_done_by_exactly_that_list(people: People) -> None:
    allow(by="paula")
    row = looked("rides", look(asked(10, Action.CLEAN)))
    found = listed(row, CLEAN_LIST, CLEANING)
    task = found.task
    assert (task.kind, task.state, task.instants) == (CLEAN, "TO_APPROVE", [name(10)])
    assert (found.kind, found.n_files, found.facts["sample"]) == (CLEAN, 3, CLEANING["files"])
    approve(found, people.admin)
    assert not lists_ready(HUDI, "main", now=NOW + DAY).exists()
    approve(found, people.second)
    found.refresh_from_db()
    assert found.state == "APPROVED"
    ready = cool(found)
    assert ready > NOW
    assert not lists_ready(HUDI, "main", now=ready - MINUTE).exists()
    assert not lists_ready(ICEBERG, "main", now=ready).exists()
    assert choose(HUDI, "main", now=ready) == []

    run = run_of("hudi_remove", now=ready)
    assert lists_claim(HUDI, run, now=ready) == 1
    assert lists_claim(HUDI, run, now=ready) == 1
    (order,) = orders(HudiRemoveKind(), run)
    assert (order["service"], order["step"]) == ("CLEAN", "EXECUTE")
    assert (order["instants"], order["digest"]) == ([name(10)], CLEANING["digest"])

    manifest = said(task, "DONE", done=executed(name(10), action="clean"))
    for _ in range(2):
        results_ingest(HUDI, run, manifest, now=ready + MINUTE)
    found.refresh_from_db()
    task.refresh_from_db()
    assert (found.state, task.state) == ("DONE", "DONE")
    assert found.removed == {"n_items": 1, "n_files": 2, "n_bytes": 2048}
    assert lists_claim(HUDI, run_of("hudi_remove", now=ready), now=ready + DAY) == 0


def test_a_clean_without_a_plan_is_ordered_by_its_list_and_by_what_the_policy_keeps_now(
    people: People,
) -> None:
    policy = allow(by="paula", clean_commits=3)
    found = listed(looked("rides", look(done(9))), CLEAN_LIST, DRAWN)
    assert (found.task.instants, found.n_files) == (None, 3)
    approve(found, people.admin, people.second)
    PolicyVersion.objects.filter(pk=policy.pk).update(values={**policy.values, "clean_commits": 5})
    run = run_of("hudi_remove", now=cool(found))
    assert lists_claim(HUDI, run, now=cool(found)) == 1
    (order,) = orders(HudiRemoveKind(), run)
    assert (order["instants"], order["digest"]) == (None, DRAWN["digest"])
    assert order["settings"] == {
        "hoodie.clean.commits.retained": "5", "earliest": DRAWN["earliest"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "found", "words"),
    [
        (CLEAN_LIST, CLEANING, ("Old file versions of shop.rides", "p/&lt;i&gt;c.log", "3 files")),
        (CLEAN_LIST, WHOLE, ("4 paths", "p/ (the whole directory", "directories of 1 partition ")),
        ("HUDI_TTL_SCHEDULE", OLD, ("Partition TTL of shop.rides", "day=1, last", "1 partition")),
        (
            "HUDI_RECOVERY_SCHEDULE",
            LOST,
            (
                "Lost rows of shop.rides",
                ".&lt;b&gt;a.log.1 of p/a",
                "bring back 5 rows",
                "1 have keys that the table does not hold today",
                "p id:7 (absent today)",
            ),
        ),
        ("HUDI_ROLLBACK_SCHEDULE", STUCK, ("What dead writers left", "deltacommit", "1 instant")),
    ],
)
def test_the_page_and_the_api_say_what_would_go(
    people: People, kind: str, found: dict[str, Any], words: tuple[str, ...]
) -> None:
    allow()
    made = listed(looked("rides", look()), kind, found, at=timezone.now())
    client = Client()
    client.force_login(people.admin)
    page = client.get(f"/optimizer/removals/{made.pk}/").content.decode()
    for one in (*words, "Approve: ", "This cannot be undone"):
        assert one in page, one
    (row,) = client.get("/api/v1/optimizer/removals/?table_format=hudi").json()["results"]
    assert (row["hudi_id"], row["table_id"], row["table"]) == (made.hudi_id, None, "rides")
    assert "shop.rides" in client.get("/optimizer/removals/").content.decode()
    client.force_login(people.stranger)
    assert client.get(f"/optimizer/removals/{made.pk}/").status_code == 404


def test_who_asked_or_set_the_policy_does_not_approve(people: People) -> None:
    version = allow(by="ada", clean_commits=3)
    row = looked("rides", look(asked(10, Action.CLEAN)))
    found = listed(row, CLEAN_LIST, CLEANING, requested_by="ben", policy_versions=[version.pk])
    assert found.requesters == ["ben", "ada"]
    for user in (people.admin, people.second, people.owner):
        with pytest.raises((NotAllowed, StaleState)):
            approve(found, user)
    approve(found, people.third)
    assert not lists_ready(HUDI, "main", now=NOW + DAY).exists()


def test_old_partitions_go_by_the_names_and_the_time_of_their_list(people: People) -> None:
    allow(ttl_days=30, kinds=["TTL"])
    row = looked("rides", look())
    found = listed(row, "HUDI_TTL_SCHEDULE", OLD)
    assert (found.n_items, found.n_files, found.n_bytes) == (1, 4, 9)
    approve(found, people.admin, people.second)
    run = run_of("hudi_remove", now=cool(found))
    assert lists_claim(HUDI, run, now=cool(found)) == 1
    (order,) = orders(HudiRemoveKind(), run)
    assert (order["partitions"], order["instants"]) == (["day=1"], None)
    assert order["settings"] == {"listed_at": NOW.isoformat()}


def test_a_writers_instant_is_rolled_back_by_approval_and_nothing_else_with_it(
    people: People,
) -> None:
    allow(kinds=["ROLLBACK"])
    row = looked("rides", look(begun(10, heartbeat_at=NOW - DAY), begun(20, COMPACTION),
                               plans=(plan(20, "a", begun=True),)))  # fmt: skip
    hudi_decide("main", now=NOW)
    kinds = {one.kind: one.instants for one in OptimizeTask.objects.filter(hudi=row)}
    assert kinds == {
        "HUDI_ROLLBACK_SCHEDULE": [name(10)],
        "HUDI_ROLLBACK_EXECUTE": [name(20)],
    }
    OptimizeTask.objects.filter(kind="HUDI_ROLLBACK_EXECUTE").delete()
    made = OptimizeTask.objects.get(hudi=row)
    run = run_of()
    assert claim(HUDI, run, now=NOW) == 1
    rows = [
        {"instant": name(n), "action": action, "state": "inflight", "n_files": n,
         "event_at": NOW.isoformat()}
        for n, action in ((10, "deltacommit"), (20, "compaction"), (30, "savepoint"))
    ]  # fmt: skip
    results_ingest(HUDI, run, said(made, "NOTHING", found={"instants": rows}), now=NOW)
    found = RemovalPlan.objects.get(hudi=row)
    assert (found.task.instants, found.n_files) == ([name(10)], 10)
    approve(found, people.admin, people.second)
    again = run_of("hudi_remove", now=cool(found))
    assert lists_claim(HUDI, again, now=cool(found)) == 1
    (order,) = orders(HudiRemoveKind(), again)
    assert (order["service"], order["instants"]) == ("ROLLBACK", [name(10)])


@pytest.mark.parametrize("kind", [*BY_LIST, "HUDI_ROLLBACK_EXECUTE"])
def test_no_run_takes_what_nobody_approved_however_it_came_into_the_queue(kind: str) -> None:
    allow(kinds=["CLEAN", "TTL", "ROLLBACK"], ttl_days=30)
    row = looked("rides", look(asked(10, Action.CLEAN), begun(20, heartbeat_at=NOW - DAY)))
    made = hudi_task(row, kind=kind, instants=[name(20)], partitions=["day=1"], requested_by="olga")
    assert choose(HUDI, "main", now=NOW) == []
    run = run_of()
    assert claim(HUDI, run, now=NOW) == 0
    assert lists_claim(HUDI, run_of("hudi_remove"), now=NOW) == 0
    # Even one that somebody put into a run by hand is given no order.
    OptimizeTask.objects.filter(pk=made.pk).update(state="SENT", run=run.pk, started_at=NOW)
    if kind in BY_LIST:
        with pytest.raises(DataSafetyError):
            orders(HudiServicesKind(), run)
    else:
        assert orders(HudiServicesKind(), run) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda found: RemovalPlan.objects.filter(pk=found.pk).update(
            facts={**found.facts, "found": {**CLEANING, "n_files": 4}}
        ),
        lambda found: OptimizeTask.objects.filter(pk=found.task_id).update(instants=[name(99)]),
        lambda found: OptimizeTask.objects.filter(pk=found.task_id).update(partitions=["day=2"]),
        lambda found: HudiTable.objects.update(location="file:/lake/other"),
    ],
)
def test_a_list_that_was_changed_after_its_approval_is_not_acted_on(
    people: People, change: Callable[[RemovalPlan], int]
) -> None:
    allow()
    found = listed(looked("rides", look(asked(10, Action.CLEAN))), CLEAN_LIST, CLEANING)
    approve(found, people.admin, people.second)
    run = run_of("hudi_remove", now=cool(found))
    assert lists_claim(HUDI, run, now=cool(found)) == 1
    change(found)
    with pytest.raises(DataSafetyError):
        orders(HudiRemoveKind(), run)


def test_a_list_ends_with_a_no_a_withdrawal_or_a_policy_that_takes_it_back(people: People) -> None:
    policy = allow(kinds=["CLEAN"])
    row = looked("rides", look(asked(10, Action.CLEAN)))
    found = listed(row, CLEAN_LIST, CLEANING)
    answer = DecisionInput("REJECT", "it is audited", found.digest)
    removal_decide(found.pk, user=people.admin, answer=answer, authenticated_at=NOW, now=NOW)
    found.task.refresh_from_db()
    assert (found.task.state, found.task.outcome_code) == ("CANCELLED", "removal.rejected")
    inspect_again(row, later(look(asked(10, Action.CLEAN)), 2))
    hudi_decide("main", now=NOW + 2 * MINUTE)
    row.refresh_from_db()
    assert "refused" in {one["code"] for one in row.decisions}
    assert not OptimizeTask.objects.filter(hudi=row, is_open=True).exists()

    other = looked("trips", look(asked(10, Action.CLEAN)))
    asked_for = listed(other, CLEAN_LIST, CLEANING, requested_by="ada")
    removal_withdraw(asked_for.pk, user=people.admin, reason="a mistake", now=NOW)
    assert OptimizeTask.objects.get(pk=asked_for.task_id).state == "CANCELLED"

    third = listed(looked("walks", look(asked(10, Action.CLEAN))), CLEAN_LIST, CLEANING)
    approve(third, people.admin, people.second)
    PolicyVersion.objects.filter(pk=policy.pk).update(values={**policy.values, "kinds": []})
    assert lists_claim(HUDI, run_of("hudi_remove"), now=cool(third)) == 0
    third.refresh_from_db()
    assert (third.state, third.task.state) == ("FAILED", "CANCELLED")


def test_the_approval_of_a_lost_run_is_used_up(people: People) -> None:
    allow()
    found = listed(looked("rides", look(asked(10, Action.CLEAN))), CLEAN_LIST, CLEANING)
    approve(found, people.admin, people.second)
    run = run_of("hudi_remove", now=cool(found))
    lists_claim(HUDI, run, now=cool(found))
    Run.objects.filter(pk=run.pk).update(state="FAILED", finished_at=NOW)
    assert reclaim(HUDI, "main", now=NOW) == 1
    found.refresh_from_db()
    assert (found.state, OptimizeTask.objects.get(pk=found.task_id).state) == ("FAILED", "FAILED")
    assert choose(HUDI, "main", now=NOW + DAY) == []


def test_a_clean_that_a_dead_run_left_pending_is_named_on_the_next_list(
    people: People, lake: LakeConfig
) -> None:
    allow()
    row = looked("rides", look(done(9)))
    lost = listed(row, CLEAN_LIST, DRAWN)
    approve(lost, people.admin, people.second)
    run = run_of("hudi_remove", now=cool(lost))
    lists_claim(HUDI, run, now=cool(lost))
    spool = Spool.for_run(lake, str(run.pk), 1)
    spool.create()
    sealed = spool.root.child(SEALED)
    spool.fs.make_directories(sealed, mode=0o700)
    about = {"task": lost.task_id, "service": "CLEAN", "instants": [], "partitions": []}
    name_of = sealed.child(intent_name(lost.task_id, 1))
    spool.fs.write_new(name_of, json.dumps(about).encode())
    Run.objects.filter(pk=run.pk).update(
        state="FAILED", finished_at=cool(lost), spool=str(spool.root)
    )
    assert reclaim(HUDI, "main", now=cool(lost)) == 1
    lost.refresh_from_db()
    assert lost.state == "FAILED"
    assert "it goes on once people approve that list" in lost.outcome

    inspect_again(row, later(look(asked(10, Action.CLEAN)), 2))
    made = hudi_task(row, kind=CLEAN_LIST, instants=None)
    again = run_of()
    OptimizeTask.objects.filter(pk=made.pk).update(state="SENT", run=again.pk, started_at=NOW)
    pending = {**DRAWN, "instant": name(10)}
    results_ingest(HUDI, again, said(made, "NOTHING", found=pending), now=cool(lost))
    found = RemovalPlan.objects.get(hudi=row, state="PENDING")
    assert found.task.instants == [name(10)]
    (note,) = found.facts["notes"]
    assert name(10) in note
    assert lost.short_id in note
    client = Client()
    client.force_login(people.admin)
    assert note[:60] in client.get(f"/optimizer/removals/{found.pk}/").content.decode()


def test_a_clean_keeps_the_version_that_a_reader_of_changes_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow(kinds=["CLEAN"])
    writes = [done(minute) for minute in range(1, 20)]
    reader = ChangeReader("layer dwd.rides", writes[2].requested_at)
    asked_of: list[str] = []

    def known(table: TableName) -> list[ChangeReader]:
        asked_of.append(str(table))
        return [reader]

    monkeypatch.setitem(change_readers._providers, "test", known)
    row = looked("rides", look(*writes, asked(30, Action.CLEAN)))
    hudi_decide("main", now=NOW)
    run = run_of()
    claim(HUDI, run, now=NOW)
    (order,) = orders(HudiServicesKind(), run)
    assert order["settings"] == {"hoodie.clean.commits.retained": "18"}
    assert set(asked_of) == {f"{row.db}.{row.table}"}


def test_a_pending_clean_of_the_writers_is_listed_before_it_is_asked_about() -> None:
    allow(kinds=["CLEAN"])
    row = looked("rides", look(asked(10, Action.CLEAN)))
    hudi_decide("main", now=NOW)
    made = OptimizeTask.objects.get(hudi=row)
    assert (made.kind, made.instants) == (CLEAN_LIST, [name(10)])
    run = run_of()
    claim(HUDI, run, now=NOW)
    (order,) = orders(HudiServicesKind(), run)
    assert (order["step"], order["settings"]) == (
        "SCHEDULE", {"hoodie.clean.commits.retained": "10"},
    )  # fmt: skip
    results_ingest(HUDI, run, said(made, "FAILED", code="hudi.x", reason="No."), now=NOW + MINUTE)
    inspect_again(row, later(look(asked(10, Action.CLEAN)), 2))
    hudi_decide("main", now=NOW + 2 * MINUTE)
    assert not OptimizeTask.objects.filter(hudi=row, is_open=True).exists()


def test_a_list_that_a_person_cancelled_meanwhile_is_shown_to_nobody() -> None:
    allow()
    made = hudi_task(looked("rides", look()), kind="HUDI_TTL_SCHEDULE", instants=None)
    run = run_of()
    claim(HUDI, run, now=NOW)
    OptimizeTask.objects.filter(pk=made.pk).update(
        outcome_code="task.cancelled", outcome="olga: no"
    )
    results_ingest(HUDI, run, said(made, "NOTHING", found=OLD), now=NOW)
    assert not RemovalPlan.objects.exists()
