"""What the indexes of a table of the small Iceberg lake say, read as an outsider reads them."""

from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from optimizer.indexes.domain import manifest as manifests
from optimizer.indexes.domain.bloom import Bloom
from optimizer.indexes.domain.byte_strings import ByteStrings
from optimizer.indexes.domain.envelope import Header, Kind, unwrap
from optimizer.indexes.domain.hashing import hash_bytes, hash_strings, hash_words
from optimizer.indexes.domain.manifest import Manifest
from tests.support.iceberg_lake import WrittenTable


def index(table: WrittenTable, *columns: str, **more: Any) -> dict[str, Any]:
    """Let the job index columns of a table, and return its result."""
    task = table.lake.task(table, kind="INDEX", index_columns=list(columns), **more)
    (result,) = table.lake.optimize(task)
    return result


def folder_of(table: WrittenTable) -> Path:
    return Path(table.opened.location.removeprefix("file:")) / "_lakewarden" / "indexes"


def names(table: WrittenTable, folder: str) -> list[str]:
    place = folder_of(table) / folder
    found = [path.name for path in place.iterdir()] if place.exists() else []
    return sorted(name for name in found if not name.endswith(".crc"))


def newest(table: WrittenTable) -> Manifest:
    found = manifests.newest(names(table, "manifests"))
    if not found:
        return Manifest(UUID(table.opened.uuid), 0)
    data = (folder_of(table) / "manifests" / found[-1]).read_bytes()
    return manifests.read(data, UUID(table.opened.uuid))


def blob(table: WrittenTable, location: str, field_id: int, kind: Kind) -> tuple[Header, bytes]:
    """Return header and body of an index, which must be whole and of just this data file."""
    manifest = newest(table)
    place = manifest.blob(location, field_id, kind)
    assert place is not None, (location, field_id, kind, manifest.covered)
    data = (folder_of(table) / "files" / place.file).read_bytes()
    found = unwrap(data[place.offset : place.offset + place.length])
    assert isinstance(found, tuple), found
    header, body = found
    assert header.location_hash == hash_bytes(location.encode())
    assert header.table_uuid == UUID(table.opened.uuid)
    assert header.rows == manifest.covered[location].data_file.records
    return header, body


def might_hold(table: WrittenTable, location: str, field_id: int, value: int | str) -> bool:
    """Whether the Bloom filter of a data file lets a value pass."""
    _, body = blob(table, location, field_id, Kind.BLOOM)
    if isinstance(value, str):
        hashes = hash_strings(ByteStrings.of([value.encode()]))
    else:
        hashes = hash_words(np.array([value], dtype=np.int64).view(np.uint64))
    return bool(Bloom.read(body).might_hold(hashes)[0])


def locations(table: WrittenTable, what: str = "data_files") -> set[str]:
    return {str(one["file_path"]) for one in table.files(what)}
