"""What the service that stays with Hudi tables is told, and what becomes of what it did."""

import json
import zlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from optimizer.core.domain.tasks import LEAVE_OUT, TaskState
from optimizer.core.services.dispatcher import choose, take
from optimizer.core.services.task_lifecycle import request_stop
from optimizer.hudi.continuous.run_kinds import STAY, HudiResidentKind
from optimizer.hudi.continuous.services import resident_hear, resident_turn
from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.services.inspection import (
    REFUSED_RETRY,
    hudi_inspection_ask,
    hudi_inspections_due,
)
from optimizer.hudi.planner.run_kinds import HudiServicesKind
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.hudi.planner.services.planner import hudi_decide
from optimizer.hudi.tables.selectors.resident import RESIDENT
from optimizer.models import HudiTable, OptimizeTask, StoredInspection
from portal.connectors.lake_config import LakeConfig
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.safety.services import emergency_stop_start
from portal.spark.spool import Spool
from tests.component.conftest import LAKE
from tests.component.optimizer.hudi.hudi_task_rows import (
    allow,
    executed,
    hudi,
    hudi_task,
    looked,
    run_of,
    said,
)
from tests.unit.optimizer.hudi.hudi_world import NOW, asked, done, look, name, plan

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
PLANNED = look(asked(10), plans=(plan(10, "a"),))
WELL = look(done(0), done(10))


class Staying:
    """A run that stays, with its spool, and nobody at work in it but the test."""

    def __init__(self, config: LakeConfig) -> None:
        self.run = run_of(RESIDENT)
        self.spool = Spool.for_run(config, str(self.run.pk), 1)
        self.spool.create()
        self.run.spool, self.run.state = str(self.spool.root), RunState.RUNNING
        self.run.progress_n = 1
        self.run.save()
        self.decided = 0

    def decide(self, lake: str, **_: Any) -> None:
        self.decided += 1
        hudi_decide(lake, now=_["now"])

    def beat(self, *, minutes: float = 0) -> dict[str, Any]:
        """Let the portal look after it; returns what its control file then says."""
        wanted = resident_turn(self.run, self.decide, now=NOW + MINUTE * minutes)
        if wanted:
            self.spool.write_control(wanted)
        return self.spool.read_control()

    def did(self, order: dict[str, Any], outcome: str, **said_of: Any) -> None:
        """Say what came of an order, as the program does."""
        task = OptimizeTask(pk=order["task"])
        (word,) = said(task, outcome, **said_of)["result"]["tasks"]
        self.write(f"tasks/{order['turn']}.json", word)

    def saw(self, row: HudiTable, found: dict[str, Any] | HudiInspection, at: str) -> None:
        """Say what a look found, as the program does."""
        if isinstance(found, HudiInspection):
            found = {"look": found.as_dict(), "read_logs": True, "read_keys": False}
        self.write(f"looks/{row.pk}.json", found)
        self.write("looks.json", {str(row.pk): at})

    def write(self, name: str, found: Any) -> None:
        path = self.spool.results.child(*name.split("/"))
        self.spool.fs.make_directories(path.parent, mode=0o700)
        self.spool.fs.replace(path, json.dumps(found).encode())


def resident(table: str = "rides", found: HudiInspection = PLANNED, **values: Any) -> HudiTable:
    return looked(table, found, is_continuous=True, **values)


def test_a_policy_says_with_which_tables_a_service_stays(lake: LakeConfig) -> None:
    row = looked("rides", PLANNED)
    kind = HudiResidentKind()
    allow(is_continuous=True)
    assert kind.scheduled_params(LAKE, now=NOW) is None
    hudi_decide(LAKE, now=NOW)
    row.refresh_from_db()
    assert row.is_continuous
    assert kind.scheduled_params(LAKE, now=NOW) == {}
    run = run_of(RESIDENT)
    assert kind.request(run) == {"stay_seconds": STAY.total_seconds()}
    assert kind.scheduled_params(LAKE, now=NOW) is None
    ended = {"finished_at": NOW, "cancel_requested_by": "ada", "cancel_requested_at": NOW}
    Run.objects.update(state=RunState.CANCELLED, **ended)
    assert kind.scheduled_params(LAKE, now=NOW + MINUTE) is None
    assert kind.scheduled_params(LAKE, now=NOW + 6 * MINUTE) == {}
    emergency_stop_start(lake=LAKE, pressed_by="ada", reason="look", now=NOW)
    assert kind.scheduled_params(LAKE, now=NOW + 6 * MINUTE) is None


