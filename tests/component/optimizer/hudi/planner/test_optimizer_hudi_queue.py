"""Tests the queue of Hudi tables: into the queue, into a run and out again, with reasons."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from optimizer.core.domain.tasks import TaskState
from optimizer.core.services.dispatcher import choose, claim
from optimizer.core.services.results import reclaim, results_ingest
from optimizer.hudi.inspect.domain.facts import BlockKind, BlockState, HudiInspection
from optimizer.hudi.planner.run_kinds import HudiServicesKind
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.hudi.planner.services.planner import AGAIN_AFTER, hudi_decide
from optimizer.iceberg.planner.services.maintainer import ICEBERG
from optimizer.models import HudiTable, OptimizeTask, PolicyVersion
from portal.runs.models import Run
from tests.component.optimizer.hudi.hudi_task_rows import (
    allow,
    executed,
    hudi_task,
    inspect_again,
    looked,
    run_of,
    said,
)
from tests.component.optimizer.optimizer_rows import iceberg, task
from tests.unit.optimizer.hudi.hudi_world import (
    COMPACTION,
    LOCK,
    NOW,
    asked,
    begun,
    block,
    done,
    logs,
    look,
    name,
    plan,
    waiting,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
MINUTE = timedelta(minutes=1)
PLANNED = look(asked(10), asked(20), plans=(plan(10, "a"), plan(20, "b")))
RUN, PLAN = "HUDI_COMPACTION_EXECUTE", "HUDI_COMPACTION_SCHEDULE"
FREE = look(done(10), slices=(logs("a", 10),), uncompacted=waiting(10))


def later(found: HudiInspection, minutes: int) -> HudiInspection:
    return replace(found, inspected_at=found.inspected_at + MINUTE * minutes)


def open_of(row: HudiTable) -> list[tuple[str, str]]:
    found = row.tasks.filter(is_open=True).order_by("kind")
    return list(found.values_list("kind", "state"))


def order_of(run: Run) -> dict[str, Any]:
    (one,) = HudiServicesKind().request(run)["tasks"]
    return dict(one)


def test_plans_that_are_pending_become_one_task_oldest_first() -> None:
    allow()
    row = looked("rides", PLANNED)
    assert hudi_decide("main", now=NOW) == 1
    assert hudi_decide("main", now=NOW) == 0
    made = OptimizeTask.objects.get(hudi=row)
    assert (made.kind, made.state, made.instants) == (RUN, "WAITING", [name(10), name(20)])
    row.refresh_from_db()
    assert row.decision.startswith("Execute compaction: 2 plans of compaction pending")
    codes = {(one["service"], one["step"]): one["code"] for one in row.decisions}
    assert codes["COMPACTION", "EXECUTE"] == "task"
    assert codes["COMPACTION", "SCHEDULE"] == "none"
    assert made.policy_versions == [PolicyVersion.objects.get().pk]


def test_the_order_says_what_the_job_has_to_know() -> None:
    allow(clean_commits=4, stuck_minutes=90)
    row = looked("rides", PLANNED, properties={"hoodie.compact.inline": "false"})
    hudi_decide("main", now=NOW)
    run = run_of(now=NOW)
    assert claim(HUDI, run, now=NOW) == 1
    assert claim(HUDI, run, now=NOW) == 1
    made = OptimizeTask.objects.get(hudi=row, kind=RUN)
    assert (made.state, made.run) == ("SENT", run.pk)
    assert order_of(run) == {
        "task": made.pk,
        "db": "shop",
        "table": "rides",
        "location": "file:/lake/rides",
        "service": "COMPACTION",
        "step": "EXECUTE",
        "instants": [name(10), name(20)],
        "failed": [],
        "most": None,
        "lock": {"hoodie.write.lock.provider": LOCK},
        "writer_serialized": False,
        "patience_seconds": 5400.0,
        "settings": {},
        "properties": {"hoodie.compact.inline": "false"},
        "partitions": [],
        "digest": "",
    }


def test_what_a_run_did_is_kept_and_the_table_is_looked_at_before_it_is_decided_on() -> None:
    allow()
    row = looked("rides", PLANNED)
    hudi_decide("main", now=NOW)
    run = run_of(now=NOW)
    claim(HUDI, run, now=NOW)
    made = OptimizeTask.objects.get(hudi=row, kind=RUN)
    end = NOW + 5 * MINUTE
    manifest = said(made, "DONE", done=executed(name(10), name(20)), seconds=40.0)
    for _ in range(2):
        results_ingest(HUDI, run, manifest, now=end)
    made.refresh_from_db()
    row.refresh_from_db()
    assert (made.state, made.is_open, made.seconds, made.n_tries) == ("DONE", None, 40.0, 1)
    assert made.outcome == "2 instants of its timeline, 4 files."
    assert row.inspect_due_at == end
    # The look of before the run is no reason to do it again.
    HudiTable.objects.update(decided_at=None)
    hudi_decide("main", now=end)
    assert open_of(row) == []
    inspect_again(row, later(look(done(10), done(20)), 6))
    hudi_decide("main", now=end + MINUTE)
    assert (RUN, "WAITING") not in open_of(row)


def test_a_task_whose_need_is_gone_ends_and_one_that_is_wanted_still_is_refreshed() -> None:
    allow(kinds=["COMPACTION"])
    row = looked("rides", PLANNED)
    hudi_decide("main", now=NOW)
    inspect_again(row, later(look(asked(20), plans=(plan(20, "b"),)), 1))
    hudi_decide("main", now=NOW + MINUTE)
    made = OptimizeTask.objects.get(hudi=row)
    assert (made.instants, made.created_at) == ([name(20)], NOW)
    inspect_again(row, later(look(done(20)), 2))
    hudi_decide("main", now=NOW + 2 * MINUTE)
    made.refresh_from_db()
    assert (made.state, made.outcome_code) == ("ABANDONED", "task.not_needed")
    assert made.outcome.startswith("Not needed any more. ")


def test_what_people_asked_for_stays_until_people_take_it_back() -> None:
    allow(kinds=["COMPACTION"])
    row = looked("rides", look(done(20)))
    hudi_task(row, requested_by="olga", kind=PLAN, instants=None)
    hudi_decide("main", now=NOW)
    assert open_of(row) == [(PLAN, "WAITING")]


def test_quiet_hours_a_switch_and_a_pause_hold_it_and_say_so() -> None:
    policy = allow(quiet="08:00-20:00", kinds=["COMPACTION"])
    row = looked("rides", PLANNED)
    hudi_decide("main", now=NOW)
    made = OptimizeTask.objects.get(hudi=row)
    assert (made.state, made.waits_for[:15]) == ("HELD", "Blackout window")
    assert choose(HUDI, "main", now=NOW) == []
    OptimizeTask.objects.update(requested_by="olga")
    assert choose(HUDI, "main", now=NOW) == [made]
    OptimizeTask.objects.update(requested_by="")
    PolicyVersion.objects.filter(pk=policy.pk).update(values={**policy.values, "is_on": False})
    assert choose(HUDI, "main", now=NOW) == []
    made.refresh_from_db()
    assert made.waits_for == "Services are switched off for this table."
    PolicyVersion.objects.filter(pk=policy.pk).update(values={**policy.values, "quiet": None})
    assert choose(HUDI, "main", now=NOW) == [made]
    HudiTable.objects.update(is_paused=True, paused_by="olga", paused_reason="a repair")
    assert choose(HUDI, "main", now=NOW) == []
    HudiTable.objects.update(decided_at=None)
    hudi_decide("main", now=NOW)
    made.refresh_from_db()
    assert (made.state, made.waits_for) == ("HELD", "Paused by olga: a repair")


def test_a_run_takes_one_task_a_table_and_none_beside_another_run() -> None:
    allow()
    row, other = looked("rides", PLANNED), looked("trips", PLANNED)
    first = hudi_task(row, kind="HUDI_CLUSTERING_EXECUTE", score=7)
    hudi_task(row, score=5)
    second = hudi_task(other, score=5)
    assert choose(HUDI, "main", now=NOW) == [first, second]
    hudi_task(other, kind="HUDI_TTL_SCHEDULE", state=TaskState.SENT)
    assert choose(HUDI, "main", now=NOW) == [first]
    mine = run_of(now=NOW)
    assert claim(HUDI, mine, now=NOW) == 1
    assert claim(HUDI, run_of(now=NOW), now=NOW) == 0


def test_the_days_budget_is_shared_by_tables_of_both_formats() -> None:
    allow(budget_gb_hours=1.0)
    PolicyVersion.objects.create(
        lake="main", scope="*", version=1, by="ada", at=NOW, reason="test",
        values={"is_on": True, "budget_gb_hours": 1.0},
    )  # fmt: skip
    made = hudi_task(looked("rides", PLANNED))
    assert choose(HUDI, "main", now=NOW) == [made]
    clicks = iceberg("clicks", now=NOW)
    waits = task(clicks, now=NOW)
    assert choose(ICEBERG, "main", now=NOW) == [waits]
    task(clicks, now=NOW, state=TaskState.DONE, seconds=1800.0, commits=[])
    hudi_task(looked("trips", PLANNED), now=NOW, state=TaskState.DONE, seconds=1801.0)
    assert choose(HUDI, "main", now=NOW) == []
    assert choose(ICEBERG, "main", now=NOW) == []
    made.refresh_from_db()
    assert "1.00 of 1.00 GB-hours of *" in made.waits_for


def test_a_lost_run_gives_its_tasks_back_until_the_third_time() -> None:
    allow()
    made = hudi_task(looked("rides", PLANNED))
    for n in range(1, 4):
        run = run_of(now=NOW)
        assert claim(HUDI, run, now=NOW) == 1
        Run.objects.filter(pk=run.pk).update(state="FAILED", finished_at=NOW)
        assert reclaim(HUDI, "main", now=NOW) == 1
        assert reclaim(HUDI, "main", now=NOW) == 0
        made.refresh_from_db()
        assert (made.state, made.n_tries) == ("WAITING" if n < 3 else "FAILED", n)
    assert made.hudi is not None
    assert made.hudi.inspect_due_at == NOW


def test_an_instant_that_failed_waits_an_hour_and_comes_last_then() -> None:
    allow(kinds=["COMPACTION"])
    row = looked("rides", PLANNED)
    hudi_decide("main", now=NOW)
    run = run_of(now=NOW)
    claim(HUDI, run, now=NOW)
    made = OptimizeTask.objects.get(hudi=row)
    manifest = said(made, "PARTIAL", done=executed(name(20)), code="hudi.failed", reason="No.")
    results_ingest(HUDI, run, manifest, now=NOW + MINUTE)
    inspect_again(row, later(PLANNED, 2))
    hudi_decide("main", now=NOW + 2 * MINUTE)
    assert OptimizeTask.objects.get(hudi=row, is_open=True).instants == [name(20)]
    much_later = NOW + AGAIN_AFTER + 3 * MINUTE
    assert hudi_decide("main", now=much_later) == 1
    assert OptimizeTask.objects.get(hudi=row, is_open=True).instants == [name(20), name(10)]


def test_what_gave_way_to_a_writer_waits_some_minutes() -> None:
    allow(kinds=["COMPACTION"])
    row = looked("rides", PLANNED)
    hudi_task(row, state=TaskState.ABANDONED, ended_at=NOW - MINUTE, outcome_code="hudi.at_work")
    hudi_decide("main", now=NOW)
    made = OptimizeTask.objects.get(hudi=row, is_open=True)
    assert made.not_before == NOW + 4 * MINUTE
    assert choose(HUDI, "main", now=NOW) == []
    assert choose(HUDI, "main", now=NOW + 5 * MINUTE) == [made]


def test_a_stuck_compaction_is_rolled_back_first_and_alone() -> None:
    allow(kinds=["COMPACTION", "ROLLBACK"])
    ill = look(begun(10, COMPACTION), asked(20), plans=(plan(10, "a", begun=True), plan(20, "b")))
    row = looked("rides", ill)
    hudi_decide("main", now=NOW)
    assert open_of(row) == [(RUN, "WAITING"), ("HUDI_ROLLBACK_EXECUTE", "WAITING")]
    run = run_of(now=NOW)
    assert claim(HUDI, run, now=NOW) == 1
    order = order_of(run)
    assert (order["service"], order["instants"]) == ("ROLLBACK", [name(10)])


def test_damage_holds_services_and_nothing_is_done_without_a_policy() -> None:
    row = looked("rides", PLANNED)
    hudi_decide("main", now=NOW)
    assert open_of(row) == []
    allow()
    hurt = block(5, BlockState.CORRUPT, BlockKind.CORRUPT)
    ill = looked("ill", replace(FREE, instants=(done(5), done(10)), blocks=(hurt,),
                                slices=(logs("f", 10),)))  # fmt: skip
    hudi_decide("main", now=NOW)
    assert (PLAN, "WAITING") not in open_of(ill)
    ill.refresh_from_db()
    assert any(one["code"] == "damaged" for one in ill.decisions)


def test_a_table_costs_few_statements_however_many_there_are(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    allow()
    for n in range(30):
        looked(f"t{n}", PLANNED)
    with django_assert_max_num_queries(5 + 13 * 30):
        assert hudi_decide("main", now=NOW) == 30
    with django_assert_max_num_queries(9):
        assert len(choose(HUDI, "main", now=NOW)) == 20
