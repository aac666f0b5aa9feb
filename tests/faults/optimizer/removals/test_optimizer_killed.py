"""A rewrite killed -9 at every step: no row is lost, the next run goes on, nothing of it stays."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from optimizer.models import IcebergTable, RemovalPlan
from optimizer.pruning.jobs.prune import INDEXED, use_indexes
from optimizer.removals.services.records import snapshots_now
from stack.stack import Stack
from tests.support.built_cubes import CubedTable
from tests.support.iceberg_indexes import index, locations, names, newest
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable
from tests.support.iceberg_model import Model
from tests.support.iceberg_staged import make_old, markers
from tests.support.removals import TEN_DAYS_ON, Removals, place
from tests.support.scan_spark import local_session

pytestmark = pytest.mark.spark
REPO = Path(__file__).resolve().parents[4]
NEVER = 0
# Of each step: the failpoint, in how many commits, and at which look somebody deletes a row.
STEPS = {
    "before its first sign": ("mark:before:kill", 1, NEVER),
    "after the marker, before a file": ("mark:after:kill", 1, NEVER),
    "with one of two groups written": ("write:after:kill", 1, NEVER),
    "with all written": ("commit:before:kill", 1, NEVER),
    "right after the commit": ("close:before:kill", 1, NEVER),
    "with one of two markers cleared": ("forget:after:kill", 1, NEVER),
    "between two commits": ("commit:after:kill", 2, NEVER),
    "with the second of two commits written": ("commit:before:kill:2", 2, NEVER),
    "while the files of a lost one are deleted": ("close:before:kill", 1, 4),
}


# After the new metadata file is there: before, in the middle of and after the metastore's own step.
MOMENTS = (0.0, 0.02, 0.1)
LONG = pytest.mark.long


class Jobs:
    """Job processes, killed where it is asked."""

    def __init__(self, lake: IcebergLake) -> None:
        self._lake = lake
        gateway: Any = lake.spark.sparkContext._gateway
        found = gateway.gateway_parameters
        self._jvm = {
            "PYSPARK_GATEWAY_PORT": str(found.port),
            "PYSPARK_GATEWAY_SECRET": str(found.auth_token),
        }
        self._forks = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.optimizer_driver"],
            cwd=REPO,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def kill(
        self,
        table: WrittenTable,
        point: str = "",
        *,
        at: int = 0,
        amid_commit: float | None = None,
        **changed: Any,
    ) -> None:
        """Let a job work at a table until its failpoint; without one, until its first file.

        Without a failpoint it has a JVM of its own, which dies with it; with `amid_commit` so many
        seconds after it has written the table's new metadata file, which the metastore then gets.
        """
        files = f"{table.opened.data_location.removeprefix('file:')}/lakewarden"
        metadata = f"{table.opened.location.removeprefix('file:')}/metadata"

        struck = {"LW_FAILPOINTS_ENABLED": "1", "LW_FAILPOINT": point}
        order = {
            "environment": self._jvm | struck if point else {},
            "config": self._lake.config.as_dict(),
            "db": self._lake.db,
            "root": str(self._lake.root),
            "tasks": [self._lake.task(table, **changed)],
            "at": at,
            "now": (TEN_DAYS_ON if amid_commit is not None else datetime.now(UTC)).isoformat(),
            "say": "DELETE FROM {t} WHERE id = 2",
            "watch": files if amid_commit is None else metadata,
            "pattern": "*.parquet" if amid_commit is None else "*.metadata.json",
            "delay": amid_commit or 0,
        }
        assert self._forks.stdin is not None
        assert self._forks.stdout is not None
        self._forks.stdin.write(json.dumps(order) + "\n")
        self._forks.stdin.flush()
        assert int(self._forks.stdout.readline()) == -signal.SIGKILL

    def end(self) -> None:
        assert self._forks.stdin is not None
        self._forks.stdin.close()
        self._forks.wait(timeout=30)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session: the JVM that is shared with the jobs that are killed."""
    session = local_session()
    yield session
    session.stop()


@pytest.fixture
def lake(embedded_stack: Stack, spark: SparkSession) -> IcebergLake:
    """A database of Iceberg tables."""
    config = embedded_stack.config("main")
    root = config.path(embedded_stack.lake_root).child("iceberg killed")
    return IcebergLake.make(spark, config, db="killed", root=str(root))


@pytest.fixture
def jobs(lake: IcebergLake) -> Iterator[Jobs]:
    """Processes that end with the test."""
    found = Jobs(lake)
    yield found
    found.end()