def test_a_policy_that_changed_is_acted_on_at_once(lake: LakeConfig) -> None:
    row = looked("rides", PLANNED)
    allow(is_continuous=True)
    assert hudi_decide(LAKE, now=NOW + MINUTE) == 1
    assert hudi_decide(LAKE, now=NOW + 2 * MINUTE) == 0
    changed = allow(version=2, scope="shop.rides", is_continuous=False)
    type(changed).objects.filter(pk=changed.pk).update(at=NOW + 3 * MINUTE)
    assert hudi_decide(LAKE, now=NOW + 4 * MINUTE) == 1
    row.refresh_from_db()
    assert not row.is_continuous
    off = allow(version=3, scope="shop.*", is_continuous=True, is_on=False)
    type(off).objects.filter(pk=off.pk).update(at=NOW + 5 * MINUTE)
    hudi_decide(LAKE, now=NOW + 6 * MINUTE)
    assert not HudiTable.objects.get().is_continuous


def test_only_while_one_stays_do_other_runs_leave_its_tables_to_it(lake: LakeConfig) -> None:
    allow()
    hers, other = resident("hers"), looked("other", PLANNED)
    mine, his = hudi_task(hers), hudi_task(other)
    HudiTable.objects.update(inspect_due_at=NOW)
    assert choose(HUDI, LAKE, now=NOW) == [mine, his]
    assert choose(HUDI, LAKE, now=NOW, rows=HUDI.watched(LAKE, now=NOW)) == []
    both = hudi_inspections_due(LAKE, now=NOW)
    assert both is not None
    assert both["tables"] == [hers.pk, other.pk]
    staying = Staying(lake)
    assert choose(HUDI, LAKE, now=NOW) == [his]
    assert choose(HUDI, LAKE, now=NOW, rows=HUDI.watched(LAKE, now=NOW)) == [mine]
    left = hudi_inspections_due(LAKE, now=NOW)
    assert left is not None
    assert left["tables"] == [other.pk]
    assert hudi_inspection_ask(LAKE, hers.pk, by="ada", now=NOW) == staying.run
    Run.objects.update(cancel_requested_by="ada")
    assert choose(HUDI, LAKE, now=NOW) == [mine, his]


def test_it_is_given_tasks_once_and_what_came_of_them_is_kept(lake: LakeConfig) -> None:
    allow()
    row, staying = resident(), Staying(lake)
    task = hudi_task(row, instants=[name(10)])
    (order,) = staying.beat()["orders"]
    assert (order["task"], order["instants"], order["table"]) == (task.pk, [name(10)], "rides")
    task.refresh_from_db()
    assert (task.state, task.run) == ("SENT", staying.run.pk)
    assert resident_turn(staying.run, staying.decide, now=NOW) == {}
    staying.did(order, "DONE", done=executed(name(10)), seconds=7.0)
    assert staying.beat(minutes=1)["orders"] == []
    task.refresh_from_db()
    row.refresh_from_db()
    assert (task.state, task.seconds, task.ended_at) == ("DONE", 7.0, NOW + MINUTE)
    assert row.inspect_due_at == NOW + MINUTE
    (watched,) = staying.spool.read_control()["watch"]
    assert (watched["table_id"], watched["due"]) == (row.pk, (NOW + MINUTE).isoformat())


def test_one_that_was_left_comes_back_as_a_new_turn(lake: LakeConfig) -> None:
    allow()
    row, staying = resident(), Staying(lake)
    task = hudi_task(row, instants=[name(10)])
    (first,) = staying.beat()["orders"]
    staying.write(f"tasks/{first['turn']}.json", {"task": task.pk, "outcome": ""})
    (second,) = staying.beat(minutes=1)["orders"]
    assert (second["task"], task.pk) == (first["task"], task.pk)
    assert second["turn"] != first["turn"]
    task.refresh_from_db()
    assert (task.state, task.n_tries) == ("SENT", 0)


