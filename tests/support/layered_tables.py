"""Layers over a Hudi table: what they should be, and runs of the program in this process."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from pymetastore.hive_metastore import ttypes
from pyspark.sql import DataFrame, SparkSession

from pipelines.incremental.domain.definitions import Layer, Source
from pipelines.incremental.domain.messages import (
    Advanced,
    LayerOrder,
    Range,
    Request,
    SourceOrder,
)
from pipelines.incremental.jobs import advance
from pipelines.incremental.jobs.layer_run import LayerRun
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.safety.failpoints import Failpoints
from portal.spark.job import JobContext
from tests.support.changed_tables import ChangedHudi
from tests.support.scan_spark import job_for

_NUMBERS = count(1)


@dataclass
class LayeredLake:
    """A database of its own with a source, a static table, and the targets of layers."""

    spark: SparkSession
    config: LakeConfig
    root: Path
    kind: str = "COPY_ON_WRITE"
    db: str = field(init=False)
    source: ChangedHudi = field(init=False)
    cities: ChangedHudi = field(init=False)
    _known: dict[str, Advanced] = field(default_factory=dict, init=False)
    _numbers: dict[str, int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.db = f"layered_{next(_NUMBERS)}"
        self.source = ChangedHudi(self.spark, self.root / "rows", self.kind)
        self.cities = ChangedHudi(self.spark, self.root / "cities")
        database = ttypes.Database(name=self.db, locationUri=f"file:{self.root}")
        with Metastore.connect(self.config) as metastore:
            metastore.create_database(database)

    def layer(self, table: str, sources: Sequence[str], sql: str, **more: Any) -> Layer:
        """Define a layer; tables are named without their database, static ones with a star."""
        names = {one.strip("*"): one.endswith("*") for one in sources}
        for name in names:
            sql = sql.replace(f" {name} ", f" {self.db}.{name} ")
        return Layer(
            target=f"{self.db}.{table}",
            sources=tuple(Source(f"{self.db}.{one}", star) for one, star in names.items()),
            sql=sql,
            **{"key": ("id",), **more},
        )

    def chain(self) -> list[Layer]:
        """Three levels: a filter, a join with a static table, and a generator of rows."""
        return [
            self.layer(
                "one",
                ["rows"],
                "SELECT id, dt, city, qty * 2 AS qty, price, ts FROM rows WHERE qty > -2 OR qty "
                "IS NULL",
                partition="dt",
            ),
            self.layer(
                "two",
                ["one", "cities*"],
                "SELECT o.id, o.dt, c.city AS name, o.qty FROM one o LEFT JOIN cities c "
                "ON c.id = length(o.city) ",
            ),
            self.layer(
                "three",
                ["two"],
                "SELECT id, pos, name FROM two LATERAL VIEW "
                "posexplode(sequence(0, abs(coalesce(qty, 0)) % 5)) AS pos, v ",
                key=("id", "pos"),
            ),
        ]

    def number(self, layer: Layer) -> int:
        """Return the number that a layer always has."""
        return self._numbers.setdefault(layer.target, len(self._numbers) + 1)

    def order(self, layer: Layer, **more: Any) -> LayerOrder:
        """Order a layer, with what its last advance said of its sources."""
        known = self._known.get(layer.target)
        edges = {one.table: one for one in known.edges} if known else {}
        sources = []
        for one in layer.sources:
            edge = edges.get(one.table)
            sources.append(
                SourceOrder(
                    table=one.table,
                    format="hudi" if one.table.startswith(f"{self.db}.") else "iceberg",
                    location=f"file:{self.root}/{one.table.partition('.')[2]}",
                    is_static=one.is_static,
                    schema=edge.schema if edge else (),
                    position=edge.position if edge else "",
                    event_time=edge.event_time if edge else None,
                )
            )
        place = f"file:{self.root}/{layer.target.partition('.')[2]}"
        number = self.number(layer)
        return LayerOrder(number, f"layer {number}", 1, layer, place, tuple(sources), **more)

    def job(self, layers: Sequence[Layer], **more: Any) -> JobContext:
        """Make a run for layers in their order."""
        orders = [self.order(one, **more) for one in layers]
        request = Request(tuple(orders), ("tests.support.layer_functions",))
        params = {"layers": json.loads(msgspec.json.encode(request))}
        return job_for(self.spark, self.config, params, now=datetime.now(UTC))

    def run_of(self, layer: Layer, failpoints: Failpoints) -> LayerRun:
        """Return the advance of one layer."""
        return LayerRun(self.spark, self.config, self.order(layer), (), failpoints, print)

    def advance(self, *layers: Layer, **more: Any) -> list[Advanced]:
        """Advance layers as a run would."""
        job = self.job(layers, **more)
        advance.run(self.spark, job)
        found = []
        for layer in layers:
            name = f"{self.number(layer)}.json"
            text = job.spool.fs.read(job.spool.results.child("layers", name))
            one = msgspec.json.decode(text, type=Advanced)
            if one.state in ("done", "unchanged") and one.mode != "backfill":
                self._known[layer.target] = one
            found.append(one)
        return found

    def backfill(self, layer: Layer, low: str, high: str) -> Advanced:
        (found,) = self.advance(layer, backfill=Range(low, high))
        return found

    def seen(self, layer: Layer, held: Advanced) -> None:
        """Go on with the columns that a held layer has met."""
        known = self._known[layer.target]
        columns = {one.table: one.schema for one in held.edges}
        edges = tuple(
            msgspec.structs.replace(one, schema=columns[one.table]) for one in known.edges
        )
        self._known[layer.target] = msgspec.structs.replace(known, edges=edges)

    def write_as_somebody_else(self, layer: Layer, *columns: str) -> None:
        """Commit rows of a target without what a layer's commit says."""
        place = f"file:{self.root}/{layer.target.partition('.')[2]}"
        said = {
            "hoodie.table.name": layer.target.partition(".")[2],
            "hoodie.datasource.write.recordkey.field": ",".join(layer.key),
            "hoodie.datasource.write.partitionpath.field": layer.partition,
            "hoodie.datasource.write.operation": "upsert",
            "hoodie.record.merge.mode": "COMMIT_TIME_ORDERING",
            "hoodie.metadata.enable": "false",
            "hoodie.embed.timeline.server": "false",
        }
        rows = self.spark.read.format("hudi").load(place).selectExpr(*columns)
        rows.write.format("hudi").options(**said).mode("append").save(place)

    def records(self, layer: Layer) -> list[dict[str, Any]]:
        """Return the target's rows by column."""
        place = f"file:{self.root}/{layer.target.partition('.')[2]}"
        return [one.asDict() for one in self.spark.read.format("hudi").load(place).collect()]

    def rows(self, layer: Layer) -> list[tuple[Any, ...]]:
        """Return the target's rows in order."""
        place = f"file:{self.root}/{layer.target.partition('.')[2]}"
        frame = self.spark.read.format("hudi").load(place)
        return _told(frame)

    def rebuilt(self, *layers: Layer) -> dict[str, list[tuple[Any, ...]]]:
        """Return what the targets of a chain should be, by its SQL over all rows."""
        for name, table in (("rows", self.source), ("cities", self.cities)):
            if table.place.exists():
                frame = self.spark.read.format("hudi").load(table.location)
                frame.select(*_own(frame)).createOrReplaceTempView(f"{self.db}_{name}")
        found = {}
        for layer in layers:
            text = layer.sql.replace(f"{self.db}.", f"{self.db}_")
            frame = self.spark.sql(text)
            frame.createOrReplaceTempView(layer.target.replace(".", "_"))
            found[layer.target] = _told(frame)
        return found

    def assert_rebuilt(self, *layers: Layer) -> None:
        """Assert that the targets are what all rows make now."""
        for target, rows in self.rebuilt(*layers).items():
            (layer,) = [one for one in layers if one.target == target]
            assert self.rows(layer) == rows, target


def _own(frame: DataFrame) -> list[str]:
    return [one for one in frame.columns if not one.startswith("_hoodie_")]


def _told(frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return rows in order, their columns by name: Hudi reads those of partitions as the last."""
    return sorted(map(tuple, frame.select(*sorted(_own(frame))).collect()), key=repr)
