"""Which changes of a schema give rows that were there values that the source's log does not have.

Such rows are right in the lake only once their table was loaded again.
"""

from collections.abc import Iterable

from pipelines.cdc.changes.domain.schemas import Column
from pipelines.cdc.schema.domain.classes import SchemaChange
from pipelines.cdc.schema.domain.type_changes import Class

_NO_DEFAULTS = {None, "NULL", "null"}


def leaves_rows_behind(changes: Iterable[SchemaChange]) -> bool:
    """Whether rows that were there may have other values than their last images.

    A column that was added, and nothing else, is judged when somebody says how the lake may have
    it (`has_values_before`).
    """
    return any(
        one.cls is Class.PERSON
        and one.what not in {"add", "rename"}
        and not (one.what == "drop" and one.new is None)
        for one in changes
    )


def has_values_before(added: Column) -> bool:
    """Whether rows that were there when a column was added may have another value than NULL."""
    return added.is_generated or not added.is_nullable or added.default not in _NO_DEFAULTS
