"""A small scanned lake for the tests of plans: people, a picture, its Parquet items, notices.

Items are written by pyarrow in the scan's own columns; only the scan itself is left out.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.contrib.auth.models import Group

from lifecycle.drop.services.plans import plan_request
from lifecycle.inventory.services.due_days import due_days_load
from lifecycle.inventory.services.totals import totals_load
from lifecycle.models import (
    DatabaseSetting,
    DropPlan,
    LatestScan,
    NoticeCoverage,
    SamplePartition,
    ScanSnapshot,
    TableFinding,
)
from portal.access.models import DatabaseAdministrator, User
from portal.access.roles.domain import ADMIN, OPERATOR
from portal.notices.models import Notice, NoticeState
from portal.runs.models import Run
from portal.runs.requests.services import run_drive

LAKE = "main"
NOW = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
TODAY = date(2026, 11, 22)
PASSWORD = "a long enough password"
_TEXTS = (
    "db",
    "tbl",
    "tbl_type",
    "part_name",
    "location",
    "policy_source",
    "winner",
    "cls",
    "reason",
)
_NUMBERS = (
    *("tbl_id", "part_id", "level", "ttl", "ddl_time", "create_time", "mtime_ms", "atime_ms"),
    *("updated_ms", "due_ms", "n_files", "n_bytes"),
)
_FIELDS: "list[pa.Field[Any]]" = [
    *(pa.field(name, pa.string()) for name in _TEXTS),
    *(pa.field(name, pa.int64()) for name in _NUMBERS),
    pa.field("due_on", pa.date32()),
    pa.field("ready", pa.bool_()),
]
SCHEMA = pa.schema(_FIELDS)


@dataclass(frozen=True)
class Item:
    """One row of a scan's items; by default due, announced, supported, conforming."""

    db: str = "sales"
    tbl: str = "orders"
    tbl_id: int = 1
    part_name: str = "dt=2026-01-01"
    cls: str = "CLEAN_NOW"
    location: str = ""
    level: int | None = 1
    ttl: int | None = 60
    ready: bool = True
    n_bytes: int | None = 1000
    updated: datetime = datetime(2026, 8, 1, tzinfo=UTC)

    @property
    def path(self) -> str:
        """The item's location."""
        return self.location or f"file:///lake/{self.db}/{self.tbl}/{self.part_name}".rstrip("/")

    def row(self, part_id: int) -> dict[str, Any]:
        """The item as the scan writes it."""
        updated_ms = int(self.updated.timestamp() * 1000)
        return {
            "db": self.db,
            "tbl": self.tbl,
            "tbl_id": self.tbl_id,
            "tbl_type": "MANAGED_TABLE",
            "part_id": part_id if self.part_name else 0,
            "part_name": self.part_name,
            "location": self.path,
            "level": self.level,
            "ttl": self.ttl,
            "policy_source": "the table's own parameters",
            "ddl_time": updated_ms // 1000,
            "create_time": updated_ms // 1000,
            "mtime_ms": updated_ms,
            "atime_ms": updated_ms,
            "updated_ms": updated_ms,
            "winner": "DDL",
            "due_ms": updated_ms + 60 * 86_400_000,
            "due_on": (self.updated + timedelta(days=60)).date(),
            "cls": self.cls,
            "reason": "a reason",
            "n_files": 3,
            "n_bytes": self.n_bytes,
            "ready": self.ready,
        }


def partitions(n: int, **values: Any) -> list[Item]:
    """Return `n` partitions of one table."""
    return [Item(part_name=f"dt=2026-01-{day:02d}", **values) for day in range(1, n + 1)]


