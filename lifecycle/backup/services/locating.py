"""Locates a backup: at its own location, or with a run that has claimed it.

A restore or purge takes the whole directory of a drop run behind its fence. Who only reads follows
it to a restore; what a purge has is left alone.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from lifecycle.backup.domain.layout import BackupRef
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.models import ActFence, BackupBatch
from lifecycle.backup.services.reach import Place
from portal.connectors.file_status import FileSystem
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotVisible, StaleState
from portal.lake.paths import LakePath

_TRIES = 3

Found = TypeVar("Found")


def read_where_it_lies(
    batch: BackupBatch,
    read: Callable[[LakePath], Found],
    *,
    config: LakeConfig,
    fs: FileSystem,
) -> Found:
    """Return what `read` gives for the directory of a backup, which nobody moved meanwhile.

    Raises:
        StaleState: `act.claimed`, a purge has it, or it moves faster than it can be read.
    """
    for _ in range(_TRIES):
        directory = _directory(batch, config=config, fs=fs)
        if directory is None:
            continue
        try:
            found = read(directory)
        except NotVisible:
            if fs.status(directory) is not None:
                raise
            continue
        if fs.status(directory) is not None:
            return found
    raise StaleState(
        "act.claimed",
        f"Another run has just taken or given back the backup of {batch.day}. Try again.",
        run=str(batch.run_id),
    )


def restore_that_has(batches: Iterable[BackupBatch], *, but: str = "") -> str:
    """Return the run of another restore that has one of the backups; '' where none has."""
    refs = {(batch.root, batch.day, _ref(batch)) for batch in batches}
    fences = ActFence.objects.filter(
        kind=FenceKind.RESTORE, closed_at__isnull=True, day__in={day for _, day, _ in refs}
    )
    for fence in fences.exclude(run_id=but) if but else fences:
        taken = {(fence.root, fence.day, ref) for ref in _refs(fence)}
        if refs & taken:
            return str(fence.run_id)
    return ""


def _directory(batch: BackupBatch, *, config: LakeConfig, fs: FileSystem) -> LakePath | None:
    sealed = config.path(batch.path)
    if fs.status(sealed) is not None:
        return sealed
    for fence in ActFence.objects.filter(
        lake=batch.lake, root=batch.root, day=batch.day, closed_at__isnull=True
    ):
        if _ref(batch) not in _refs(fence):
            continue
        if fence.kind == FenceKind.PURGE:
            raise StaleState(
                "act.claimed",
                f"A purge has the backups of {batch.day}. Try again when it has ended.",
                run=str(fence.run_id),
            )
        claimed = Place.of(fence).claimed(_ref(batch))
        if fs.status(claimed) is not None:
            return claimed
    return None


def _ref(batch: BackupBatch) -> BackupRef:
    return BackupRef(str(batch.run_id), batch.epoch)


def _refs(fence: ActFence) -> Sequence[BackupRef]:
    return [BackupRef(claim["run"], claim["epoch"]) for claim in fence.claims]
