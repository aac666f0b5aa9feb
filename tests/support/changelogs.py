"""Changelogs of files that tests write, and the rows that a table then has: a fold by version."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from pipelines.cdc.applying.domain.hudi_settings import VERSION
from pipelines.cdc.applying.domain.messages import (
    Column,
    Orders,
    PipelineOrder,
    PipelineReport,
    SchemaPlan,
    TableOrder,
    TableReport,
    TopicsPlan,
)
from pipelines.cdc.applying.jobs import apply
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.changes.domain.records import Change, Header, Row, encode
from portal.connectors.lake_config import LakeConfig
from portal.spark.job import JobContext
from tests.support.scan_spark import job_for

NAMES = {"id": "id", "day": "day", "word": "word", "qty": "qty"}
COLUMNS = tuple(
    Column(*one)
    for one in (("id", "bigint"), ("day", "string"), ("word", "string"), ("qty", "int"))
)
_FIRST_SECOND = 1_700_000_000
SIMPLE = {"hoodie.compact.schedule.inline": "false"}


def change(op: Any, key: int, version: int, *, table: str = "carts", **more: Any) -> Change:
    """Return a change of a cart; its values are those of `row`."""
    values: Row = row(key, version) | more.pop("values", {})
    schema = more.pop("schema", 1)
    before = values if op in {"u", "d"} else None
    after = None if op == "d" else values
    place = f"0:bin.000001:{version}"
    key_row: Row = more.pop("key_row", {"id": str(key)})
    return Change("shop", table, op, version, key_row, schema, place, version, before, after)


def row(key: int, version: int) -> Row:
    """Return a cart as texts."""
    return {
        "id": str(key),
        "day": f"2026-05-0{1 + version % 3}",
        "word": None if version % 7 == 0 else f"w{version}",
        "qty": str(version),
    }


def folded(changes: Iterable[Change]) -> list[tuple[Any, ...]]:
    """Return the rows of a table that has all changes: the newest of each key, deletes left out."""
    newest: dict[str, Change] = {}
    for one in changes:
        known = newest.get(one.key["id"] or "")
        if known is None or known.version < one.version:
            newest[one.key["id"] or ""] = one
    return sorted(
        (
            int(one.after["id"] or 0),
            one.after["day"],
            one.after["word"],
            int(one.after["qty"] or 0),
            one.version,
        )
        for one in newest.values()
        if one.after is not None
    )


def head_of(changes: Sequence[Change]) -> Header:
    """Return the header of a batch."""
    last = max((one.version for one in changes), default=0)
    return Header("shop", 1, "0:bin.000001:0", f"0:bin.000001:{last}", 1_000, len(changes))


@dataclass
class Log:
    """A changelog below a folder, written as `DirectoryLog` writes it."""

    root: Path
    number: int = 0

    def __post_init__(self) -> None:
        (self.root / "batches").mkdir(parents=True, exist_ok=True)

    def write(self, changes: Sequence[Change], *, number: int | None = None) -> int:
        """Write a batch."""
        self.number = number or self.number + 1
        lines = [encode(head_of(changes)), *map(encode, changes), b""]
        self.put(self.number, b"\n".join(lines))
        return self.number

    def put(self, number: int, data: bytes) -> None:
        """Write the bytes of a batch, whether they are one or not."""
        self.place(number).write_bytes(data)
        # Spark takes files by their times, and those of one millisecond in any order.
        os.utime(self.place(number), (_FIRST_SECOND + number, _FIRST_SECOND + number))

    def place(self, number: int) -> Path:
        """Return where a batch is."""
        return self.root / "batches" / f"{number:020}.jsonl"


@dataclass
class Pipeline:
    """Orders for one pipeline, and runs of the program in the test's own session."""

    spark: SparkSession
    config: LakeConfig
    place: Path
    number: int = 1
    log: Log = field(init=False)
    tables: dict[str, TableOrder] = field(default_factory=dict)
    job: JobContext | None = None
    kafka: KafkaPlace | None = None
    topics: TopicsPlan | None = None
    first_batch: int = 1

    def __post_init__(self) -> None:
        self.log = Log(self.place / f"log{self.number}")

    def table(self, name: str = "carts", **changed: Any) -> TableOrder:
        """Add the order of a table, or change it."""
        known = self.tables.get(name) or TableOrder(
            id=self.number * 100 + len(self.tables),
            db="shop",
            table=name,
            target_db="lake",
            target_table=name,
            location=f"file:{self.place}/lake{self.number}/{name}",
            columns=COLUMNS,
            key=("id",),
            schemas=(SchemaPlan(1, live=NAMES),),
            is_synced=False,
            settings=SIMPLE,
        )
        self.tables[name] = msgspec.structs.replace(known, **changed)
        return self.tables[name]

    @property
    def order(self) -> PipelineOrder:
        """All of it as one order."""
        return PipelineOrder(
            id=self.number,
            changelog=f"file:{self.log.root}",
            folder=f"file:{self.folder}",
            tables=tuple(self.tables.values()),
            kafka=self.kafka,
            topics=self.topics,
            first_batch=self.first_batch,
        )

    @property
    def folder(self) -> Path:
        return self.place / f"work{self.number}"

    def run(self, *others: "Pipeline", at_once: int = 20) -> None:
        """Apply what is there."""
        orders = orders_of(self, *others, at_once=at_once)
        self.job = job_for(self.spark, self.config, {"apply": orders, "stay_seconds": 0})
        apply.run(self.spark, self.job)
        for one in others:
            one.job = self.job

    def report(self, name: str = "carts") -> TableReport:
        """Return what the last run said of a table."""
        return msgspec.json.decode(
            self._said("tables", f"{self.tables[name].id}.json"), type=TableReport
        )

    def said(self) -> PipelineReport:
        """Return what the last run said of the pipeline."""
        return msgspec.json.decode(
            self._said("pipelines", f"{self.number}.json"), type=PipelineReport
        )

    def rows(self, name: str = "carts", *more: str) -> list[tuple[Any, ...]]:
        """Return the rows of the target in order."""
        frame = self.spark.read.format("hudi").load(self.tables[name].location)
        columns = ["id", "day", "word", "qty", *more, VERSION]
        return sorted(tuple(one) for one in frame.select(*columns).collect())

    def _said(self, *name: str) -> bytes:
        assert self.job is not None
        return self.job.spool.fs.read(self.job.spool.results.child(*name))


def orders_of(*pipelines: Pipeline, at_once: int = 20) -> Mapping[str, Any]:
    """Return the orders of some pipelines as a request has them."""
    orders = Orders(pipelines=tuple(one.order for one in pipelines), most_batches_at_once=at_once)
    return dict(json.loads(msgspec.json.encode(orders)))
