"""The manifest: which blobs of which Puffin files answer for which data files of one table.

It is whole at its number: a writer joins what stands at the newest number, adds its own, leaves out
what no snapshot holds, and writes the next number under a name that nobody else has.
"""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from optimizer.indexes.domain.envelope import Kind
from portal.lake.errors import RuleViolation

FORMAT = "lakewarden-indexes"
VERSION = 1
MOST_BYTES = 1 << 30
"""Unpacked; a million blobs take about 60 MB."""
MILLION = 1_000_000
_NAME = re.compile(r"v(\d{20})-([0-9a-f-]{36})\.json\.gz")


@dataclass(frozen=True)
class DataFile:
    """A data file as the table's own manifest knows it."""

    location: str
    size: int
    records: int
    sequence: int | None = None
    row_groups: tuple[tuple[int, int], ...] = ()
    """Split offset and rows of each, in the order of the file; empty: not known."""

    def is_the_same_as(self, size: int, records: int, sequence: int | None) -> bool:
        """Tell whether the table's manifest means this very file, and not another of its name."""
        known = sequence is not None and self.sequence is not None
        same = (self.size, self.records) == (size, records)
        return same and (not known or self.sequence == sequence)


@dataclass(frozen=True)
class BlobPlace:
    """Where a blob lies: the name of its Puffin file, and its bytes in it."""

    file: str
    offset: int
    length: int
    passed: int | None = None
    """Of a million absent keys so many pass, as the builder measured it; readers do not ask."""


BlobKey = tuple[int, str]
"""Field id and kind; a kind that this version does not know is carried along."""


@dataclass(frozen=True)
class Covered:
    """A data file with its blobs, and what was found not to be worth one.

    `refused` is for builders: by field id and the kind that was asked for (or `auto`), the reason.
    """

    data_file: DataFile
    blobs: Mapping[BlobKey, BlobPlace]
    refused: Mapping[BlobKey, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """All that is valid at one number, by the location of the data file."""

    table_uuid: UUID
    sequence: int
    covered: Mapping[str, Covered] = field(default_factory=dict)
    written_by: str = ""
    written_at: str = ""

    def blob(self, location: str, field_id: int, kind: Kind) -> BlobPlace | None:
        """Return where the blob of this column and kind lies, if there is one."""
        covered = self.covered.get(location)
        return covered.blobs.get((field_id, kind.value)) if covered else None

    def files(self) -> list[str]:
        """Return the names of the Puffin files that are in use, in order."""
        return sorted({place.file for _, _, place in self.entries()})

    def entries(self) -> Iterator[tuple[DataFile, BlobKey, BlobPlace]]:
        """Yield every blob."""
        for covered in self.covered.values():
            for key, place in covered.blobs.items():
                yield covered.data_file, key, place

    def only(self, wanted: Callable[[DataFile, BlobKey], bool]) -> "Manifest":
        """Return the manifest with the wanted blobs alone; data files without any go too."""
        kept: dict[str, Covered] = {}
        for location, covered in self.covered.items():
            blobs = {k: p for k, p in covered.blobs.items() if wanted(covered.data_file, k)}
            refused = {k: why for k, why in covered.refused.items() if wanted(covered.data_file, k)}
            if blobs or refused:
                kept[location] = Covered(covered.data_file, blobs, refused)
        return replace(self, covered=kept)

    def adding(self, more: Iterable[Covered]) -> "Manifest":
        """Return the manifest with these blobs added; of one column and kind the later counts.

        A data file that was written again under its old name loses the blobs of before.
        """
        joined = dict(self.covered)
        for new in more:
            old = joined.get(new.data_file.location)
            if old and _same(old.data_file, new.data_file):
                joined[new.data_file.location] = Covered(
                    new.data_file if new.data_file.row_groups else old.data_file,
                    {**old.blobs, **new.blobs},
                    {**old.refused, **new.refused},
                )
            else:
                joined[new.data_file.location] = new
        return replace(self, covered=joined)


def _same(old: DataFile, new: DataFile) -> bool:
    return old.is_the_same_as(new.size, new.records, new.sequence)


def joined(manifests: Iterable[Manifest]) -> Manifest:
    """Return what several manifests of one table hold together, given from old to new."""
    first, *others = manifests
    for other in others:
        merged = first.adding(other.covered.values())
        first = replace(merged, sequence=max(first.sequence, other.sequence))
    return first


def manifest_name(sequence: int, unique: UUID) -> str:
    """Return the file name of a manifest with this number."""
    return f"v{sequence:020d}-{unique}.json.gz"


def sequence_of(name: str) -> int | None:
    """Return the number in a manifest's file name; None for any other file."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def newest(names: Iterable[str]) -> list[str]:
    """Return the manifests with the greatest number, ascending; a reader takes the last."""
    ours = sorted(name for name in names if sequence_of(name) is not None)
    return [name for name in ours if sequence_of(name) == sequence_of(ours[-1])]


def write(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest; the same manifest gives the same bytes."""
    files = manifest.files()
    number = {name: at for at, name in enumerate(files)}
    data_files: list[list[object]] = []
    blobs: list[list[object]] = []
    refused: list[list[object]] = []
    for at, location in enumerate(sorted(manifest.covered)):
        covered = manifest.covered[location]
        one = covered.data_file
        groups = [list(group) for group in one.row_groups]
        data_files.append([location, one.size, one.records, one.sequence, groups])
        for (field_id, kind), place in sorted(covered.blobs.items()):
            row = [at, field_id, kind, number[place.file], place.offset, place.length]
            blobs.append(row if place.passed is None else [*row, place.passed])
        refused += [[at, *key, why] for key, why in sorted(covered.refused.items())]
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "sequence": manifest.sequence,
        "table_uuid": str(manifest.table_uuid),
        "written_by": manifest.written_by,
        "written_at": manifest.written_at,
        "files": files,
        "data_files": data_files,
        "blobs": blobs,
    }
    if refused:
        whole["refused"] = refused
    text = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
    return gzip.compress(text.encode(errors="surrogatepass"), 6, mtime=0)


