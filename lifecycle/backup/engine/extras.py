"""What belongs to an object beside its structure, as an intent keeps it: read before the drop.

Grants, column statistics and constraints: the metastore drops them with the object, and `get_table`
does not give them. Column grants on single partitions are not among them: the metastore lists none.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import Metastore, from_json, to_json
from portal.connectors.metastore_extras import MetastoreExtras
from portal.lake.names import TableName

ACCURATE = "COLUMN_STATS_ACCURATE"


@dataclass(frozen=True, slots=True)
class Extras:
    """Structures as Thrift's JSON: grants, one of column statistics, constraints by kind."""

    grants: tuple[str, ...] = ()
    statistics: str = ""
    constraints: tuple[tuple[str, str], ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "grants": list(self.grants),
            "statistics": self.statistics,
            "constraints": [list(one) for one in self.constraints],
        }

    @classmethod
    def read(cls, plain: Mapping[str, Any] | None) -> "Extras | None":
        """Read the JSON form; None stays None: they were not recorded."""
        if plain is None:
            return None
        return cls(
            grants=tuple(plain["grants"]),
            statistics=plain["statistics"],
            constraints=tuple((kind, text) for kind, text in plain["constraints"]),
        )

    @property
    def is_any(self) -> bool:
        """Whether there is anything at all."""
        return bool(self.grants or self.statistics or self.constraints)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that have statistics."""
        if not self.statistics:
            return frozenset()
        found: Any = from_json(ttypes.ColumnStatistics, self.statistics)
        return frozenset(one.colName for one in found.statsObj)


class ExtrasReader:
    """Reads the extras of what is about to be dropped; those of one table are kept for its batches.

    Bound to one connection, as the driver's tools are.
    """

    def __init__(self, metastore: Metastore) -> None:
        self._calls = MetastoreExtras(metastore)
        self._table: tuple[TableName, int] | None = None
        self._of_table = Extras()

    def of_table(self, name: TableName, table: Any) -> Extras:
        """Return what belongs to a whole table."""
        columns = _columns([table.sd, table])
        objects = self._calls.statistics(name, columns)
        desc = ttypes.ColumnStatisticsDesc(isTblLevel=True, dbName=name.db, tableName=name.table)
        return Extras(
            grants=_texts(self._calls.grants(name, columns)),
            statistics=_statistics(desc, objects),
            constraints=tuple((kind, to_json(one)) for kind, one in self._calls.constraints(name)),
        )

    def of_parent(self, name: TableName, table: Any) -> Extras:
        """Return what belongs to the table of partitions; read once for all of its batches."""
        if self._table != (name, table.createTime):
            self._of_table = self.of_table(name, table)
            self._table = (name, table.createTime)
        return self._of_table

    def of_partitions(self, name: TableName, structs: Mapping[str, Any]) -> dict[str, Extras]:
        """Return what belongs to each partition, by name."""
        if not structs:
            return {}
        columns = _columns([struct.sd for struct in structs.values()])
        objects = self._calls.partition_statistics(name, columns, list(structs))
        values = {tuple(struct.values): partition for partition, struct in structs.items()}
        grants: dict[str, list[Any]] = {}
        for grant in self._calls.partition_grants(name, list(values)):
            grants.setdefault(values[tuple(grant.hiveObject.partValues)], []).append(grant)
        return {
            partition: Extras(
                grants=_texts(grants.get(partition, ())),
                statistics=_statistics(
                    ttypes.ColumnStatisticsDesc(
                        isTblLevel=False, dbName=name.db, tableName=name.table, partName=partition
                    ),
                    objects.get(partition, ()),
                ),
            )
            for partition in structs
        }


def with_accuracy(parameters: Mapping[str, str], columns: Iterable[str]) -> dict[str, str]:
    """Return parameters that call no column's statistics right but those of `columns`."""
    kept = dict(parameters)
    text = kept.get(ACCURATE)
    if text is None:
        return kept
    try:
        data = json.loads(text)
    except ValueError:
        return kept
    if not isinstance(data, dict) or "COLUMN_STATS" not in data:
        return kept
    named, there = data["COLUMN_STATS"], {column.lower() for column in columns}
    right = {name: word for name, word in named.items() if name.lower() in there}
    if right == named:
        return kept
    del data["COLUMN_STATS"]
    if right:
        data["COLUMN_STATS"] = right
    if data:
        kept[ACCURATE] = json.dumps(data, separators=(",", ":"))
    else:
        del kept[ACCURATE]
    return kept


def _columns(holders: Iterable[Any]) -> list[str]:
    """Return the columns of storage descriptors, and the keys of tables, without repeats."""
    fields = [
        column
        for holder in holders
        for column in (
            getattr(holder, "cols", None) or getattr(holder, "partitionKeys", None) or ()
        )
    ]
    return list(dict.fromkeys(column.name for column in fields))


def _statistics(desc: Any, objects: Iterable[Any]) -> str:
    found = list(objects)
    return to_json(ttypes.ColumnStatistics(desc, found)) if found else ""


def _texts(structs: Iterable[Any]) -> tuple[str, ...]:
    return tuple(to_json(one) for one in structs)
