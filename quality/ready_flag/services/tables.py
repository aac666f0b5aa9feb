"""Finds the table that somebody names, its owner, its partition keys, and when they changed."""

from datetime import datetime
from typing import Any

from portal.access.models import User
from portal.access.visibility import may_see
from portal.connectors.metastore import Metastore
from portal.connectors.metastore_db import DDL_TIME
from portal.lake.clock import from_epoch_seconds
from portal.lake.errors import NotVisible
from portal.lake.lines import fitted
from portal.lake.names import TableName
from quality.freshness.models import OWNER_LENGTH


def table_seen(metastore: Metastore, hive: TableName, *, user: User | None) -> Any:
    """Return a table as the metastore has it; `user` None is somebody at the portal's shell.

    Raises:
        NotVisible: `readiness.table`: there is none, or not for this person.
    """
    table = metastore.table_or_none(hive)
    if table is None or (user is not None and not may_see(user, hive, owner=table.owner or "")):
        raise NotVisible(
            "readiness.table",
            f"The lake {hive.lake} has no table {hive} that you may see. Check its name "
            "(db.table).",
            table=str(hive),
        )
    return table


def owner_of(table: Any) -> str:
    """Return who owns a table, as rows keep it; empty: nobody is named."""
    return fitted(str(table.owner or ""), OWNER_LENGTH)


def keys_of(table: Any) -> tuple[str, ...]:
    """Return the names of a table's partition keys, in order."""
    return tuple(str(key.name) for key in table.partitionKeys or ())


def changed_at(partition: Any) -> datetime | None:
    """Return when a partition was made or changed last, as the metastore has it; None: unknown.

    Setting the flag keeps the time of the last change as it is.
    """
    said = str((partition.parameters or {}).get(DDL_TIME, ""))
    changed = int(said) if said.isascii() and said.isdigit() else 0
    newest = max(partition.createTime or 0, changed)
    return from_epoch_seconds(newest) if newest > 0 else None
