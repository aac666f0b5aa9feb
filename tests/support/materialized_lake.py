"""A metastore with tables that can be materialized, for tests of the portal."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pymetastore.hive_metastore import ttypes

from portal.connectors.lake_config import LakeConfig
from tests.support.small_hive import SmallHive
from tests.support.thrift_lake import ThriftLake, served

SQL = "SELECT dt, count(*) AS n FROM shop.orders GROUP BY dt"


class MaterializedLake(ThriftLake):
    """`shop.orders` is a Hudi table of olga's, `shop.files` a plain one, `marts` her database."""

    def __init__(self) -> None:
        super().__init__(SmallHive(), Path())
        self.owners = {"shop": "sam", "marts": "olga"}
        self.owner_of = {"orders": "olga", "files": "olga", "secret": "sam"}
        self.made: dict[str, str] = {}

    def get_database(self, name: str) -> Any:
        if name not in self.owners:
            raise ttypes.NoSuchObjectException(name)
        return ttypes.Database(
            name=name, ownerName=self.owners[name], locationUri=f"file:/lake/{name}.db"
        )

    def get_table(self, db: str, name: str) -> Any:
        if db == "marts" and name in self.made:
            place = ttypes.StorageDescriptor(location=self.made[name], inputFormat="")
            return ttypes.Table(dbName=db, tableName=name, owner="olga", sd=place)
        if db != "shop" or name not in self.owner_of:
            raise ttypes.NoSuchObjectException(f"hive.{db}.{name} table not found")
        reader = "" if name == "files" else "org.apache.hudi.hadoop.HoodieParquetInputFormat"
        return ttypes.Table(
            dbName=db,
            tableName=name,
            owner=self.owner_of[name],
            sd=ttypes.StorageDescriptor(location=f"file:/lake/shop.db/{name}", inputFormat=reader),
        )


@contextmanager
def materialized_lake(config: LakeConfig, lakes: Path) -> Iterator[MaterializedLake]:
    """Serve it, and tell the portal where it is."""
    lake = MaterializedLake()
    with served(lake) as port:
        there = replace(config, thrift_port=port)
        lakes.write_text(json.dumps({"main": there.as_dict()}), encoding="utf-8")
        yield lake
