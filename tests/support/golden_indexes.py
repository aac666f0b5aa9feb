"""Writes the golden index files: one Puffin file, its manifest, and what every reader must answer.

`python -m tests.support.golden_indexes` writes them to tests/golden/indexes. Every reader (the
portal's, the JVM's) answers the probes of expected.json from the other two files. A 64-bit number
stands as text "0x…"; a value as in `plain`: decimals unscaled, floats as text, binaries as hex.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import UUID

import numpy as np

from optimizer.indexes.domain.bitmaps.building import BitmapBuilder
from optimizer.indexes.domain.builders import Built, IndexBuilder, Wanted, blob_of, unfit
from optimizer.indexes.domain.envelope import NO_FLAGS, Expected, Flag, Kind
from optimizer.indexes.domain.hashing import hash_bytes, mix
from optimizer.indexes.domain.leaf_probes import Opened
from optimizer.indexes.domain.manifest import (
    BlobPlace,
    Covered,
    DataFile,
    Manifest,
    manifest_name,
    write,
)
from optimizer.indexes.domain.probing import opened
from optimizer.indexes.domain.puffin import PuffinWriter
from optimizer.indexes.domain.values import order_numbers
from tests.support.golden_columns import COLUMNS, ROWS, Column
from tests.support.golden_probes import plain, probes_of, tree_probes
from tests.support.index_values import plain_bytes, values_of

FOLDER = Path(__file__).parents[1] / "golden" / "indexes"
TABLE = UUID("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
LOCATION = "s3://lake/shop.db/orders/data/day=2026-11-25/größe-00000.parquet"
PUFFIN = "00000000-0000-0000-0000-000000000018.puffin"
MANIFEST = manifest_name(12, UUID(int=18))
SLICED = ("id", "ratio", "huge", "name")
"""The columns whose bitmap is sliced; the others' go by equality."""
DATA_FILE = DataFile(LOCATION, 123_456, ROWS, 3, ((4, 25), (70_000, 15)))


def _hex(number: int) -> str:
    return f"0x{number:016x}"


def _vectors() -> Iterator[dict[str, object]]:
    for column in COLUMNS:
        for value in dict.fromkeys(map(repr, column.values)):
            one = next(found for found in column.values if repr(found) == value)
            if one is None:
                continue
            values = values_of(column.type, [one])
            raw = plain_bytes(column.type, one)
            order = _hex(int(order_numbers(values)[0])) if column.type.has_order else None
            yield {
                "column": column.name,
                "value": plain(column.type, one),
                "bytes": raw.hex(),
                "hash": _hex(hash_bytes(raw)),
                "order": order,
            }


def _wanted(column: Column) -> Iterator[Wanted]:
    if column.name not in {"line", "odd"}:
        for kind in (Kind.BLOOM, Kind.BITMAP, Kind.BLOOMRF):
            if unfit(column.type, kind) is None:
                yield Wanted(kind, bits_a_key=16 if kind == Kind.BLOOMRF else 12)
        return
    for kind, n in ((Kind.WORD_BLOOM, 0), (Kind.WORD_BITMAP, 0)):
        yield Wanted(kind, bits_a_key=12, n=n)
    yield Wanted(Kind.NGRAM_BLOOM, bits_a_key=12, n=3)
    yield Wanted(Kind.NGRAM_BITMAP, n=2 if column.name == "line" else 1)


def _built(column: Column, wanted: Wanted) -> Built:
    values = values_of(column.type, column.values)
    if wanted.kind == Kind.BITMAP and column.name in SLICED:
        builder = BitmapBuilder(column.type, by_equality=-1)
        builder.add(values)
        form, body = builder.finish()
        return Built(form, body, Flag.NULLS if None in column.values else NO_FLAGS)
    made = IndexBuilder(column.type, wanted)
    made.add(values)
    built = made.finish()
    if not isinstance(built, Built):
        raise TypeError(built.detail)
    return built


def _expected_of(column: Column) -> Expected:
    return Expected(TABLE, column.field_id, hash_bytes(LOCATION.encode()), ROWS, column.type)


def files() -> Mapping[str, bytes]:
    """Return the golden files by name."""
    puffin = PuffinWriter(snapshot_id=4_711_000_000_000_000_001, sequence_number=3)
    parts, places = [puffin.start()], {}
    listed: list[dict[str, object]] = []
    probes: list[dict[str, object]] = []
    indexes: dict[str, Opened] = {}
    for column in COLUMNS:
        for wanted in _wanted(column):
            built = _built(column, wanted)
            blob = blob_of(built, _expected_of(column))
            offset = puffin.blob(
                wanted.kind.blob_type, column.field_id, len(blob), {"data-file": LOCATION}
            )
            parts.append(blob)
            places[column.field_id, wanted.kind.value] = BlobPlace(PUFFIN, offset, len(blob))
            name = f"{column.name}_{wanted.kind.value}"
            listed.append(
                {
                    "name": name,
                    "kind": wanted.kind.value,
                    "form": int(built.form),
                    "class": int(column.type.value_class),
                    "type": column.iceberg_type,
                    "field_id": column.field_id,
                    "flags": int(built.flags),
                    "n": built.n,
                    "offset": offset,
                    "length": len(blob),
                }
            )
            index = opened(blob, _expected_of(column))
            if not isinstance(index, Opened):
                raise TypeError(index)
            indexes[name] = index
            probes += [{"blob": name, **one} for one in probes_of(column, index)]
    parts.append(puffin.finish())
    manifest = Manifest(
        TABLE,
        12,
        {LOCATION: Covered(DATA_FILE, places)},
        "lakewarden golden",
        "2026-11-25T16:00:00Z",
    )
    return {
        PUFFIN: b"".join(parts),
        MANIFEST: write(manifest),
        "expected.json": _expected(listed, probes, list(tree_probes(indexes))),
    }


def _expected(
    listed: list[dict[str, object]],
    probes: list[dict[str, object]],
    trees: list[dict[str, object]],
) -> bytes:
    mixed = [0, 1, 0x9E3779B97F4A7C15, 2**64 - 1]
    whole = {
        "table_uuid": str(TABLE),
        "manifest": MANIFEST,
        "puffin": PUFFIN,
        "data_file": {
            "location": LOCATION,
            "location_hash": _hex(hash_bytes(LOCATION.encode())),
            "size": DATA_FILE.size,
            "records": DATA_FILE.records,
            "sequence": DATA_FILE.sequence,
            "row_groups": DATA_FILE.row_groups,
        },
        "mix": [
            [_hex(before), _hex(after)]
            for before, after in zip(mixed, mix(np.array(mixed, np.uint64)).tolist(), strict=True)
        ],
        "columns": [
            {
                "name": column.name,
                "field_id": column.field_id,
                "type": column.iceberg_type,
                "values": [plain(column.type, one) for one in column.values],
            }
            for column in COLUMNS
        ],
        "values": list(_vectors()),
        "blobs": listed,
        "probes": probes,
        "trees": trees,
    }
    lines = []
    for key, value in whole.items():
        if isinstance(value, list):
            rows = ",\n".join(
                json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in value
            )
            lines.append(f"{json.dumps(key)}: [\n{rows}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def main() -> None:
    """Write the files that differ, and remove others."""
    written = files()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.iterdir():
        if old.name not in written:
            old.unlink()
    for name, data in written.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