@dataclass
class World:
    """The lake and its people."""

    root: Path
    people: dict[str, User] = field(default_factory=dict)
    extra_locations: list[tuple[str, str, str]] = field(default_factory=list)

    def person(self, name: str) -> User:
        """Return a person by name."""
        return self.people[name]

    def make_admin(self, name: str) -> None:
        """Give a person the role of an admin."""
        self.people[name].groups.add(Group.objects.get(name=ADMIN))

    def scan(self, items: Iterable[Item], *, announce: bool = True) -> ScanSnapshot:
        """Show a picture with these items, and (by default) announce them eight days ago."""
        rows = list(items)
        generation = self._generation()
        results = self.root / "results" / str(generation.pk)
        self._write(results, rows)
        for (db, tbl), one in {(row.db, row.tbl): row for row in reversed(rows)}.items():
            self._finding(generation, rows, db, tbl, one)
            if announce and one.level and one.ttl:
                self.announce(one)
        totals_load(generation, n_paths=0)
        due_days_load(generation)
        LatestScan.objects.update_or_create(lake=LAKE, defaults={"generation": generation})
        return generation

    def announce(self, item: Item, *, days_ago: int = 8, **changes: Any) -> NoticeCoverage:
        """Have a notice about a table sent some days ago."""
        sent_on = TODAY - timedelta(days=days_ago)
        state = changes.pop("state", NoticeState.SENT)
        at = NOW - timedelta(days=days_ago)
        notice = Notice.objects.create(
            lake=LAKE,
            kind=f"test.{item.db}.{item.tbl}.{Notice.objects.count()}",
            day=sent_on,
            recipient="alice",
            subject="s",
            text="t",
            message_id=f"{Notice.objects.count()}@test",
            state=state,
            queued_at=at,
            not_before=at,
            sent_on=sent_on,
        )
        values = {
            "level": item.level,
            "ttl": item.ttl,
            "horizon_on": sent_on + timedelta(days=7),
            "as_of": at,
            "read_at": at,
        }
        return NoticeCoverage.objects.create(
            lake=LAKE,
            db=item.db,
            table=item.tbl,
            tbl_id=item.tbl_id,
            notice=notice,
            **(values | changes),
        )

    def plan(self, *, maker: str = "anna", tables: tuple[str, ...] = ("sales.orders",)) -> DropPlan:
        """Have a plan created, to its end."""
        plan = plan_request(
            LAKE, tables=tables, reason="old data", user=self.person(maker), now=NOW
        )
        return self.drawn(plan)

    @staticmethod
    def drawn(plan: DropPlan) -> DropPlan:
        """Drive the run that draws a plan up."""
        assert plan.plan_run_id is not None
        run_drive(plan.plan_run_id)
        return DropPlan.objects.select_related("approval").get(pk=plan.pk)

    def _generation(self) -> ScanSnapshot:
        run = Run.objects.create(
            lake=LAKE, kind="lifecycle.scan", state="DONE", requested_by="system", queued_at=NOW
        )
        generation = ScanSnapshot.objects.create(
            lake=LAKE,
            run=run,
            state="READY",
            day=TODAY,
            as_of=NOW,
            read_at=NOW,
            notification_id=1,
            totals={"n_partitions": 100, "n_tables": 5},
            results_uri="",
        )
        generation.results_uri = (self.root / "results" / str(generation.pk)).as_uri()
        generation.save()
        return generation

    def _write(self, results: Path, rows: list[Item]) -> None:
        for part in ("items", "tables", "databases"):
            (results / part).mkdir(parents=True)
        items = [row.row(number) for number, row in enumerate(rows, start=1)]
        pq.write_table(
            pa.Table.from_pylist(items, schema=SCHEMA), results / "items" / "part-0.parquet"
        )
        tables = {(row.db, row.tbl): f"file:///lake/{row.db}/{row.tbl}" for row in rows}
        tables |= {(db, tbl): path for db, tbl, path in self.extra_locations}
        pq.write_table(
            pa.Table.from_pylist(
                [{"db": db, "tbl": tbl, "location": path} for (db, tbl), path in tables.items()]
            ),
            results / "tables" / "part-0.parquet",
        )
        databases = sorted({row.db for row in rows})
        pq.write_table(
            pa.Table.from_pylist(
                [{"db": db, "location": f"file:///lake/{db}"} for db in databases]
            ),
            results / "databases" / "part-0.parquet",
        )

    @staticmethod
    def _finding(
        generation: ScanSnapshot, rows: list[Item], db: str, tbl: str, one: Item
    ) -> TableFinding:
        mine = [row for row in rows if (row.db, row.tbl) == (db, tbl)]
        finding = TableFinding.objects.create(
            generation=generation,
            lake=LAKE,
            db=db,
            table=tbl,
            tbl_id=one.tbl_id,
            owner="alice",
            db_owner="dora",
            mode="ACT",
            table_type="MANAGED_TABLE",
            level=one.level,
            ttl=one.ttl,
            enrolled=True,
            # Many others of the lake are not due: the caps look at the share.
            n_partitions=len(mine) * 10 if one.part_name else 0,
            n_clean_now=sum(row.cls == "CLEAN_NOW" for row in mine),
            n_still_read=sum(row.cls == "STILL_READ" for row in mine),
        )
        SamplePartition.objects.bulk_create(
            SamplePartition(
                table=finding,
                part_id=number if row.part_name else 0,
                partition=row.part_name,
                location=row.path,
                cls=row.cls,
                level=row.level,
                ttl=row.ttl,
                created_at=row.updated,
                modified_at=row.updated,
                updated_at=row.updated,
                due_on=(row.updated + timedelta(days=60)).date(),
                n_files=3,
                n_bytes=row.n_bytes,
                ready=row.ready,
            )
            for number, row in enumerate(mine, start=1)
        )
        return finding


def make_world(root: Path) -> World:
    """Make lakes.json, people and an ACT database."""
    (root / "lakes.json").write_text(json.dumps({LAKE: lake_entry(root)}))
    world = World(root)
    groups = {name: Group.objects.get_or_create(name=name)[0] for name in (ADMIN, OPERATOR)}
    for name, role in (
        *(("anna", ADMIN), ("bert", ADMIN), ("carl", ADMIN), ("otto", OPERATOR)),
        *(("alice", ""), ("dora", ""), ("eve", "")),
    ):
        user = User.objects.create_user(name, f"{name}@example.org", PASSWORD)
        if role:
            user.groups.add(groups[role])
        world.people[name] = user
    DatabaseAdministrator.objects.create(lake=LAKE, db="sales", username="dora")
    DatabaseSetting.objects.create(lake=LAKE, db="sales", mode="ACT")
    return world


def lake_entry(root: Path) -> dict[str, Any]:
    """Return the lake's entry of lakes.json; nothing listens at its addresses."""
    return {
        "thrift_host": "127.0.0.1",
        "thrift_port": 1,
        "metastore_db": {
            "kind": "derby",
            "jdbc_url": "jdbc:derby:none",
            "driver": "none",
            "user": "none",
            "password_file": str(root / "none"),
            "host": "127.0.0.1",
            "port": 1,
            "database": "none",
        },
        "default_fs": "file:///",
        "spool": (root / "spool").as_uri(),
        "time_zone": "UTC",
        "spark_master": "local[1]",
        "deployment_id": "test",
        "backup_roots": ["file:///backup"],
    }


def changed(item: Item, **values: Any) -> Item:
    """Return an item with other values."""
    return replace(item, **values)
