"""A look at real Iceberg tables says of each partition what Iceberg's own plan says."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession

from optimizer.iceberg.access.jobs.iceberg import IcebergTable as OpenedTable
from optimizer.iceberg.access.jobs.iceberg import open_table, use_iceberg
from optimizer.iceberg.access.jobs.write_ids import write_ids_of
from optimizer.iceberg.inspect.run_kinds import look_ask
from optimizer.models import IcebergTable, PartitionHealth
from portal.connectors.metastore import Metastore
from portal.lake.names import TableName
from portal.runs.models import Run
from stack.stack import LAKE, Stack
from tests.support.run_here import run_here

pytestmark = [pytest.mark.django_db, pytest.mark.spark]
DB = "inspected_at"
Key = tuple[int, str]
TYPES = "id BIGINT, s STRING, d DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, dec DECIMAL(20, 10), b BINARY"
BY = "s, d, ts, tn, dec, b, days(tn), truncate(2, s), bucket(4, id)"
ODD = """VALUES (1, 'a b/ü=%+', DATE'2026-01-01', TIMESTAMP'2026-01-01 00:00:00',
        TIMESTAMP_NTZ'2026-01-01 10:00:01', 1.5, X'00FF'),
    (2, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, 'null', DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.5',
        TIMESTAMP_NTZ'2026-01-01 10:00:01.000001', 0.0000000001, X''),
    (4, '', DATE'9999-12-31', TIMESTAMP'2026-01-01 00:00:00.123456',
        TIMESTAMP_NTZ'1965-01-01 10:00:00.001', 0, X'78')"""


@dataclass
class Planned:
    """What Iceberg's plan says of one partition."""

    sizes: list[int] = field(default_factory=list)
    n_rows: int = 0
    deletes: dict[str, int] = field(default_factory=dict)


@dataclass
class Tables:
    """Tables of one database, and how they are looked at."""

    spark: SparkSession
    config: Any

    def make(self, name: str, columns: str, *, by: str = "", version: int = 2) -> None:
        said = f"PARTITIONED BY ({by})" if by else ""
        self.spark.sql(
            f"CREATE TABLE lake.{DB}.{name} ({columns}) USING iceberg {said} TBLPROPERTIES ("
            f"'format-version' = '{version}', 'write.delete.mode' = 'merge-on-read')"
        )

    def say(self, name: str, statement: str) -> None:
        """Run SQL; {t} is the table."""
        self.spark.sql(statement.format(t=f"lake.{DB}.{name}"))

    def fill(self, name: str, n: int = 3) -> None:
        """Append n times a few rows of two days."""
        for place in range(n):
            rows = self.spark.range(6).selectExpr(
                f"id + {10 * place} AS id", "IF(id < 3, '2026-01-01', '2026-01-02') AS dt"
            )
            rows.coalesce(1).writeTo(f"lake.{DB}.{name}").append()

    def opened(self, name: str) -> OpenedTable:
        return open_table(self.spark, DB, name)

    def heard_of(self, *names: str) -> dict[str, IcebergTable]:
        """Make rows as the listener does."""
        now = timezone.now()
        return {
            name: IcebergTable.objects.create(
                lake=LAKE,
                db=DB,
                table=name,
                uuid=self.opened(name).uuid,
                event_at=now - timedelta(seconds=1),
                inspect_due_at=now,
            )
            for name in names
        }

    def look(self) -> Run:
        run = look_ask(LAKE, by="schedule", now=timezone.now())
        assert run is not None
        run = run_here(run, self.spark)
        assert run.state == "DONE", run.error
        return run

    def planned(self, name: str) -> dict[Key, Planned]:
        """Return Iceberg's own plan, by spec and partition."""
        table = self.opened(name)
        found: defaultdict[Key, Planned] = defaultdict(Planned)
        specs = table.java.specs()
        planned = table.java.newScan().planFiles()
        tasks = planned.iterator()
        while tasks.hasNext():
            task = tasks.next()
            file = task.file()
            spec_id = int(file.specId())
            one = found[spec_id, str(specs.get(spec_id).partitionToPath(file.partition()))]
            one.sizes.append(int(file.fileSizeInBytes()))
            one.n_rows += int(file.recordCount())
            for delete in task.deletes():
                key = f"{delete.location()}:{delete.contentOffset()}"
                one.deletes[key] = int(delete.recordCount())
        planned.close()
        return found


