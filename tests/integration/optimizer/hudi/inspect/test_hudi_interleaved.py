"""Whatever comes between writes, services and breaks: a Hudi table's rows are those of a model."""

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.hudi.inspect.domain.facts import Action, InstantState
from stack.stack import LAKE, Stack
from tests.support.hudi_lake import HudiTable, Row
from tests.support.hudi_services import APART, LOCK, QUICK, SHARED, Services, order, submitted
from tests.support.scan_spark import job_for

pytestmark = pytest.mark.spark
_STEPS = 10
_DAYS = ("2026-05-01", "2026-05-02")
_SAID = {**APART, **QUICK}
_UNTIL_DEAD = 1.2
_SUBMITTED_SECONDS = 120.0


@pytest.fixture(scope="module")
def services(spark: SparkSession, embedded_stack: Stack) -> Services:
    return Services(spark, embedded_stack.config(LAKE))


class Story:
    """A table and the rows that it must have, and what has happened so far."""

    def __init__(self, services: Services, place: Path, dice: random.Random) -> None:
        self.services, self.dice = services, dice
        self.table = HudiTable(services.spark, place)
        self.rows: dict[int, Row] = {}
        self.told: list[str] = []
        self.tick = 0

    def write(self, ids: Sequence[int], operation: str = "upsert") -> None:
        """Write some rows; a writer that Hudi turns away has written nothing."""
        self.tick += 1
        rows = [(i, _DAYS[i % 2], f"w{self.tick}", self.tick) for i in ids]
        # With Hudi's own patience: on a busy machine a writer's heart misses a beat of a second.
        settings = {**SHARED, "hoodie.datasource.write.operation": operation}
        try:
            self.table.upsert(rows, settings)
        except Exception as error:
            # Files in a pending clustering take no updates.
            if "luster" not in str(error):
                raise
            self.told.append(f"{operation} refused")
            return
        for row in rows:
            if operation == "delete":
                self.rows.pop(row[0], None)
            else:
                self.rows[row[0]] = row
        self.told.append(f"{operation} {ids}")

    def upsert(self) -> None:
        self.write(sorted(self.dice.sample(range(8), 3)))

    def insert(self) -> None:
        self.write([100 + self.tick], "insert")

    def delete(self) -> None:
        self.write(self.dice.sample(sorted(self.rows), 1), "delete")

    def serve(self, service: str, step: str, **changed: Any) -> dict[str, Any]:
        found = self.services.one(self.table, service, step, lock=LOCK, properties=_SAID, **changed)
        self.told.append(f"{service} {step}: {found['outcome']} {found['code']}")
        return found

    def schedule(self) -> None:
        self.serve(self.dice.choice(("COMPACTION", "CLUSTERING")), "SCHEDULE")

    def execute(self) -> None:
        for service in ("COMPACTION", "CLUSTERING"):
            self.serve(service, "EXECUTE")

    def clean(self) -> None:
        settings = {"hoodie.clean.commits.retained": "1"}
        found = self.serve("CLEAN", "SCHEDULE", settings=settings)["found"]
        if found:
            settings["earliest"] = found["earliest"]
            self.serve("CLEAN", "EXECUTE", settings=settings, digest=found["digest"])

    def break_service(self) -> None:
        """Let a service fail in the middle of its work: the base files are away for a while."""
        bases = [path for path in self.table.files() if path.suffix == ".parquet"]
        for path in bases:
            path.rename(path.with_suffix(".away"))
        self.told.append("base files away")
        self.execute()
        for path in bases:
            path.with_suffix(".away").rename(path)

    def break_writer(self) -> None:
        """Let a writer fail after it has written to logs: a file is where it wants a folder."""
        place = self.table.place / f"dt={self.tick}"
        place.write_text("in the way")
        rows = [(0, _DAYS[0], "lost", 10**6), (999, str(self.tick), "lost", 10**6)]
        with pytest.raises(Exception, match="dt="):
            self.table.upsert(rows, {**SHARED, **QUICK})
        place.unlink()
        self.told.append("writer broken")

    def roll_back(self) -> None:
        time.sleep(_UNTIL_DEAD)
        stuck = self.serve("ROLLBACK", "SCHEDULE")["found"]["instants"]
        if stuck:
            self.serve("ROLLBACK", "EXECUTE", instants=[one["instant"] for one in stuck])

    def check(self, *, only_base_files: bool = False) -> None:
        found = self.table.rows(only_base_files=only_base_files)
        assert found == sorted(self.rows.values()), self.told

    def end(self) -> None:
        """Do all that waits, until nothing does and nothing stands in logs alone."""
        self.roll_back()
        self.execute()
        self.serve("COMPACTION", "SCHEDULE")
        self.execute()


@pytest.mark.long
@pytest.mark.parametrize("seed", [7, 20])
def test_rows_are_those_of_a_model_after_any_story(
    services: Services, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    story = Story(services, tmp_path / "told", dice)
    acts: dict[Callable[[], None], int] = {
        story.upsert: 4,
        story.insert: 1,
        story.delete: 2,
        story.schedule: 4,
        story.execute: 3,
        story.clean: 1,
        story.break_service: 2,
        story.break_writer: 1,
        story.roll_back: 1,
    }
    story.write(range(8))
    for act in dice.choices(list(acts), weights=list(acts.values()), k=_STEPS):
        act()
        story.check()

    story.end()

    story.check()
    story.check(only_base_files=True)
    assert [one.instant for one in story.table.look().instants if one.is_pending] == [], story.told


def test_a_compaction_killed_amid_its_work_is_done_by_the_next_run(
    services: Services, tmp_path: Path
) -> None:
    table = HudiTable(services.spark, tmp_path / "killed")
    rows: list[Row] = [(i, f"day {i:02}", "a", 1) for i in range(16)]
    table.upsert(rows)
    rows = [(i, dt, "b", 2) for i, dt, _, _ in rows]
    table.upsert(rows)
    (plan,) = services.one(table, "COMPACTION", "SCHEDULE", lock=LOCK)["done"]
    task = order(table, "COMPACTION", properties=_SAID, patience_seconds=3600)
    job = job_for(services.spark, services.config, {"tasks": [task]})
    launched = submitted(
        job,
        "optimizer.hudi.maintenance.jobs.run_services",
        config=services.config,
        log_file=tmp_path / "log",
    )
    until = time.monotonic() + _SUBMITTED_SECONDS
    while not list(table.place.rglob(f"*_{plan['instant']}.parquet")):
        assert time.monotonic() < until, (tmp_path / "log").read_text()
        time.sleep(0.001)
    os.killpg(launched.pgid, signal.SIGKILL)

    (begun,) = [one for one in table.look().instants if one.is_pending]
    assert (begun.action, begun.state) == (Action.COMPACTION, InstantState.INFLIGHT)
    assert begun.heartbeat_at is not None
    assert table.rows() == rows
    time.sleep(_UNTIL_DEAD)
    (done,) = services.run(task)

    assert [one["was"] for one in done["done"]] == ["inflight"]
    assert table.rows() == table.rows(only_base_files=True) == rows
    assert len(list(table.place.rglob(f"*_{plan['instant']}.parquet"))) == len(rows)
