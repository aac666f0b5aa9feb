"""A lake's rows as the portal holds them, at any size: 20 partitions a table, 10 tables a database.

What grows with the lake grows here: tables of two pictures, findings, examples, ranges, ages, sums
by owner, and the history of a lake of that size (backups, runs, events, mails, holds, drops). The
people's own share stays the same, so whatever a page of theirs costs more is the lake's doing.
"""

from datetime import UTC, date, datetime, time, timedelta

from lifecycle.backup.models import BackupBatch, Hold
from lifecycle.backup.services.totals import backup_totals_refresh
from lifecycle.core.services.statistics import statistics_refresh
from lifecycle.drop.services.store import plan_parts_write
from lifecycle.inventory.services.totals import totals_load
from lifecycle.models import (
    DatabaseFinding,
    DatabaseSetting,
    DroppedObject,
    DropPlan,
    DropPlanTable,
    DryRunRecord,
    DryRunTable,
    LatestScan,
    PartitionRange,
    PathFinding,
    SamplePartition,
    ScanSnapshot,
    TableAges,
    TableFinding,
    TrendPoint,
)
from portal.access.models import DatabaseAdministrator
from portal.audit.models import AuditEvent, AuditHead
from portal.catalog.models import Table as CatalogTable
from portal.catalog.models import TablePart
from portal.notices.models import Notice
from portal.runs.models import Run
from tests.support.many_rows import day, later, make_room, multiply, rest, text, uuid, whole

LAKE = "main"
OWNER, DBA = "olga", "dora"
TABLES_A_DB, ITEMS_A_TABLE, OWNED = 10, 20, 40
OLD, NEW = 100_000_000, 200_000_000
METRICS = ("class.CLEAN_NOW.bytes", "class.SOON.bytes", "class.STILL_READ.bytes")
DB = text("'db'", whole("n - 1", TABLES_A_DB))
DB_OWNER = text("'b'", whole("n - 1", TABLES_A_DB))
TABLE = text("'t'", "n")
# One person owns the first tables, a hundred others share the rest.
OTHER = text("'u'", rest("n", 100))
PERSON = f"CASE WHEN n <= {OWNED} THEN '{OWNER}' ELSE {OTHER} END"
ZEROS = "0" * 64


