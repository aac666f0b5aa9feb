"""Plans drawn queries by Iceberg at a snapshot or a branch, and counts the bytes of the sample.

Only metadata is read. A query is Iceberg's own expression over the columns, beside a condition that
keeps it to the sampled partitions; files outside of the sample count for nothing on either side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import reduce
from math import isnan
from typing import Any

from optimizer.advice.domain.what_if import Asking, Range
from optimizer.iceberg.access.jobs.errors import clear_errors
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.rewrite.domain.value_forms import Form, scale_of
from optimizer.iceberg.rewrite.jobs.planning import TaskColumns

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WITH_ZONE = "timestamptz"
_DECIMAL = "decimal("


@dataclass(frozen=True)
class Replay:
    """How drawn queries are planned: `within` is the condition that holds for all of the sample.

    `forms` are those of the sampled columns by name.
    """

    table: IcebergTable
    within: Any
    forms: Mapping[str, str]

    def planned(
        self, asking: Asking, sizes: Mapping[str, int], *, base: int = 0, branch: str = ""
    ) -> list[str]:
        """Return the files of `sizes` that the query would read, at a snapshot or on a branch."""
        with clear_errors(self.table.name):
            scan = self.table.java.newScan()
            scan = scan.useRef(branch) if branch else scan.useSnapshot(base)
            found = scan.filter(self._expression(asking)).ignoreResiduals().planFiles()
            try:
                tasks = self.table.listed(found)
            finally:
                found.close()
            if tasks.isEmpty():
                return []
            steps = TaskColumns(self.table.columns)
            locations = self.table.columns.read(tasks, steps.file, steps.location)
        return [one for one in locations if one in sizes]

    def _expression(self, asking: Asking) -> Any:
        make = self.table.jvm.org.apache.iceberg.expressions.Expressions
        both = getattr(make, "and")
        parts = [part for one in asking.ranges for part in self._conditions(make, one)]
        return reduce(both, parts, self.within)

    def _conditions(self, make: Any, one: Range) -> list[Any]:
        """Return the conditions of a range; an end that cannot be said leaves it open."""
        form = self.forms[one.column]
        field_type = str(self.table.java.schema().findField(one.column).type())
        low = java_value(one.low, form, field_type)
        high = java_value(one.high, form, field_type)
        if low is not None and low == high:
            return [make.equal(one.column, low)]
        found = []
        if low is not None:
            found.append(make.greaterThanOrEqual(one.column, low))
        if high is not None:
            found.append(make.lessThanOrEqual(one.column, high))
        return found


def java_value(value: Any, form: str, field_type: str) -> Any:
    """Return a value of a form as Iceberg's literals of a column's type are made of it.

    None says that there is none: the value is NaN, or a time outside of the calendar.
    """
    if value is None:
        return None
    scale = scale_of(form)
    if scale is not None:
        return format(Decimal(int(value)).scaleb(-scale), "f")
    makers: Mapping[str, Callable[[Any, str], Any]] = {
        Form.TEXT: lambda one, _: bytes(one).decode(errors="replace"),
        Form.REAL: _real,
        Form.MICROS: _instant,
        Form.DAYS: lambda one, _: int(one),
        Form.WHOLE: lambda one, name: bool(one) if name == "boolean" else int(one),
    }
    return makers[form](value, field_type)


def _real(value: Any, field_type: str) -> Any:
    number = float(value)
    if isnan(number):
        return None
    if field_type.startswith(_DECIMAL):
        return f"{number:.{int(field_type.rstrip(')').rpartition(',')[2])}f}"
    return number


def _instant(value: Any, field_type: str) -> str | None:
    """Return an instant as text: a whole number would be taken for one of another type."""
    try:
        found = _EPOCH + timedelta(microseconds=int(value))
    except OverflowError:
        return None
    text = found.replace(tzinfo=None).isoformat(timespec="microseconds")
    return f"{text}+00:00" if field_type.startswith(_WITH_ZONE) else text