@pytest.fixture
def tables(embedded_stack: Stack, spark: SparkSession, settings: Any) -> Iterator[Tables]:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    config = embedded_stack.config(LAKE)
    use_iceberg(spark, config)
    root = config.path(embedded_stack.lake_root).child("inspected")
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.{DB} LOCATION '{root}'")
    yield Tables(spark, config)
    # By the metastore: a table whose metadata is broken could not be dropped otherwise.
    with Metastore.connect(config) as metastore:
        for name in metastore.tables(DB):
            metastore.drop_table(TableName(config.lake, DB, name))


def rows_of(table: IcebergTable) -> dict[Key, PartitionHealth]:
    rows = PartitionHealth.objects.filter(table=table, snapshot_id=table.looked_snapshot_id or 0)
    return {(row.spec_id, row.partition): row for row in rows}


def check(tables: Tables, table: IcebergTable) -> dict[Key, PartitionHealth]:
    """Compare a table's rows with Iceberg's plan."""
    table.refresh_from_db()
    assert table.inspection_error == ""
    assert table.inspect_due_at is None
    rows, planned = rows_of(table), tables.planned(table.table)
    assert rows.keys() == planned.keys()
    for key, one in planned.items():
        row = rows[key]
        assert row.n_files == len(one.sizes)
        assert row.n_bytes == sum(one.sizes)
        assert row.n_rows == one.n_rows
        assert row.two_smallest_bytes == sum(sorted(one.sizes)[:2])
        assert row.n_small == len(one.sizes)
        assert row.sizes == [len(one.sizes), *[0] * 9]
        assert row.n_pos_delete_files == len(one.deletes)
        assert row.n_pos_deleted_rows == sum(one.deletes.values())
        assert 0.99 < row.squared_error <= 1
    assert table.n_files == sum(len(one.sizes) for one in planned.values())
    assert table.n_partitions == len(planned)
    return rows


def test_each_partition_is_counted_as_iceberg_plans_it(tables: Tables) -> None:
    for name, by, version in (("v2", "dt", 2), ("v3", "dt", 3), ("plain", "", 2)):
        tables.make(name, "id BIGINT, dt STRING", by=by, version=version)
        tables.fill(name)
        tables.say(name, "DELETE FROM {t} WHERE id IN (1, 12)")
    tables.make("empty", "id BIGINT, m MAP<STRING, INT>")
    tables.make("odd", TYPES, by=BY)
    tables.say("odd", f"INSERT INTO {{t}} {ODD}")
    evolve(tables)
    tables.say("odd", f"INSERT INTO {{t}} {ODD}")
    heard = tables.heard_of("v2", "v3", "plain", "empty", "odd")

    started = datetime.now(UTC)
    tables.look()

    for name in ("v2", "v3", "plain", "odd"):
        check(tables, heard[name])
    v2, v3 = rows_of(heard["v2"]), rows_of(heard["v3"])
    assert sorted(key for _, key in v2) == ["dt=2026-01-01", "dt=2026-01-02"]
    assert {row.n_dvs for row in v2.values()} == {0}
    assert {day: (row.n_dvs, row.n_pos_delete_files) for (_, day), row in v3.items()} == {
        "dt=2026-01-01": (2, 2),
        "dt=2026-01-02": (0, 0),
    }
    assert all(row.newest_commit_at and row.newest_commit_at < started for row in v2.values())
    commits = list(heard["v2"].commits.order_by("at", "sequence"))
    assert [row.operation for row in commits][:3] == ["append"] * 3
    assert [row.n_deletes_added for row in commits] == [0, 0, 0, 2]
    assert [row.parent_id for row in commits[1:]] == [row.snapshot_id for row in commits[:-1]]
    assert {row.source for row in commits} == {"look"}
    empty = heard["empty"]
    empty.refresh_from_db()
    assert (empty.health, empty.n_partitions, empty.inspect_due_at) == (100, 0, None)
    odd = heard["odd"]
    assert {spec_id for spec_id, _ in rows_of(odd)} == {0, odd_spec(tables)}
    assert (heard["v3"].format_version, odd.format_version) == (3, 2)
    assert (odd.n_manifests, odd.n_snapshots) == (2, 2)

    inspect_again(tables, heard["v2"])


