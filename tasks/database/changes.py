"""Says which migrations a running former release cannot bear.

A new table or column leaves its reads whole. It writes no row of a table with a new column that
has no default in the database, and is told so. What is renamed or removed breaks its pages too.
"""

from django.db.migrations import operations
from django.db.migrations.migration import Migration
from django.db.migrations.operations.base import Operation

LEAVES_READS_WHOLE: tuple[type[Operation], ...] = (
    operations.AddConstraint,
    operations.AddField,
    operations.AddIndex,
    operations.AlterField,
    operations.AlterModelOptions,
    operations.CreateModel,
    operations.RemoveConstraint,
    operations.RemoveIndex,
    operations.RenameIndex,
    operations.RunPython,
)


def stops_former(migration: Migration) -> bool:
    """Whether the pages of a release without this migration break once it is applied.

    Operations that nobody has judged count as such.
    """
    return any(not isinstance(operation, LEAVES_READS_WHOLE) for operation in migration.operations)