def filled(lake: IcebergLake) -> Model:
    """Return a table with two commits of small files in two partitions."""
    model = Model(lake.table())
    for k in range(2):
        rows = [(10 * k + i, DAYS[i % 2], f"w{k}.{i}") for i in range(4)]
        model.table.append(rows)
        model.put({"id": key, "dt": day, "word": word} for key, day, word in rows)
        model.committed()
    return model


def test_killed_anywhere_no_row_is_lost_and_the_next_runs_leave_nothing_behind(
    lake: IcebergLake, jobs: Jobs
) -> None:
    models: dict[str, Model] = {}
    for step, (point, n_commits, at) in STEPS.items():
        model = models[step] = filled(lake)
        jobs.kill(model.table, point, at=at, max_commits=n_commits)
        if at:
            model.remove(lambda row: row["id"] == 2)
            deleted = [one for one in model.table.snapshots() if one["operation"] != "append"]
            model.snapshots[deleted[0]["snapshot_id"]] = list(model.rows.values())
        model.check_snapshots()

    _finish(lake, models)
    left = {step: model.table.unknown_files() for step, model in models.items()}
    assert left["with all written"], "a death leaves files; else this proves nothing"
    assert markers(models["right after the commit"].table)
    assert not left["before its first sign"]

    _age(models)
    lake.optimize(*_tasks(lake, models))
    called_dead = {step: len(markers(model.table)) for step, model in models.items()}
    assert called_dead["with all written"] == 4, "two markers, each called dead"
    _age(models)
    both = models["with all written"].table
    jobs.kill(both, "close:before:kill")
    jobs.kill(both, "forget:before:kill")
    _finish(lake, models)
    # What was moved aside is deleted once nobody has committed it for a week.
    _age(models)
    _finish(lake, models)
    for step, model in models.items():
        assert model.table.unknown_files() == set(), step


@pytest.mark.parametrize(
    "point",
    [
        pytest.param("puffin:after", marks=LONG),
        "manifest:before",
        pytest.param("manifest:after", marks=LONG),
    ],
)
def test_a_build_of_indexes_killed_while_it_publishes_is_taken_up_by_the_next(
    lake: IcebergLake, jobs: Jobs, point: str
) -> None:
    use_indexes(lake.spark, lake.config)
    table = filled(lake).table
    wanted = ["id:bloom", "word:bitmap"]
    assert index(table, *wanted)["outcome"] == "DONE"
    table.append([(900 + i, DAYS[i % 2], f"late{i}") for i in range(4)])
    before = newest(table)

    jobs.kill(table, f"{point}:kill", kind="INDEX", index_columns=wanted)

    assert newest(table) == before
    assert len(names(table, "files")) == 2, "a death leaves its file; else this proves nothing"
    check_indexed(table)
    assert index(table, *wanted)["outcome"] == "DONE"
    assert set(newest(table).covered) == locations(table)
    check_indexed(table)


@pytest.mark.parametrize(
    "point",
    [
        pytest.param("append:before", marks=LONG),
        pytest.param("append:after", marks=LONG),
        "property:before",
    ],
)
def test_a_build_of_a_cube_killed_while_it_publishes_is_taken_up_by_the_next(
    lake: IcebergLake, jobs: Jobs, point: str
) -> None:
    table = CubedTable.make(lake).fill(1)
    assert table.keep()["outcome"] == "DONE"
    table.fill(1, start=5000)
    before = table.coverage()

    jobs.kill(table, f"cube_{point}:kill", kind="CUBE", cubes=[table.definition()])

    assert table.coverage().units == before.units
    assert table.check().uncovered_files == 2
    assert table.keep()["outcome"] == "DONE"
    assert table.check(seed=1).uncovered_files == 0
    assert table.coverage().exact


def check_indexed(table: WrittenTable) -> None:
    """Check that the indexed catalog gives what the plain one gives."""
    for where in ("id = 901", "id = 12", "id IN (1, 902, -1)", "word = 'late3'", "word = 'none'"):
        plain, indexed = (
            sorted(
                repr(row)
                for row in table.lake.spark.table(f"{name}.{table.lake.db}.{table.name}")
                .where(where)
                .collect()
            )
            for name in ("lake", INDEXED)
        )
        assert plain == indexed, where


