"""N7: from a nonconforming path to its place and back, through the portal's own services and Spark.

Real metastore, real files, real spark-submit; only the scan's picture is written by hand.
"""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.contrib.auth.models import Group
from django.utils import timezone
from pytest_django import Settings

from lifecycle.backup.models import BackupBatch
from lifecycle.models import (
    DatabaseSetting,
    LatestScan,
    PathFinding,
    RelocationPlan,
    ScanSnapshot,
    TableFinding,
)
from lifecycle.relocation.services.execution import fixes_start_due
from lifecycle.relocation.services.plans import fix_decide, fix_request, fix_undo_request
from portal.access.models import User
from portal.access.roles.domain import ADMIN
from portal.approvals.domain import DecisionInput
from portal.lake.paths import LakePath
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from stack.stack import Stack
from tests.support.act_lake import ActLake
from tests.support.moves import move, move_of, moves_of
from tests.support.plan_story import use_stack

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
LAKE = "main"
_TEXTS = pa.list_(pa.string())


class FixStory:
    """A lake with a stray table, a stray partition, and a table whose place is taken."""

    def __init__(self, lake: ActLake, results: Path) -> None:
        self.lake, self.results = lake, results
        self.people = {name: self._person(name) for name in ("ada", "ben", "cleo")}
        DatabaseSetting.objects.create(lake=LAKE, db=lake.db, mode="ACT", template=str(lake.base))
        self.table = lake.make_table("stray", keys=("dt",), values=[("a b",), (None,)])
        self.fine = lake.make_table("fine", keys=("dt",), values=[("1",), ("2",)])
        self.taken = lake.make_table("taken")
        self.conforming = {
            name: lake.snapshot(name) for name in (self.table, self.fine, self.taken)
        }
        self.away = lake.base.child("away")
        lake.fs.make_directory(self.away, mode=0o755)
        part = move_of(
            lake, self.fine, "dt=1", lake.db_path.child("fine", "dt=1"), self.away.child("one")
        )
        strays = [
            *moves_of(lake, self.table, self.away.child("stray")),
            *moves_of(lake, self.taken, self.away.child("taken")),
            part,
        ]
        _, moved = move(lake, strays)
        assert moved.counts == {"MOVED": 3}, moved.skipped
        lake.fs.make_directory(lake.db_path.child("taken"), mode=0o755)
        self.strays = {name: lake.snapshot(name) for name in self.conforming}
        self._picture()

    @staticmethod
    def _person(name: str) -> User:
        user = User.objects.create_user(name, f"{name}@example.com", "a long enough password")
        user.groups.add(Group.objects.get_or_create(name=ADMIN)[0])
        return user

    def _picture(self) -> None:
        """Write what a scan would have seen: places, and three findings."""
        now = timezone.now()
        run = Run.objects.create(
            lake=LAKE, kind="lifecycle.scan", state="DONE", requested_by="test", queued_at=now
        )
        places = {
            "stray": str(self.away.child("stray")),
            "fine": str(self.lake.db_path.child("fine")),
            "taken": str(self.away.child("taken")),
        }
        broken = ["TBL_NOT_SUB_DB"]
        db = {"db": self.lake.db, "owner": "", "location": str(self.lake.db_path)}
        self._write("databases", [db])
        self._write(
            "tables",
            [
                {
                    "db": self.lake.db,
                    "tbl": table,
                    "owner": "alice",
                    "location": place,
                    "reasons": [] if table == "fine" else broken,
                }
                for table, place in places.items()
            ],
        )
        self._write(
            "items",
            [
                self._item("stray", "dt=a b", f"{places['stray']}/dt=a b"),
                self._item("fine", "dt=1", str(self.away.child("one"))),
                self._item("fine", "dt=2", f"{places['fine']}/dt=2"),
                self._item("taken", "", places["taken"]),
            ],
        )
        generation = ScanSnapshot.objects.create(
            lake=LAKE,
            run=run,
            state="READY",
            day=now.date(),
            as_of=now,
            read_at=now,
            notification_id=self.lake.metastore.current_notification_id(),
            results_uri=self.results.as_uri(),
        )
        LatestScan.objects.create(lake=LAKE, generation=generation)
        names = {"generation": generation, "lake": LAKE, "db": self.lake.db}
        for table, place in places.items():
            TableFinding.objects.create(**names, table=table, tbl_id=1, n_partitions=50)
            part = "dt=1" if table == "fine" else ""
            PathFinding.objects.create(
                **names,
                kind="PARTITION" if part else "TABLE",
                table=table,
                partition=part,
                location=str(self.away.child("one")) if part else place,
                reasons=broken,
                reason_key="|x|",
                owner="alice",
            )

    def _item(self, table: str, partition: str, location: str) -> dict[str, Any]:
        return {"db": self.lake.db, "tbl": table, "part_name": partition, "location": location}

    def _write(self, part: str, rows: list[dict[str, Any]]) -> None:
        (self.results / part).mkdir(parents=True)
        schema = pa.schema(
            [pa.field(key, _TEXTS if key == "reasons" else pa.string()) for key in rows[0]]
        )
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), self.results / part / "0.parquet")

    def drawn(self, fix: RelocationPlan) -> RelocationPlan:
        assert fix.plan_run_id is not None
        run = run_drive(fix.plan_run_id)
        assert run.state == "DONE", run.error
        return RelocationPlan.objects.get(pk=fix.pk)

    def executed(self, fix: RelocationPlan, *approvers: str) -> RelocationPlan:
        """Have it approved, started by the clock, and done by Spark."""
        assert fix.state == "PENDING", fix.ended_reason
        for name in approvers:
            now = timezone.now()
            answer = DecisionInput("APPROVE", "", fix.digest)
            fix_decide(fix.pk, user=self.people[name], answer=answer, authenticated_at=now, now=now)
        (run,) = fixes_start_due(timezone.now(), lake=LAKE)
        ended = run_drive(run.pk)
        assert ended.state == "DONE", ended.error
        done = RelocationPlan.objects.get(pk=fix.pk)
        assert done.state == "DONE", done.ended_reason
        return done