def test_a_task_of_which_nothing_is_left_ends_and_holds_nobody_up(lake: LakeConfig) -> None:
    allow()
    row, staying = hudi("never", is_continuous=True), Staying(lake)
    task = hudi_task(row)
    assert staying.beat()["orders"] == []
    task.refresh_from_db()
    assert (task.state, task.outcome) == (
        "NOTHING",
        "Nothing of it was left to do when its turn came.",
    )


def test_a_task_that_people_cancel_is_left_out(lake: LakeConfig) -> None:
    allow()
    row, staying = resident(), Staying(lake)
    task = hudi_task(row, instants=[name(10)])
    (order,) = staying.beat()["orders"]
    task.refresh_from_db()
    assert request_stop(task, reason="not today")
    assert staying.beat(minutes=1)[LEAVE_OUT] == [task.pk]
    staying.write(f"tasks/{order['turn']}.json", {"task": task.pk, "outcome": ""})
    control = staying.beat(minutes=2)
    assert (control["orders"], control[LEAVE_OUT]) == ([], [])
    task.refresh_from_db()
    assert (task.state, task.outcome) == ("CANCELLED", "not today")


def test_what_holds_others_up_comes_first(lake: LakeConfig) -> None:
    allow()
    later, first = (
        hudi_task(resident(one), instants=[name(10)], score=score)
        for one, score in (("later", 1), ("first", 9))
    )
    orders = Staying(lake).beat()["orders"]
    assert [one["task"] for one in orders] == [first.pk, later.pk]


def test_it_has_so_many_tasks_at_once(lake: LakeConfig, settings: Any) -> None:
    settings.LAKEWARDEN_OPTIMIZER_TASKS_A_RUN = 5
    allow()
    for n in range(8):
        hudi_task(resident(f"t{n:02}"), instants=[name(10)])
    staying = Staying(lake)
    assert len(staying.beat()["orders"]) == 5
    assert len(staying.beat(minutes=1)["orders"]) == 5


def test_a_look_of_its_is_shown_and_decided_on_once(lake: LakeConfig) -> None:
    allow(is_continuous=True)
    row, staying = resident(found=WELL), Staying(lake)
    staying.beat()
    newer = replace(PLANNED, inspected_at=NOW + MINUTE)
    staying.saw(row, newer, "1")
    control = staying.beat(minutes=2)
    row.refresh_from_db()
    assert (row.inspected_at, row.n_pending, staying.decided) == (NOW + MINUTE, 1, 1)
    (order,) = control["orders"]
    assert order["instants"] == [name(10)]
    assert control["seen"] == {str(row.pk): "1"}
    staying.beat(minutes=3)
    assert staying.decided == 1


@pytest.mark.parametrize(
    ("found", "due_in"),
    [
        ({"failed": "It has vanished."}, 12 * MINUTE),
        ({"look": {"inspected_at": "yesterday"}}, REFUSED_RETRY + 2 * MINUTE),
        ([1], REFUSED_RETRY + 2 * MINUTE),
    ],
)
def test_a_look_that_found_nothing_says_so_and_is_read_once(
    lake: LakeConfig, found: Any, due_in: timedelta
) -> None:
    allow(is_continuous=True)
    row, staying = resident(found=WELL), Staying(lake)
    staying.saw(row, found, "1")
    for minutes in (2, 3):
        staying.beat(minutes=minutes)
    row.refresh_from_db()
    assert row.inspection_error
    assert row.inspect_due_at == NOW + due_in


def test_what_it_did_before_it_died_is_kept_and_the_rest_waits_again(lake: LakeConfig) -> None:
    allow()
    staying = Staying(lake)
    rows = [resident(one) for one in ("done", "begun", "left")]
    tasks = [hudi_task(row, instants=[name(10)]) for row in rows]
    first, second, _ = staying.beat()["orders"]
    staying.did(first, "DONE", done=executed(name(10)))
    staying.write("begun.json", {"turn": second["turn"]})
    kind = HudiResidentKind()
    for _ in range(2):
        kind.ingest(staying.run, {"outcome": "died", "error": None, "result": {}})
    for task in tasks:
        task.refresh_from_db()
    assert [(task.state, task.n_tries) for task in tasks] == [
        ("DONE", 1),
        ("WAITING", 1),
        ("WAITING", 0),
    ]


