"""A changelog in a directory of the lake's file system, local or HDFS.

    <root>/batches/<20 digits>.jsonl           a header, then a change a line
    <root>/schemas/<database>.<table>/<n>.json

A batch is a file that must not exist, so of two writers one loses. Old batches are removed, though:
a writer that slept so long that its next number was removed would find it free. So a batch counts
only with the one before it, and the writer looks for that before and after it writes.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from pipelines.cdc.changes.domain.changelog import Batch, fenced, trimmed
from pipelines.cdc.changes.domain.records import (
    Change,
    Header,
    decode_change,
    decode_header,
    encode,
)
from pipelines.cdc.changes.domain.schemas import TableSchema
from portal.connectors.file_status import FileSystem
from portal.lake.errors import NotVisible, RuleViolation, StaleState
from portal.lake.paths import LakePath

MODE = 0o750
_BATCH = re.compile(r"(\d{20})\.jsonl")
_SCHEMA = re.compile(r"(\d{1,9})\.json")
_LONGEST_NAME = 200
_PLAIN = re.compile(r"[A-Za-z0-9_-]")


def batches_folder(root: LakePath) -> LakePath:
    """Return the directory of a changelog's batches."""
    return root.child("batches")


def batch_numbers(names: Iterable[str]) -> list[int]:
    """Return the numbers of the batches among the names of that directory, in their order."""
    return [int(found[1]) for found in map(_BATCH.fullmatch, names) if found]


class DirectoryLog:
    """A changelog of files; made on the first use."""

    def __init__(self, file_system: FileSystem, root: LakePath) -> None:
        self._files = file_system
        self._batches = batches_folder(root)
        self._schemas = root.child("schemas")
        for directory in (self._batches, self._schemas):
            file_system.make_directories(directory, mode=MODE)

    def end(self) -> tuple[int, Header] | None:
        """Return number and header of the last batch; None of an empty log."""
        numbers = self._numbers()
        if not numbers:
            return None
        return numbers[-1], self.header(numbers[-1])

    def numbers(self) -> list[int]:
        """Return the numbers of the batches that are there, in order."""
        return self._numbers()

    def header(self, number: int) -> Header:
        """Return the header of one batch; NotVisible where it was removed."""
        return decode_header(self._files.read(self._batch(number)).partition(b"\n")[0])

    def append(self, number: int, header: Header, changes: Sequence[Change]) -> None:
        """Write a batch; StaleState `cdc.fenced` where the number is not the writer's to write."""
        if header.n_changes != len(changes):
            raise RuleViolation("cdc.record", f"A batch of {len(changes)} says {header.n_changes}.")
        self._check_previous(number)
        path = self._batch(number)
        lines = [encode(header), *map(encode, changes), b""]
        try:
            self._files.write_new(path, b"\n".join(lines))
        except StaleState as error:
            raise fenced(f"Batch {number}") from error
        try:
            self._check_previous(number)
        except StaleState:
            self._files.remove_file(path)
            raise

    def read(self, after: int) -> Iterator[Batch]:
        """Yield the batches after a number in order, as far as there are any now."""
        numbers = self._numbers()
        if numbers and numbers[0] > after + 1:
            raise trimmed(after + 1, numbers[0])
        for number in (one for one in numbers if one > after):
            try:
                data = self._files.read(self._batch(number))
            except NotVisible as error:
                raise trimmed(number, self._numbers()[0]) from error
            head, *lines = data.splitlines()
            header = decode_header(head)
            if header.n_changes != len(lines):
                raise RuleViolation(
                    "cdc.record", f"Batch {number} has {len(lines)} of {header.n_changes} changes."
                )
            yield Batch(number, header, tuple(map(decode_change, lines)))

    def trim(self, before: int) -> int:
        """Remove batches below a number, but never the last; returns how many.

        Oldest first, so that what is left after a crash has no gap.
        """
        live = self._numbers()
        doomed = [one for one in self._all_numbers() if one < before and one != live[-1]]
        for number in doomed:
            self._files.remove_file(self._batch(number))
        return len(doomed)

    def schema_put(self, schema: TableSchema) -> None:
        """Write a table's schema; the same again does nothing, another is `cdc.fenced`."""
        directory = self._schemas.child(f"{_quoted(schema.db)}.{_quoted(schema.table)}")
        self._files.make_directories(directory, mode=MODE)
        path, data = directory.child(f"{schema.number}.json"), msgspec.json.encode(schema)
        try:
            self._files.write_new(path, data)
        except StaleState as error:
            if self._files.read(path) != data:
                what = f"Schema {schema.number} of {schema.db}.{schema.table}"
                raise fenced(what) from error

    def schemas(self) -> list[TableSchema]:
        """Return all schemas, by table and number."""
        found = []
        for directory in self._files.names(self._schemas):
            place = self._schemas.child(directory)
            names = self._files.names(place)
            found += [
                msgspec.json.decode(self._files.read(place.child(name)), type=TableSchema)
                for name in names
                if _SCHEMA.fullmatch(name)
            ]
        return sorted(found, key=lambda one: (one.db, one.table, one.number))

    def _batch(self, number: int) -> LakePath:
        return self._batches.child(f"{number:020}.jsonl")

    def _check_previous(self, number: int) -> None:
        if number > 1 and self._files.status(self._batch(number - 1)) is None:
            raise fenced(f"A batch after {number}")

    def _all_numbers(self) -> list[int]:
        return batch_numbers(self._files.names(self._batches))

    def _numbers(self) -> list[int]:
        """Return the numbers up to the last without a gap: what is before one is a stray."""
        numbers = self._all_numbers()
        first = len(numbers) - 1
        while first > 0 and numbers[first - 1] == numbers[first] - 1:
            first -= 1
        return numbers[max(first, 0) :]


def _quoted(name: str) -> str:
    """Return a file name of any name of MySQL; no two names have one."""
    text = "".join(one if _PLAIN.match(one) else _escaped(one) for one in name)
    # A file's name has 255 bytes at most, a table's may have 64 letters of three bytes each.
    if len(text) > _LONGEST_NAME // 2:
        digest = hashlib.sha256(name.encode()).hexdigest()[:24]
        text = f"{text[: _LONGEST_NAME // 2 - 26]}%~{digest}"
    return text


def _escaped(letter: str) -> str:
    return "".join(f"%{byte:02x}" for byte in letter.encode())
