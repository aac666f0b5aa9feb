"""Layers as people declare them, a metastore with their sources, and results as programs write."""

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from pymetastore.hive_metastore import ttypes

from pipelines.incremental.domain.definitions import Layer as Definition
from pipelines.incremental.domain.definitions import Source
from pipelines.incremental.domain.messages import Advanced, Edge, Field
from pipelines.incremental.services.declaring import layer_create
from pipelines.incremental.services.results import results_take
from pipelines.models import Layer
from portal.access.actors import Actor
from portal.runs.models import Run
from portal.runs.records.spools import new_spool, open_spool
from tests.support.small_hive import SmallHive
from tests.support.thrift_lake import ThriftLake

ADA = Actor("ada", is_staff=True, is_admin=True)
OLGA = Actor("olga", is_staff=False, is_admin=False)
ORDERS = Definition(
    target="dwd.orders",
    sources=(Source("ods.orders"), Source("ods.shops", is_static=True)),
    key=("id",),
    sql="SELECT o.id, o.at, o.dt, s.city FROM ods.orders o LEFT JOIN ods.shops s ON o.shop = s.id",
    version="at",
    partition="dt",
    event_time="at",
    lateness_minutes=10,
)
PAID = Definition(
    target="dws.paid",
    sources=(Source("dwd.orders"),),
    key=("id",),
    sql="SELECT id, at FROM dwd.orders WHERE city IS NOT NULL",
)
COLUMNS = (Field("id", "bigint"), Field("at", "timestamp"))
_KINDS = {"orders": "hudi", "shops": "iceberg", "plain": "hive"}


class LayerLake(ThriftLake):
    """Databases ods, dwd and dws; the sources are in the first."""

    def __init__(self, root: Path) -> None:
        super().__init__(SmallHive(), root)
        self.tables: dict[tuple[str, str], str] = {
            ("ods", name): kind for name, kind in _KINDS.items()
        }
        self.places: dict[tuple[str, str], str] = {}

    def get_database(self, name: str) -> Any:
        if name not in ("ods", "dwd", "dws"):
            raise ttypes.NoSuchObjectException(name)
        place = f"file://{self.root}/{name}.db"
        return ttypes.Database(name=name, locationUri=place, ownerName="olga")

    def get_table(self, db: str, name: str) -> Any:
        if (db, name) not in self.tables:
            raise ttypes.NoSuchObjectException(f"hive.{db}.{name} table not found")
        kind = self.tables[db, name]
        columns = ("id", "shop", "city", "at", "dt")
        return ttypes.Table(
            dbName=db,
            tableName=name,
            owner=self.owner,
            sd=ttypes.StorageDescriptor(
                cols=[ttypes.FieldSchema(name=one, type="string") for one in columns],
                location=self.places.get((db, name), f"file://{self.root}/{db}.db/{name}"),
                inputFormat="org.apache.hudi.hadoop.HoodieParquetInputFormat"
                if kind == "hudi"
                else "text",
            ),
            parameters={"table_type": "ICEBERG"} if kind == "iceberg" else {},
        )


def declare(now: datetime, layer: Definition = ORDERS) -> Layer:
    return layer_create("main", layer, by=ADA, now=now)


def advanced(row: Layer, at: datetime, **more: Any) -> Advanced:
    """Say that a layer has all of its sources; event times and commits are of `at`."""
    edges = more.pop("edges", None)
    if edges is None:
        edges = tuple(edge(one.table, at) for one in row.layer.sources)
    said: dict[str, Any] = {"state": "done", "n_upserts": 3, "edges": edges, **more}
    return Advanced(id=row.pk, version=row.version, at=at, **said)


def edge(table: str, at: datetime, **more: Any) -> Edge:
    said: dict[str, Any] = {"event_time": at, "schema": COLUMNS, "n_commits": 1, **more}
    return Edge(table, position="7", position_at=at, read_at=at, **said)


def took(run: Run, *results: Advanced) -> int:
    """Take in results that were written into the spool of a run."""
    spool = open_spool(run) if run.spool else new_spool(run)
    if not run.spool:
        spool.create()
        run.spool = str(spool.root)
        run.save(update_fields=["spool"])
    place = spool.results.child("layers")
    spool.fs.make_directories(place, mode=0o700)
    for one in results:
        spool.fs.replace(place.child(f"{one.id}.json"), msgspec.json.encode(one))
    return results_take(run)
