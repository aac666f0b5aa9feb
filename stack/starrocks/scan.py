"""Plan of a front end for a table: how many partitions it knows, and the rows it expects.

Rows come from the metastore's counts where it has some, else from the files' size. Only partitions
whose files are cached count: their mean stands for every selected one, and without any it is 1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from portal.lake.names import unescape_path_name
from stack.starrocks.hive import HivePartition, HiveTable

_WIDTHS = {
    "tinyint": 1, "smallint": 2, "int": 4, "bigint": 8, "float": 4, "double": 8, "boolean": 1,
    "date": 16, "timestamp": 16,
}  # fmt: skip
_WIDTH_OF_OTHERS = 16


@dataclass(frozen=True, slots=True)
class Loaded:
    """A cached partition with the size of its files; an unpartitioned table has one, named ''."""

    partition: HivePartition
    size: int


@dataclass(frozen=True, slots=True)
class Scan:
    """A plan of one table."""

    table: HiveTable
    n_selected: int
    n_known: int
    cardinality: int


def plan(table: HiveTable, *, n_known: int, n_selected: int, cached: Sequence[Loaded]) -> Scan:
    """Plan a scan of the selected ones of the known partitions; some of those are cached."""
    return Scan(table, n_selected, n_known, cardinality(table, cached, n_selected=n_selected))


def chosen(names: Iterable[str], where: Iterable[tuple[str, str]]) -> list[str]:
    """Return the partition names that agree with all equalities; other columns prune nothing."""
    wanted = dict(where)
    return [
        name
        for name in names
        if all(wanted.get(key, value) == value for key, value in _pairs(name))
    ]


def _pairs(name: str) -> Iterable[tuple[str, str]]:
    for part in name.split("/"):
        key, _, value = part.partition("=")
        yield unescape_path_name(key).lower(), unescape_path_name(value)


def row_width(table: HiveTable) -> int:
    """Return the presumed bytes of a row, by the columns' types."""
    kinds = (kind for _, kind in (*table.columns, *table.partition_columns))
    return max(1, sum(_WIDTHS.get(kind.partition("(")[0], _WIDTH_OF_OTHERS) for kind in kinds))


def cardinality(table: HiveTable, cached: Sequence[Loaded], *, n_selected: int) -> int:
    """Estimate rows: the mean of known counts, else of the bytes by a row's, for every partition.

    Nothing cached gives 1, as a real front end does.
    """
    if not cached:
        return 1
    known = [n for n in (_rows(one.partition) for one in cached) if n > 0]
    if known:
        return max(1, round(sum(known) / len(known) * n_selected))
    n_bytes = sum(one.size for one in cached)
    return max(1, n_bytes * n_selected // (len(cached) * row_width(table)))


def _rows(partition: HivePartition) -> int:
    text = partition.parameters.get("numRows", "")
    return int(text) if text.isascii() and text.isdigit() else -1