@pytest.fixture
def story(embedded_stack: Stack, tmp_path: Path, settings: Settings) -> Iterator[FixStory]:
    use_stack(settings, embedded_stack, var=tmp_path)
    lake = ActLake(embedded_stack.config(LAKE), uuid.uuid4().hex[:8])
    yield FixStory(lake, tmp_path / "results")
    lake.metastore.close()


@pytest.mark.rows("N7")
def test_stray_data_is_moved_where_the_rules_want_it_and_back(story: FixStory) -> None:
    lake = story.lake
    rows = list(PathFinding.objects.values_list("pk", flat=True))
    fix = fix_request(LAKE, rows, reason="tidy", user=story.people["ada"], now=timezone.now())
    fix = story.drawn(fix)
    said = {row.table: (row.state, row.left_out_reason, row.target) for row in fix.items.all()}
    home = lake.db_path
    assert said == {
        "stray": ("PLANNED", "", str(home.child("stray"))),
        "fine": ("PLANNED", "", str(home.child("fine", "dt=1"))),
        "taken": ("LEFT_OUT", "TARGET_EXISTS", str(home.child("taken"))),
    }
    assert lake.snapshot(story.table) == story.strays[story.table]

    story.executed(fix, "ben", "cleo")
    for name in (story.table, story.fine):
        assert lake.snapshot(name) == story.conforming[name]
    assert lake.snapshot(story.taken) == story.strays[story.taken]
    assert not BackupBatch.objects.exists()
    states = {row.table: row.state for row in fix.items.all()}
    assert states == {"stray": "MOVED", "fine": "MOVED", "taken": "LEFT_OUT"}

    undo = fix_undo_request(fix.pk, reason="no", user=story.people["ben"], now=timezone.now())
    story.executed(story.drawn(undo), "ada", "cleo")
    for name, before in story.strays.items():
        after = lake.snapshot(name)
        assert after.table == before.table
        assert after.items == before.items
        assert after.files == before.files
    assert lake.fs.status(LakePath.parse(str(home.child("stray")))) is None
    states = {row.table: row.state for row in fix.items.all()}
    assert states == {"stray": "TAKEN_BACK", "fine": "TAKEN_BACK", "taken": "LEFT_OUT"}