def evolve(tables: Tables) -> None:
    """Take fields out of a spec and add others."""
    table = tables.opened("odd")
    term = table.jvm.org.apache.iceberg.expressions.Expressions
    update = table.java.updateSpec().removeField("s").removeField("tn_day")
    update.addField(term.month("tn")).addField(term.year("d")).addField(term.hour("ts")).commit()


def odd_spec(tables: Tables) -> int:
    return tables.opened("odd").spec_id


def inspect_again(tables: Tables, table: IcebergTable) -> None:
    """Two commits behind one event: the next look finds both, and shows the new files."""
    tables.fill(table.table, 2)
    n_before = table.commits.count()
    now = timezone.now()
    IcebergTable.objects.filter(pk=table.pk).update(inspect_due_at=now, event_at=now)
    tables.look()
    rows = check(tables, table)
    assert table.commits.count() == n_before + 2
    assert {row.snapshot_id for row in rows.values()} == {table.looked_snapshot_id}
    assert table.partitions.count() == len(rows)
    assert table.trend.count() == 2


def test_old_writes_go_when_no_snapshot_has_a_file_of_theirs(tables: Tables) -> None:
    tables.make("written", "id BIGINT, dt STRING", by="dt")
    ids: list[str] = []
    for n, day in enumerate(("2026-01-01", "2026-01-02")):
        frame = tables.spark.range(1).selectExpr(f"id + {n} AS id", f"'{day}' AS dt")
        frame.writeTo(f"lake.{DB}.written").append()
        new = tables.spark.table(f"lake.{DB}.written.files").collect()
        ids += [one for file in new for one in write_ids_of(file["file_path"]) - set(ids)]
    tables.say("written", "DELETE FROM {t} WHERE dt = '2026-01-01'")
    row = tables.heard_of("written")["written"]
    long_ago = timezone.now() - timedelta(days=91)
    for write_id in (*ids, str(uuid4()), "last"):
        row.layouts.create(write_id=write_id, layout="sort(id)", snapshot_id=1, at=long_ago)

    tables.look()
    assert set(row.layouts.values_list("write_id", flat=True)) == {*ids, "last"}

    table = tables.opened("written")
    now = timezone.now()
    table.java.expireSnapshots().expireOlderThan(int(now.timestamp() * 1000)).commit()
    row.layouts.update(searched_at=None)
    IcebergTable.objects.filter(pk=row.pk).update(inspect_due_at=now)
    tables.look()
    assert set(row.layouts.values_list("write_id", flat=True)) == {ids[1], "last"}


@pytest.mark.long
def test_a_table_that_cannot_be_looked_at_says_why_and_stops_no_other(tables: Tables) -> None:
    for name in ("corrupt", "missing", "replaced", "gone", "whole"):
        tables.make(name, "id BIGINT, dt STRING", by="dt")
        tables.fill(name, 1)
    heard = tables.heard_of("corrupt", "missing", "replaced", "gone", "whole")
    IcebergTable.objects.filter(table="replaced").update(uuid="another")
    place_of(
        tables.opened("corrupt").java.operations().current().metadataFileLocation()
    ).write_text("{")
    missing = tables.opened("missing")
    for manifest in missing.java.currentSnapshot().allManifests(missing.java.io()):
        place_of(manifest.path()).unlink()
    tables.say("gone", "DROP TABLE {t}")

    run = tables.look()

    for row in heard.values():
        row.refresh_from_db()
    assert heard["whole"].health is not None
    for name in ("corrupt", "missing"):
        assert "its metadata cannot be read" in heard[name].inspection_error
        assert heard[name].health is None
        assert heard[name].inspect_due_at is not None
    assert [heard[name].is_deleted for name in heard] == [False, False, True, True, False]
    assert run.state == "DONE"


def place_of(uri: Any) -> Path:
    path = Path(str(uri).removeprefix("file:"))
    for beside in path.parent.glob(f".{path.name}.crc"):
        beside.unlink()
    return path
