"""What a restore is asked to do: which batches and partitions, and under which name."""

from dataclasses import dataclass

from lifecycle.backup.engine.journal.reading import (
    JournalBatch,
    read_batch,
    read_known_batch,
)
from portal.connectors.file_status import FileSystem
from portal.lake.ids import LakeId
from portal.lake.paths import LakePath


@dataclass(frozen=True, slots=True)
class NewName:
    """Another name to restore under; the data goes below `location`.

    `into`: the table stands there already, and partitions come into it as it is now.
    """

    db: str
    table: str
    location: LakePath
    into: bool = False


@dataclass(frozen=True, slots=True)
class BackupBatchRef:
    """One batch to restore from, in its claimed directory.

    `sha256` is the manifest's as the catalogue knows it, None where there is no catalogue; `names`
    are those of the files that tell of the batch, None where the directory has to be listed.
    """

    directory: LakePath
    batch: int
    sha256: str | None = None
    names: tuple[str, ...] | None = None

    def read(self, fs: FileSystem) -> JournalBatch:
        """Read the batch; a manifest that is not the catalogue's is a DataSafetyError."""
        if self.sha256 is None:
            return read_batch(fs, self.directory, self.batch)
        return read_known_batch(fs, self.directory, self.batch, sha256=self.sha256)


@dataclass(frozen=True, slots=True)
class RestoreOrder:
    """What a restore run was asked to do; `partitions` names those wanted, None = all.

    `only_missing`: what stands under its name again is wanted as it stands, and is no conflict.
    """

    run: str
    epoch: int
    lake: LakeId
    batches: tuple[BackupBatchRef, ...]
    partitions: frozenset[str] | None = None
    new_name: NewName | None = None
    only_missing: bool = False
