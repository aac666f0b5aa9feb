"""Sends one upkeep commit, and determines whether it happened.

Iceberg's own actions and updates write their files and delete them again where the commit did not
happen. What is left to do is to sign the commit, and to find it again where nobody said whether it
arrived.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from optimizer.iceberg.access.jobs.errors import LOST_TO_OTHERS, in_doubt, sorted_error
from optimizer.iceberg.access.jobs.history import COMMIT_KEY, Signature, commit_of
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from portal.lake.errors import PortalError
from portal.spark.java_errors import JAVA_ERRORS

Send = Callable[[Mapping[str, str]], bool]


def send(table: IcebergTable, signature: Signature, act: Send) -> Any | None:
    """Let `act` commit with our summary keys, and give the snapshot that came of it.

    None where `act` says by False that there was nothing to commit.

    Raises:
        StaleState: `iceberg.conflict`, `.gone`, `.replaced`: nothing changed.
        PortalError: any other: it failed, or is in doubt.
    """
    commit = uuid4().hex
    error: PortalError | None = None
    try:
        if not act({**signature.keys(), COMMIT_KEY: commit}):
            return None
    except JAVA_ERRORS as java:
        error = sorted_error(java, table.name)
        if error.code in LOST_TO_OTHERS:
            raise error from java
    try:
        found = commit_of(table.again(), commit)
    except PortalError as lost:
        raise error or lost from lost
    if found is None:
        raise error or in_doubt(table.name)
    return found


def told(snapshot: Any, **numbers: int) -> dict[str, Any]:
    """Return the row of a commit that rewrote no data file."""
    return {
        "snapshot_id": int(snapshot.snapshotId()),
        "sequence": int(snapshot.sequenceNumber()),
        **dict.fromkeys(("n_removed", "n_added", "bytes_removed", "bytes_added", "rows"), 0),
        "write_ids": [],
        "partition": "",
        **numbers,
    }
