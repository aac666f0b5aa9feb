"""Names partitions as text, in Spark for every file at once, exactly as Iceberg does.

Iceberg's `PartitionSpec.partitionToPath` runs only in a JVM that holds the table; here it is spelt
in Spark's own expressions, so that no file has to come to the driver. A test compares both.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from optimizer.iceberg.access.jobs.iceberg import IcebergTable

_EPOCH_YEAR = 1970


@dataclass(frozen=True, slots=True)
class PathField:
    """One field of a spec: its name there, and where the `partition` struct of all specs has it.

    `column` is None for a field whose transform was taken away: its value is always null.
    """

    name: str
    transform: str
    column: str | None
    type: str


Specs = Mapping[int, tuple[PathField, ...]]


def specs_of(table: IcebergTable) -> dict[int, tuple[PathField, ...]]:
    """Return the fields of every spec that the table has had."""
    iceberg = table.jvm.org.apache.iceberg
    united = {
        int(field.fieldId()): (str(field.name()), str(field.type()))
        for field in iceberg.Partitioning.partitionType(table.java).fields()
    }
    specs = table.java.specs()
    return {
        int(key): tuple(
            PathField(
                str(field["name"]),
                str(field["transform"]),
                *united.get(int(field["field-id"]), (None, "")),
            )
            for field in json.loads(iceberg.PartitionSpecParser.toJson(specs.get(key)))["fields"]
        )
        for key in specs
    }


def path_column(specs: Specs, *, spec_id: Column, partition: str) -> Column:
    """Return a partition's path; `partition` is the name of the struct of all specs' fields."""
    found = F.lit("")
    for key, fields in specs.items():
        if fields:
            parts = [_part(field, partition) for field in fields]
            found = F.when(spec_id == key, F.concat_ws("/", *parts)).otherwise(found)
    return found


def _part(field: PathField, partition: str) -> Column:
    if field.column is None:
        value = F.lit("null")
    else:
        column = F.col(partition).getField(field.column)
        value = F.coalesce(_human(field, column), F.lit("null"))
    # Java's URLEncoder, as Iceberg calls it.
    encoded = F.url_encode(value)
    return F.concat(F.url_encode(F.lit(field.name)), F.lit("="), encoded)


def _human(field: PathField, value: Column) -> Column:
    """Write a value as Iceberg's transform writes it for people; null stays null."""
    match field.transform:
        case "year":
            text = F.format_string("%04d", value + _EPOCH_YEAR)
        case "month":
            year = F.floor(value / 12).cast("int") + _EPOCH_YEAR
            month = F.pmod(value, F.lit(12)) + 1
            text = F.format_string("%04d-%02d", year, month)
        case "hour":
            days = F.floor(value / 24).cast("int")
            day = F.date_add(F.lit("1970-01-01").cast("date"), days)
            text = F.concat(
                _day(day), F.lit("-"), F.format_string("%02d", F.pmod(value, F.lit(24)))
            )
        case _:
            text = _plain(field.type, value)
    return F.when(value.isNotNull(), text)


def _plain(iceberg_type: str, value: Column) -> Column:
    match iceberg_type.partition("[")[0].partition("(")[0]:
        case "date":
            return _day(value)
        case "timestamptz":
            return F.concat(_instant(value), F.lit("+00:00"))
        case "timestamp":
            return _instant(value.cast("timestamp"))
        case "binary" | "fixed":
            # Spark breaks long ones into lines.
            return F.regexp_replace(F.base64(value), "[\r\n]", "")
        case _:
            return value.cast("string")


def _day(value: Column) -> Column:
    return F.format_string("%04d-%02d-%02d", F.year(value), F.month(value), F.dayofmonth(value))


def _instant(value: Column) -> Column:
    """Write an instant as Iceberg does: the fraction of a second only as far as there is one."""
    micros = F.pmod(F.unix_micros(value), F.lit(1_000_000))
    fraction = F.regexp_replace(F.format_string(".%06d", micros), "[.]?0+$", "")
    return F.concat(F.date_format(value, "yyyy-MM-dd'T'HH:mm:ss"), fraction)