def read(data: bytes, table_uuid: UUID) -> Manifest:
    """Return the manifest of these bytes.

    Raises:
        RuleViolation: When it is damaged, newer than this reader, or of another table. The caller
            reads every data file then and counts a warning.
    """
    try:
        whole = json.loads(_unpacked(data))
        if whole["format"] != FORMAT:
            raise _unusable("foreign", "is of another program")
        if int(whole["version"]) > VERSION:
            raise _unusable("newer", "was written by a newer version")
        if UUID(whole["table_uuid"]) != table_uuid:
            raise _unusable("table", "is of another table")
        return _parsed(whole, table_uuid)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise _unusable("damaged", f"cannot be read: {type(error).__name__}") from error
    except (zlib.error, RecursionError) as error:
        raise _unusable("damaged", f"cannot be read: {type(error).__name__}") from error


def _unusable(why: str, text: str) -> RuleViolation:
    return RuleViolation("index.manifest", f"The index manifest {text}.", why=why)


def _unpacked(data: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    text = unpacker.decompress(data, MOST_BYTES)
    if not unpacker.eof:
        raise ValueError("cut, or larger than a manifest may be")
    return text


def _parsed(whole: dict[str, Any], table_uuid: UUID) -> Manifest:
    files = [_text(name) for name in whole["files"]]
    if any("/" in name or name.startswith(".") for name in files):
        raise ValueError("a Puffin file outside its folder")
    data_files = [_data_file(row) for row in whole["data_files"]]
    blobs: list[dict[BlobKey, BlobPlace]] = [{} for _ in data_files]
    for data_file, field_id, kind, file, offset, length, *more in whole["blobs"]:
        # Anything may stand there in another version: a figure to show, on which nothing hangs.
        passed = more[0] if more and type(more[0]) is int and 0 <= more[0] <= MILLION else None
        place = BlobPlace(files[_number(file)], _number(offset), _number(length), passed)
        blobs[_number(data_file)][_number(field_id), _text(kind)] = place
    refused: list[dict[BlobKey, str]] = [{} for _ in data_files]
    for data_file, field_id, kind, why, *_ in whole.get("refused", ()):
        refused[_number(data_file)][_number(field_id), _text(kind)] = _text(why)
    covered = {
        one.location: Covered(one, mine, theirs)
        for one, mine, theirs in zip(data_files, blobs, refused, strict=True)
        if mine or theirs
    }
    return Manifest(
        table_uuid,
        _number(whole["sequence"]),
        covered,
        _text(whole.get("written_by", "")),
        _text(whole.get("written_at", "")),
    )


def _data_file(row: list[Any]) -> DataFile:
    location, size, records, sequence, groups, *_ = row
    return DataFile(
        _text(location),
        _number(size),
        _number(records),
        None if sequence is None else _number(sequence),
        tuple((_number(offset), _number(rows)) for offset, rows, *_ in groups),
    )


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("not a number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
