"""A lake whose metastore answers what the hook asks, and people who may see its tables."""

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

KEYS = {"sales": ("dt", "hour"), "shops": (), "notes": ("dt",)}
LEAVES = tuple(f"dt=2026-11-{day}/hour={hour}" for day in (21, 22) for hour in ("00", "01"))


class HookLake(ThriftLake):
    """Tables with keys of their own, all of one owner's."""

    def __init__(self, root: Path) -> None:
        super().__init__(SmallHive(), root)
        self.names: dict[str, list[str]] = {"sales": list(LEAVES), "shops": [], "notes": []}
        self.of_tables: dict[str, dict[str, str]] = {}
        self.breaks_at_names = False

    def get_table(self, db: str, name: str) -> Any:
        self.asked.append(f"{db}.{name}")
        if db != "shop" or name not in self.names:
            raise ttypes.NoSuchObjectException(f"hive.{db}.{name} table not found")
        keys = [ttypes.FieldSchema(name=key, type="string") for key in KEYS[name]]
        return ttypes.Table(
            dbName=db,
            tableName=name,
            owner=self.owner,
            partitionKeys=keys,
            parameters=self.of_tables.get(name, {}),
        )

    def get_partition_names(self, db: str, name: str, limit: int) -> list[str]:
        if self.breaks_at_names:
            raise ttypes.MetaException("it is broken")
        return self.names[name]


@contextmanager
def metastore_of(config: LakeConfig, root: Path, lakes: Path) -> Iterator[HookLake]:
    """Serve the lake, and tell the portal where it is."""
    lake = HookLake(root)
    with served(lake) as port:
        there = replace(config, thrift_port=port)
        lakes.write_text(json.dumps({"main": there.as_dict()}), encoding="utf-8")
        yield lake
