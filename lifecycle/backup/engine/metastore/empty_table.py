"""Drops a table that must be empty, and brings back what was added to it at that moment.

The metastore drops a table with all of its partitions and has no call that refuses. Its events tell
which partitions were added between the look and the drop.
"""

import json
from typing import Any

from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import Metastore, from_json
from portal.lake.errors import DataSafetyError, StaleState
from portal.lake.names import TableName

_PAGE = 1_000


def drop_empty_table(metastore: Metastore, name: TableName) -> bool:
    """Drop a table without partitions, never its data; False where it has some, or got some.

    Raises:
        DataSafetyError: `act.lost_partition`, something was added meanwhile that cannot be read.
    """
    newest = metastore.current_notification_id()
    table = metastore.table(name)
    if metastore.partition_names(name):
        return False
    metastore.drop_table(name, delete_data=False)
    added = _added_since(metastore, name, newest)
    if not added:
        return True
    try:
        metastore.create_table(table)
    except StaleState as error:
        if error.code != "metastore.exists":
            raise
    metastore.add_partitions(added, if_not_exists=True)
    return False


def _added_since(metastore: Metastore, name: TableName, event_id: int) -> list[Any]:
    found: list[Any] = []
    while events := metastore.notifications_after(event_id, _PAGE):
        event_id = events[-1].eventId
        for event in events:
            is_here = ((event.dbName or ""), (event.tableName or "")) == (name.db, name.table)
            if is_here and event.eventType == "ADD_PARTITION":
                found += _partitions(name, event.message)
    return found


def _partitions(name: TableName, message: str) -> list[Any]:
    try:
        texts = json.loads(message)["partitionListJson"]
        return [from_json(ttypes.Partition, text) for text in texts]
    except (ValueError, KeyError, TypeError) as error:
        raise DataSafetyError(
            "act.lost_partition",
            f"A partition was added to {name} while the empty table was dropped, and its event "
            "cannot be read. Ask its writer to register it again.",
            table=name,
        ) from error
