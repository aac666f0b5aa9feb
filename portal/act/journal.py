"""What do the files beside the data say? Reads the intents and dones of one run's directory."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from portal.act.layout import batch_of_intent, done_name, intent_name
from portal.act.records import BatchDone, BatchIntent
from portal.connectors.file_status import FileSystem
from portal.lake.errors import NotVisible
from portal.lake.paths import LakePath


@dataclass(frozen=True, slots=True)
class JournalBatch:
    """One batch as the files tell it; `done` is None while it is not settled."""

    directory: LakePath
    intent: BatchIntent
    done: BatchDone | None
    sha256: str


def batch_numbers(fs: FileSystem, directory: LakePath) -> list[int]:
    """Give the numbers of all batches with an intent, in order; none where nothing is."""
    try:
        names = [status.path.name for status in fs.children(directory)]
    except NotVisible:
        return []
    return sorted(n for n in map(batch_of_intent, names) if n is not None)


def read_batch(fs: FileSystem, directory: LakePath, batch: int) -> JournalBatch:
    """Read one batch; a damaged file is a DataSafetyError."""
    data = fs.read(directory.child(intent_name(batch)))
    done_path = directory.child(done_name(batch))
    done = BatchDone.from_bytes(fs.read(done_path)) if fs.status(done_path) else None
    return JournalBatch(
        directory, BatchIntent.from_bytes(data), done, hashlib.sha256(data).hexdigest()
    )


def batches(fs: FileSystem, directory: LakePath) -> Iterator[JournalBatch]:
    """Read all batches of a directory, in order, one at a time."""
    for number in batch_numbers(fs, directory):
        yield read_batch(fs, directory, number)
