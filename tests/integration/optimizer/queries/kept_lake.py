"""A lake that keeps queries: segments as a portal leaves them, and the table they go to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.shapes import parted
from optimizer.cubes.domain.readers import Engine
from optimizer.queries.domain.kept_query import hidden, query_line, shape_line
from optimizer.queries.domain.query_record import QueryRecord, TableScan
from optimizer.queries.domain.segments import CLOSED, segment_name
from optimizer.queries.jobs import keep
from optimizer.queries.jobs.kept_table import kept_sql
from portal.spark.job import JobContext
from tests.support.iceberg_lake import IcebergLake
from tests.support.scan_spark import job_for

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
KEY = b"k" * 32


def query(n: int | str, text: str = "SELECT 1", **values: Any) -> QueryRecord:
    """A query that ended a minute ago; `share` is how much of `tables` it read."""
    share, tables = values.pop("share", 0.5), values.pop("tables", ("shop.ev",))
    where = (Filter("uid", FilterKind.EQUAL),)
    scans = tuple(
        TableScan(db, table, where, 100, share, 9)
        for db, _, table in (one.partition(".") for one in tables)
    )
    made = {
        "is_failed": False,
        "scans": scans,
        "text": text,
        "user": "olga",
        "ended_at": NOW - timedelta(minutes=1),
        "seconds": 2.0,
        "n_bytes": 100,
        "names_all_tables": True,
    }
    return QueryRecord(Engine.TRINO, f"q{n}", **{**made, **values})


def segment(
    queries: Iterable[QueryRecord], *, now: datetime = NOW, keeps_constants: bool = False
) -> bytes:
    """The lines of a segment."""
    lines, shapes = [], set()
    for one in queries:
        said = hidden(parted(one.text, one.engine.value), KEY)
        if said.shape.digest not in shapes:
            lines.append(shape_line(said.shape))
            shapes.add(said.shape.digest)
        lines.append(query_line(one, said, keeps_constants=keeps_constants, now=now))
    return b"".join(lines)


@dataclass
class KeptLake:
    """The lake with the name of its table."""

    lake: IcebergLake
    name: str

    @classmethod
    def of(cls, lake: IcebergLake) -> "KeptLake":
        """A table that is not there yet."""
        return cls(lake, f"{lake.db}.queries_{uuid4().hex[:8]}")

    def job(self, segments: dict[str, bytes], *, now: datetime = NOW) -> JobContext:
        """The job of a run that is given some segments."""
        config = replace(self.lake.config, recorded_queries=self.name)
        job = job_for(self.lake.spark, config, {"keep_days": 35}, now=now)
        folder = job.spool.results.child(keep.SEGMENTS)
        job.spool.fs.make_directories(folder, mode=0o700)
        for name, data in segments.items():
            job.spool.fs.write_new(folder.child(f"{name}{CLOSED}"), data)
        return job

    def keep(self, segments: dict[str, bytes], *, now: datetime = NOW) -> dict[str, Any]:
        """Run the job in this process."""
        return keep.run(self.lake.spark, self.job(segments, now=now))

    def rows(self, columns: str = "*") -> list[Any]:
        """What the table holds."""
        return self.lake.spark.sql(f"SELECT {columns} FROM {self.sql}").collect()

    @property
    def sql(self) -> str:
        """The table's name for Spark."""
        return kept_sql(self.name)


def named(*segments: bytes, now: datetime = NOW) -> dict[str, bytes]:
    """Give segments names."""
    return {segment_name(now, uuid4().hex): one for one in segments}
