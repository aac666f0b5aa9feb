"""Replaces old files by staged ones in one commit, wholly or not at all.

Iceberg checks that the old files are still there and that nobody has deleted rows in them since
the plan. Only a commit that certainly did not happen lets the new files be deleted.
"""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from optimizer.iceberg.access.jobs.errors import (
    LOST_TO_OTHERS,
    clear_errors,
    in_doubt,
    sorted_error,
)
from optimizer.iceberg.access.jobs.history import COMMIT_KEY, Signature, commit_of
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.rewrite.jobs.planning import Plan
from optimizer.iceberg.rewrite.jobs.rewrite_group import Staged
from optimizer.iceberg.rewrite.jobs.staging import StagingArea
from portal.lake.errors import PortalError
from portal.spark.java_errors import JAVA_ERRORS, causes_of

_TRIES = 3


def replace(
    plan: Plan,
    staged: Sequence[Staged],
    *,
    signature: Signature,
    area: StagingArea,
    branch: str = "",
) -> dict[str, Any]:
    """Commit one REPLACE of all the groups' files and say what it was.

    With a branch only there; its files stay announced by their markers, because they go with it.

    Raises:
        StaleState: `iceberg.conflict`, `.gone`, `.replaced`: nothing changed, no new file is left.
        PortalError: any other: the commit is in doubt, so the new files are left with their marker.
    """
    commit = uuid4().hex
    keys = {**signature.keys(), COMMIT_KEY: commit}
    error = _commit(plan, staged, keys=keys, area=area, branch=branch)
    if error is not None and error.code in LOST_TO_OTHERS:
        discard(staged, area)
        raise error
    snapshot = _look(plan.table, commit, branch)
    if snapshot is None:
        raise error or in_doubt(plan.table.name)
    for one in staged:
        if not branch:
            area.keep(one.stage)
    return _told(snapshot, staged)


def _commit(
    plan: Plan,
    staged: Sequence[Staged],
    *,
    keys: dict[str, str],
    area: StagingArea,
    branch: str,
) -> PortalError | None:
    """Send the commit; who only lost the race for the pointer tries again with the same files."""
    found: PortalError | None = None
    for _ in range(_TRIES):
        rewrite = _prepared(plan, staged, keys=keys, area=area)
        if branch:
            rewrite = rewrite.toBranch(branch)
        try:
            rewrite.commit()
        except JAVA_ERRORS as error:
            found = sorted_error(error, plan.table.name)
            if not any(name.endswith(".CommitFailedException") for name, _ in causes_of(error)):
                return found
        else:
            return None
    return found


def _prepared(
    plan: Plan, staged: Sequence[Staged], *, keys: dict[str, str], area: StagingArea
) -> Any:
    """Return the operation on the table as it is now; nothing has been sent yet."""
    try:
        for one in staged:
            area.check(one.stage)
        table = plan.table.again()
        with clear_errors(table.name):
            return _rewrite(table, plan, staged, keys)
    except PortalError:
        discard(staged, area)
        raise


def _rewrite(table: IcebergTable, plan: Plan, staged: Sequence[Staged], keys: Any) -> Any:
    rewrite = table.java.newRewrite().validateFromSnapshot(plan.snapshot_id)
    none = table.jvm.java.util.HashSet()
    for one in staged:
        rewrite.rewriteFiles(one.old, one.dead_deletes, one.new, none)
    # With the plan's sequence number later equality deletes apply to the new files as to the old.
    # Those of another partition spec would not; without the number such a delete is a conflict.
    if all(one.keeps_spec for one in staged):
        rewrite.dataSequenceNumber(plan.sequence)
    for key, value in keys.items():
        rewrite.set(key, value)
    return rewrite


def _look(table: IcebergTable, commit: str, branch: str) -> Any | None:
    """Find the snapshot of a commit of ours in its history, as far as it can be read."""
    try:
        now = table.again()
        with clear_errors(table.name):
            return commit_of(now, commit, branch=branch)
    except PortalError:
        return None


def discard(staged: Sequence[Staged], area: StagingArea) -> None:
    """Delete new files that are certainly in no snapshot."""
    for one in staged:
        area.discard_quietly(one.stage)


def _told(snapshot: Any, staged: Sequence[Staged]) -> dict[str, Any]:
    files = [file for one in staged for file in one.group.files]
    partitions = sorted({one.partition for one in staged})
    return {
        "snapshot_id": int(snapshot.snapshotId()),
        "sequence": int(snapshot.sequenceNumber()),
        "n_removed": len(files),
        "n_added": sum(one.n_added for one in staged),
        "bytes_removed": sum(file.n_bytes for file in files),
        "bytes_added": sum(one.bytes_added for one in staged),
        "write_ids": sorted({one_id for one in staged for one_id in one.write_ids}),
        "partition": partitions[0] if len(partitions) == 1 else "",
        "partitions": partitions,
        "n_deletes_removed": sum(int(one.dead_deletes.size()) for one in staged),
        "rows": sum(one.rows for one in staged),
    }
