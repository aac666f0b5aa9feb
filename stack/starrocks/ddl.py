"""Writes a catalog or a table as a front end's DDL, and a plan as text."""

import re
from collections.abc import Mapping

from stack.starrocks.hive import HiveTable
from stack.starrocks.scan import Scan, row_width
from stack.starrocks.spec import ResourceTable

_TYPES = {
    "tinyint": "tinyint(4)", "smallint": "smallint(6)", "int": "int(11)", "bigint": "bigint(20)",
    "float": "float", "double": "double", "boolean": "boolean", "date": "date",
    "timestamp": "datetime", "string": "varchar(1073741824)", "binary": "varbinary",
}  # fmt: skip
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
# The caches' settings of a cluster that never loads anything again by itself.
_NEVER = {
    "metastore_cache_refresh_interval_sec": "315360000",
    "metastore_cache_ttl_sec": "315360000",
    "remote_file_cache_refresh_interval_sec": "315360000",
    "remote_file_cache_ttl_sec": "315360000",
}


def starrocks_type(hive_type: str) -> str:
    """Return the type that a column of this Hive type gets."""
    kind = hive_type.lower()
    decimal = _DECIMAL.fullmatch(kind)
    if decimal:
        return f"decimal({decimal[1]}, {decimal[2]})"
    return _TYPES.get(kind, kind)


def catalog(name: str, uris: str) -> str:
    """Write a Hive catalog."""
    properties = {"type": "hive", "hive.metastore.type": "hive", "hive.metastore.uris": uris}
    rows = _properties({**properties, **_NEVER}, separator=",\n", equals="  =  ")
    return f"CREATE EXTERNAL CATALOG `{name}`\nPROPERTIES ({rows}\n)"


def catalog_table(table: HiveTable) -> str:
    """Write a table of a Hive catalog as this front end keeps it."""
    words = "CREATE EXTERNAL TABLE" if table.is_external else "CREATE TABLE"
    rows = ",\n".join(
        f"  `{name}` {starrocks_type(kind)} DEFAULT NULL"
        for name, kind in (*table.columns, *table.partition_columns)
    )
    by = ", ".join(name for name, _ in table.partition_columns)
    partition = f"\nPARTITION BY ({by})" if by else ""
    properties = _properties({**table.parameters, "location": table.location})
    return f"{words} `{table.name}` (\n{rows}\n){partition}\nPROPERTIES ({properties});"


def resource_table(table: ResourceTable, uris: str) -> str:
    """Write a table on a resource (2.2)."""
    rows = ",\n".join(f'  `{name}` {kind} NULL COMMENT ""' for name, kind in table.columns)
    properties = (
        f'"database" = "{table.hive_db}",\n"table" = "{table.hive_table}",\n'
        f'"resource" = "{table.resource}",\n"hive.metastore.uris"  =  "{uris}"'
    )
    head = f"CREATE EXTERNAL TABLE `{table.name}` (\n{rows}\n) ENGINE=HIVE "
    return f"{head}\nPROPERTIES (\n{properties}\n);"


def costs(scan: Scan) -> list[str]:
    """Write EXPLAIN COSTS, a line a row; partitions and cardinality are what readers want."""
    columns = [name for name, _ in (*scan.table.columns, *scan.table.partition_columns)]
    outputs = " | ".join(f"{number}: {name}" for number, name in enumerate(columns, start=1))
    return [
        "PLAN FRAGMENT 0(F01)",
        f"  Output Exprs:{outputs}",
        "  Input Partition: UNPARTITIONED",
        "  RESULT SINK",
        "",
        "  1:EXCHANGE",
        "     distribution type: GATHER",
        f"     cardinality: {scan.cardinality}",
        "",
        "PLAN FRAGMENT 1(F00)",
        "",
        "  Input Partition: RANDOM",
        "  OutPut Partition: UNPARTITIONED",
        "  OutPut Exchange Id: 01",
        "",
        "  0:HdfsScanNode",
        f"     TABLE: {scan.table.name}",
        f"     partitions={scan.n_selected}/{scan.n_known}",
        f"     avgRowSize={float(row_width(scan.table))}",
        f"     cardinality: {scan.cardinality}",
    ]


def _properties(values: Mapping[str, str], *, separator: str = ", ", equals: str = " = ") -> str:
    return separator.join(f'"{name}"{equals}"{value}"' for name, value in values.items())