def test_one_that_a_cluster_has_not_begun_yet_is_given_nothing(lake: LakeConfig) -> None:
    allow()
    row, staying = resident(), Staying(lake)
    task = hudi_task(row, instants=[name(10)])
    Run.objects.update(progress_n=0)
    staying.run.refresh_from_db()
    assert staying.beat() == {}
    assert choose(HUDI, LAKE, now=NOW) == [task]


def test_a_look_is_read_once_also_of_a_table_that_is_watched_no_more(lake: LakeConfig) -> None:
    allow(is_continuous=True)
    row, staying = resident(found=WELL), Staying(lake)
    staying.saw(row, {"failed": "It has vanished."}, "1")
    staying.beat(minutes=1)
    HudiTable.objects.update(is_continuous=False, inspect_due_at=NOW)
    assert staying.beat(minutes=2)["watch"] == []
    row.refresh_from_db()
    assert row.inspect_due_at == NOW


def test_a_table_whose_service_is_long_at_work_is_looked_at_by_others(lake: LakeConfig) -> None:
    row = resident()
    Staying(lake)
    HudiTable.objects.update(inspect_due_at=NOW)
    assert hudi_inspections_due(LAKE, now=NOW + 4 * MINUTE) is None
    due = hudi_inspections_due(LAKE, now=NOW + 6 * MINUTE)
    assert due is not None
    assert due["tables"] == [row.pk]


def test_a_table_whose_look_cannot_be_read_stops_no_other(lake: LakeConfig) -> None:
    allow()
    good, bad = resident("good"), resident("bad")
    tasks = [hudi_task(row, instants=[name(10)]) for row in (good, bad)]
    stored = StoredInspection.objects.get(table=bad)
    stored.packed = zlib.compress(b"{}")
    stored.save()
    (order,) = Staying(lake).beat()["orders"]
    assert order["task"] == tasks[0].pk
    tasks[1].refresh_from_db()
    assert (tasks[1].state, tasks[1].n_tries) == ("WAITING", 1)


def test_two_runs_never_have_tasks_of_one_table(lake: LakeConfig) -> None:
    allow()
    row = resident()
    first = hudi_task(row, instants=[name(10)])
    second = hudi_task(row, kind="HUDI_CLUSTERING_EXECUTE", instants=[name(20)])
    first.state, first.run = TaskState.SENT, run_of("hudi_remove").pk
    first.save()
    assert take(HUDI, run_of(), [second], now=NOW) == 0
    second.refresh_from_db()
    assert second.state == "WAITING"


@pytest.mark.parametrize(
    ("outcome", "result"),
    [("done", {"tasks": [], "stopped": "It is late."}), ("cancelled", {})],
)
def test_its_end_by_the_clock_or_by_people_is_no_task_s_fault(
    lake: LakeConfig, outcome: str, result: dict[str, Any]
) -> None:
    allow()
    staying = Staying(lake)
    task = hudi_task(resident(), instants=[name(10)])
    staying.beat()
    HudiResidentKind().ingest(staying.run, {"outcome": outcome, "error": None, "result": result})
    task.refresh_from_db()
    assert (task.state, task.n_tries) == ("WAITING", 0)


def test_a_run_that_was_never_submitted_is_closed_all_the_same(lake: LakeConfig) -> None:
    run = run_of(RESIDENT)
    assert resident_turn(run, hudi_decide, now=NOW) == {}
    HudiResidentKind().ingest(run, {"outcome": "failed", "error": {"message": "no JDK"}})
    assert HudiServicesKind().wanted(run) == {}


def test_half_a_file_counts_as_none(lake: LakeConfig) -> None:
    staying = Staying(lake)
    row = resident()
    staying.saw(row, PLANNED, "1")
    path = staying.spool.results.child("looks.json")
    staying.spool.fs.replace(path, b'{"1": ')
    assert resident_hear(staying.run, staying.decide, before={}, now=NOW) == {}
