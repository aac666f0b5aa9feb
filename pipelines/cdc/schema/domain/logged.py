"""Repairs values that mysql-replication reads otherwise than the server wrote them.

Each repair was seen against MariaDB 10.11 with mysql-replication 1.0.17. Three losses cannot be
repaired from a value: members of an enum or set in another charset than UTF-8 come as empty texts
(give the reader the members of the schema); a date that is in no calendar, such as 2024-02-31,
comes without its digits, and becomes the zero date here, which fits no date of the lake either; and
a document of MySQL that is only `null` comes as NULL.
"""

import math
from datetime import datetime, timedelta

from pipelines.cdc.schema.domain.types import ColumnType, Kind
from portal.lake.errors import RuleViolation

_ABSENT = ("cols bitmap", "same with before values")
_ZEROS = {Kind.DATE: "0000-00-00", Kind.DATETIME: "0000-00-00 00:00:00", Kind.SET: ""}
_ZERO_TIMESTAMP = "1970-01-01 00:00:00"
"""The second that no timestamp can be: the log has zero for the zero date."""
_ZERO_YEAR = 1900


def repaired(value: object, column: ColumnType, none_source: str = "") -> object:
    """Return what a SELECT would have given in the place of a value from the binary log.

    `none_source` is what `row["none_sources"]` says of the column.

    Raises:
        RuleViolation: `cdc.row_image`, where the log does not have the value.
    """
    if value is None:
        return _missing(column, none_source)
    if column.kind is Kind.TIME and isinstance(value, timedelta):
        return _time(value)
    if column.kind is Kind.TIMESTAMP and isinstance(value, datetime):
        return _ZEROS[Kind.DATETIME] if value.isoformat(" ") == _ZERO_TIMESTAMP else value
    if column.kind is Kind.YEAR and value == _ZERO_YEAR:
        return 0
    return value


def _missing(column: ColumnType, none_source: str) -> object:
    if none_source in _ABSENT:
        raise RuleViolation(
            "cdc.row_image",
            "A row of the binary log does not have all its columns; set binlog_row_image to FULL"
            " and binlog_row_value_options to nothing.",
        )
    return None if none_source in {"", "null"} else _ZEROS.get(column.kind)


def _time(value: timedelta) -> timedelta:
    """A time below zero has its fraction counted from the second before, with the wrong sign."""
    if value >= timedelta(0) or not value.microseconds:
        return value
    whole = math.ceil(-value / timedelta(seconds=1))
    return -(timedelta(seconds=2 * whole - 1) + value)