def test_killed_with_its_jvm_amid_a_file_it_leaves_what_a_later_run_sweeps(
    lake: IcebergLake, jobs: Jobs
) -> None:
    model = filled(lake)
    jobs.kill(model.table)
    left = model.table.unknown_files()
    assert any(name.endswith(".parquet") for name in left), left
    assert len(model.table.snapshots()) == 2
    models = {"amid a file": model}
    for _ in range(3):
        _finish(lake, models)
        _age(models)
    _finish(lake, models)
    assert model.table.unknown_files() == set()


@pytest.mark.parametrize("seconds", [*MOMENTS[:2], pytest.param(MOMENTS[2], marks=LONG)])
def test_killed_amid_an_expirys_own_commit_the_table_is_old_or_new_and_we_know_which(
    lake: IcebergLake, jobs: Jobs, settings: Any, seconds: float
) -> None:
    model = filled(lake)
    table = model.table
    for day in DAYS:
        table.say("INSERT OVERWRITE {t} VALUES (90, '{day}', 'new')", day=day)
    rows, work = table.rows(), Removals(lake, table)
    before = [one["snapshot_id"] for one in table.snapshots()]
    told = work.draw_up()["proposal"]
    asked = {"expire_days": 1, "keep_snapshots": 1, "orphan_days": 3, "quarantine_days": 7}
    approved = {"plan": "p", "uri": told["uri"], "digest": told["digest"]}
    jobs.kill(table, amid_commit=seconds, kind="EXPIRE", removal={**asked, "approved": approved})

    after = [one["snapshot_id"] for one in table.snapshots()]
    assert after in (before, before[-1:])
    # No file of a snapshot that is left went.
    assert table.rows() == rows
    for snapshot_id in after:
        table.rows(snapshot_id=snapshot_id)
    lakes = lake.root / "lakes.json"
    lakes.write_text(json.dumps({str(lake.config.lake): lake.config.as_dict()}))
    settings.LAKEWARDEN_LAKES = lakes
    named = IcebergTable(pk=1, lake=str(lake.config.lake), db=lake.db, table=table.name)
    plan = RemovalPlan(table=named, kind="EXPIRE")
    assert snapshots_now(plan) == set(after)
    if seconds == MOMENTS[0]:
        # Killed later it may leave its lock in the metastore, which that drops after minutes.
        again = work.act(told)
        assert again["outcome"] == ("NOTHING" if after == before[-1:] else "DONE"), again
        assert table.rows() == rows


@pytest.mark.parametrize("seconds", [pytest.param(MOMENTS[0], marks=LONG), MOMENTS[1]])
def test_killed_amid_a_rewrites_own_commit_every_row_is_there_and_each_file_is_known_or_listed(
    lake: IcebergLake, jobs: Jobs, seconds: float
) -> None:
    model = filled(lake)
    table, rows = model.table, model.table.rows()
    metadata = place(table) / "metadata"
    known = set(metadata.iterdir())

    jobs.kill(table, amid_commit=seconds)

    is_committed = len(table.snapshots()) == 3
    assert table.rows() == rows
    model.check_snapshots()
    written = {one for one in set(metadata.iterdir()) - known if not one.name.startswith(".")}
    assert any(one.name.endswith(".metadata.json") for one in written)
    folders = [one.read_text().splitlines()[1].removeprefix("file:") for one in markers(table)]
    for left in table.unknown_files() - {str(one) for one in markers(table)}:
        assert any(left.startswith(f"{folder}/") for folder in folders), left
    if seconds != MOMENTS[0]:
        # Killed later it may leave its lock in the metastore, which that drops after minutes.
        return
    models = {"amid a commit": model}
    for _ in range(3):
        _finish(lake, models)
        _age(models)
    _finish(lake, models)
    assert table.unknown_files() == set()
    told = Removals(lake, table, kind="ORPHANS").draw_up()["proposal"]
    if not is_committed:
        assert {f"file://{one}" for one in written} <= set(told["sample"])


def _tasks(lake: IcebergLake, models: dict[str, Model]) -> list[dict[str, Any]]:
    return [lake.task(model.table, n) for n, model in enumerate(models.values(), start=1)]


def _age(models: dict[str, Model]) -> None:
    for model in models.values():
        make_old(model.table)


def _finish(lake: IcebergLake, models: dict[str, Model]) -> None:
    """Let the next run do what the dead one did not, and look at every row of every snapshot."""
    results = lake.optimize(*_tasks(lake, models))
    for step, model, result in zip(models, models.values(), results, strict=True):
        assert result["outcome"] in {"DONE", "NOTHING"}, (step, result)
        assert len(model.table.files()) == len(DAYS), step
        model.check_snapshots()