class BigLake:
    """The lake `main`, grown step by step."""

    def __init__(self, today: date) -> None:
        self.today = today
        self.now = datetime.combine(today, time(), tzinfo=UTC)
        self.n_tables = 0
        self.plan = self._begin()

    def grow(self, n_partitions: int) -> None:
        """Let the lake have so many partitions."""
        first, last = self.n_tables + 1, n_partitions // ITEMS_A_TABLE
        self.n_tables = last
        make_room()
        old, new = (ScanSnapshot.objects.get(pk=base) for base in (OLD, NEW))
        self._tables(old, first, last)
        self._tables(new, first, last)
        self._catalog(first, last)
        self._findings(new, first, last)
        self._ranges(new, first, last)
        totals_load(new, n_paths=last // 5)
        self._items(first, last)
        self._history(first, last)
        self._names(first, last)
        backup_totals_refresh(LAKE, [self.today - timedelta(days=age) for age in range(15)])
        statistics_refresh()

    def _begin(self) -> DropPlan:
        for base, age in ((OLD, timedelta(days=1)), (NEW, timedelta())):
            at = self.now - age
            run = Run.objects.create(
                lake=LAKE, kind="lifecycle.scan", queue="scan", state="DONE",
                requested_by="system", queued_at=at, finished_at=at,
            )  # fmt: skip
            ScanSnapshot.objects.create(
                pk=base, lake=LAKE, run=run, state="READY", day=at.date(), as_of=at, read_at=at,
                notification_id=1, totals={"reasons": {"OWNER_PATH_FAIL": 7}},
                results_uri="file:///none",
            )  # fmt: skip
        LatestScan.objects.create(lake=LAKE, generation_id=NEW)
        DatabaseAdministrator.objects.create(lake=LAKE, db="db1", username=DBA)
        DatabaseSetting.objects.create(lake=LAKE, db="db0", mode="ACT")
        days = [self.today - timedelta(days=n) for n in range(90)]
        TrendPoint.objects.bulk_create(
            TrendPoint(lake=LAKE, day=on, metric=metric, value=7)
            for on in days
            for metric in METRICS
        )
        for on in days[:30]:
            DryRunRecord.objects.create(lake=LAKE, db="db2", day=on, n_new=3)
        multiply(
            DryRunTable(lake=LAKE, db="db2", day=self.today, n_new=3, examples=[]),
            first=1, last=TABLES_A_DB, table=TABLE,
        )  # fmt: skip
        plan = DropPlan.objects.create(
            lake=LAKE, state="DONE", requested_by="ben", digest=ZEROS, items_sha256=ZEROS,
            n_items=10_000, n_tables=400, n_bytes=10**9, created_at=self.now,
        )  # fmt: skip
        multiply(
            DropPlanTable(
                plan=plan, lake=LAKE, tbl_id=1, kind="PARTITION", n_items=25, digest=ZEROS
            ),
            first=1, last=400, db=DB, table=TABLE, owner=PERSON, n_bytes=rest("n * 7919", 100_003),
        )  # fmt: skip
        plan_parts_write(plan)
        return plan

    def _tables(self, generation: ScanSnapshot, first: int, last: int) -> None:
        base = generation.pk
        of_lake = {"generation": generation, "lake": LAKE}
        multiply(
            TableFinding(
                **of_lake, mode="OBSERVE", table_type="MANAGED_TABLE", format="parquet", level=1,
                ttl=60, enrolled=True, n_partitions=ITEMS_A_TABLE, n_soon=2, n_not_now=13,
                next_due_on=self.today, window_due_last_on=self.today, location="hdfs://nn/user/x",
            ),
            first=first, last=last, id=f"{base} + n", db=DB, table=TABLE, tbl_id="n", owner=PERSON,
            db_owner=DB_OWNER, n_clean_now=rest("n", 6), n_still_read=rest("n", 3),
            bytes_clean_now=rest("n * 7919", 1_000_003),
        )  # fmt: skip

    def _catalog(self, first: int, last: int) -> None:
        """List the tables, each with two parts of its health."""
        multiply(
            CatalogTable(
                lake=LAKE, format="parquet", location="hdfs://nn/user/x", event_id=1,
                first_seen_at=self.now, last_seen_at=self.now,
            ),
            first=first, last=last, id="n", db=DB, name=TABLE, owner=PERSON, db_owner=DB_OWNER,
            level=rest("n", 4),
        )  # fmt: skip
        for part in ("paths", "expiry"):
            multiply(
                TablePart(table_id=1, part=part, sentence="12 due", since=self.now),
                first=first, last=last, table_id="n", level=rest("n", 4),
            )  # fmt: skip

    def _findings(self, generation: ScanSnapshot, first: int, last: int) -> None:
        base = generation.pk
        of_lake = {"generation": generation, "lake": LAKE}
        multiply(
            DatabaseFinding(
                **of_lake, mode="OBSERVE", n_tables=TABLES_A_DB, n_partitions=200,
                location="hdfs://nn/user/x",
            ),
            first=first // TABLES_A_DB + 1, last=last // TABLES_A_DB, id=f"{base} + n",
            db=text("'db'", "(n - 1)"), owner=text("'b'", "(n - 1)"),
            db_owner=text("'b'", "(n - 1)"), bytes_clean_now=rest("n * 7919", 100_003),
        )  # fmt: skip
        multiply(
            PathFinding(
                **of_lake, kind="TABLE", reasons=["OWNER_PATH_FAIL"], hint="Move it.",
                reason_key="|OWNER_PATH_FAIL|", location="hdfs://nn/user/x",
            ),
            first=first, last=last, db=DB, table=TABLE, owner=PERSON, db_owner=DB_OWNER,
        )  # fmt: skip

    def _ranges(self, generation: ScanSnapshot, first: int, last: int) -> None:
        multiply(
            PartitionRange(
                generation=generation, cls="NOT_NOW", first="dt=2026-01-01",
                last="dt=2026-01-07", n_items=7,
            ),
            first=3 * first - 2, last=3 * last,
            table_id=f"{generation.pk} + {whole('n + 2', 3)}",
            due_first=day(self.today, rest("n * 7919", 400)),
            due_last=day(self.today, f"5 + {rest('n * 7919', 400)}"),
        )  # fmt: skip

    def _items(self, first: int, last: int) -> None:
        multiply(
            SamplePartition(
                cls="NOT_NOW", location="hdfs://nn/x", level=1, ttl=60, winner="DDL", n_files=3,
                policy_source="the table's own parameters", n_bytes=1_000, updated_at=self.now,
            ),
            first=(first - 1) * ITEMS_A_TABLE + 1, last=last * ITEMS_A_TABLE, part_id="n",
            table_id=f"{NEW} + {whole(f'n + {ITEMS_A_TABLE - 1}', ITEMS_A_TABLE)}",
            partition=text("'dt='", "n"), due_on=day(self.today, rest("n", 400)),
        )  # fmt: skip
        multiply(TableAges(counts={}), first=first, last=last, table_id=f"{NEW} + n")

    def _history(self, first: int, last: int) -> None:
        """Grow what the portal did: runs, mails, events, and a backup of each table's items."""
        start = self.now - timedelta(days=14)
        multiply(
            Run(
                lake=LAKE, kind="lifecycle.probe", queue="restore", state="DONE",
                requested_by="system", finished_at=self.now, is_routine=True,
            ),
            first=first, last=last, id=uuid("n"), queued_at=later(start, "n * 20"),
        )  # fmt: skip
        multiply(
            Notice(lake=LAKE, day=self.today, state="SENT", subject="s", not_before=self.now),
            first=first, last=last, id=uuid("n"), recipient=PERSON, kind=text("'k'", "n"),
            message_id=text("'m'", "n"), queued_at=later(start, "n * 20"),
        )  # fmt: skip
        multiply(
            AuditEvent(
                lake=LAKE, at=self.now, actor="system", action="item.dropped", object_type="item",
                previous_hash=ZEROS, hash=ZEROS,
            ),
            first=first, last=last, seq="n", object_id=text(DB, "'.'", TABLE, "'/dt=1'"),
        )  # fmt: skip
        AuditHead.objects.update_or_create(name="main", defaults={"seq": 1_000_000, "hash": ZEROS})
        multiply(
            BackupBatch(
                lake=LAKE, epoch=1, batch=1, root="file:///b", path="file:///b/1", n_items=100,
                state="DROPPED", is_table=False, n_bytes=1_000, n_files=300, day=self.today,
                manifest_sha256=ZEROS, dropped_at=self.now, first_partition="dt=1",
                purge_after=self.now + timedelta(days=9), last_partition="dt=2",
            ),
            first=first, last=last, public_id=uuid("n"), run_id=uuid("n"), db=DB, table=TABLE,
            table_owner=PERSON, day=day(self.today, f"0 - {rest('n', 15)}"),
        )  # fmt: skip

    def _names(self, first: int, last: int) -> None:
        """Grow what people said and did to tables of this lake."""
        start = self.now - timedelta(days=14)
        multiply(
            Hold(lake=LAKE, kind="EXTENSION", reason="needed", placed_at=self.now),
            first=first, last=last, public_id=uuid("n"), db=DB, table=TABLE, placed_by=OTHER,
            placed_at=later(start, "n * 20"),
        )  # fmt: skip
        multiply(
            DroppedObject(lake=LAKE, dropped_at=self.now, dropped_by="x", event_id=1),
            first=first, last=last, public_id=uuid("n"), db=DB, table=TABLE, owner=PERSON,
            db_owner=DB_OWNER, event_id="n", dropped_at=later(start, "n * 20"),
        )  # fmt: skip
