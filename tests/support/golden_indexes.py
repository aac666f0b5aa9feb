"""Writes the golden index files: one Puffin file, its manifest, and what every reader must answer.

`python -m tests.support.golden_indexes` writes them to tests/golden/indexes. Every reader (the
portal's, the JVM's) answers the probes of expected.json from the other two files. A 64-bit number
stands as text "0x…"; a value as in `plain`: decimals unscaled, floats as text, binaries as hex.
"""

import json
import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np

from optimizer.indexes.domain.bloom import Bloom, BloomBuilder
from optimizer.indexes.domain.envelope import Flag, Form, Header, wrap
from optimizer.indexes.domain.hashing import hash_bytes, mix
from optimizer.indexes.domain.manifest import (
    BlobPlace,
    Covered,
    DataFile,
    Manifest,
    manifest_name,
    write,
)
from optimizer.indexes.domain.puffin import PuffinWriter
from optimizer.indexes.domain.values import (
    ColumnType,
    ValueClass,
    order_numbers,
    value_hashes,
)
from tests.support.golden_columns import COLUMNS, ROWS, Column
from tests.support.index_values import Plain, plain_bytes, values_of

FOLDER = Path(__file__).parents[1] / "golden" / "indexes"
TABLE = UUID("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
LOCATION = "s3://lake/shop.db/orders/data/day=2026-11-25/größe-00000.parquet"
PUFFIN = "00000000-0000-0000-0000-000000000018.puffin"
MANIFEST = manifest_name(12, UUID(int=18))
DATA_FILE = DataFile(LOCATION, 123_456, ROWS, 3, ((4, 40), (70_000, 20)))


def plain(kind: ColumnType, value: Plain | None) -> object:
    """Return a value as it stands in expected.json."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), str(value))
    if isinstance(value, Decimal):
        return str(int(value.scaleb(kind.scale)))
    return str(value) if isinstance(value, UUID) else value.hex()


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


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _flags(column: Column) -> Flag:
    flags = Flag.NULLS if None in column.values else Flag(0)
    return flags | (Flag.NAN if any(map(_is_nan, column.values)) else Flag(0))


def _bloom(column: Column) -> bytes:
    builder = BloomBuilder(12)
    builder.add(value_hashes(values_of(column.type, column.values).without_nulls()))
    return builder.finish()


def _bloom_probes(column: Column, body: bytes) -> Iterator[dict[str, object]]:
    read = Bloom.read(body)
    for value in [*dict.fromkeys(column.values), *column.absent]:
        if value is not None:
            found = read.might_hold(value_hashes(values_of(column.type, [value])))[0]
            yield {
                "op": "=",
                "value": plain(column.type, value),
                "answer": "keep" if found else "drop",
                "rows": None,
            }


def _blobs() -> Iterator[tuple[str, Column, Form, bytes, list[dict[str, object]]]]:
    for column in COLUMNS:
        if column.type.value_class != ValueClass.BOOLEAN:
            body = _bloom(column)
            probes = list(_bloom_probes(column, body))
            yield f"{column.name}_bloom", column, Form.BLOOM, body, probes


def files() -> Mapping[str, bytes]:
    """Return the golden files by name."""
    puffin = PuffinWriter(snapshot_id=4_711_000_000_000_000_001, sequence_number=3)
    parts, places = [puffin.start()], {}
    listed: list[dict[str, object]] = []
    probes: list[dict[str, object]] = []
    for name, column, form, body, answers in _blobs():
        kind = column.type.value_class
        header = Header(
            form,
            kind,
            column.field_id,
            ROWS,
            hash_bytes(LOCATION.encode()),
            TABLE,
            _flags(column),
            column.type.scale,
        )
        blob = wrap(header, body)
        offset = puffin.blob(
            form.kind.blob_type, column.field_id, len(blob), {"data-file": LOCATION}
        )
        parts.append(blob)
        places[column.field_id, form.kind.value] = BlobPlace(PUFFIN, offset, len(blob))
        listed.append(
            {
                "name": name,
                "kind": form.kind.value,
                "form": int(form),
                "class": int(kind),
                "type": column.iceberg_type,
                "field_id": column.field_id,
                "offset": offset,
                "length": len(blob),
            }
        )
        probes += [{"blob": name, **answer} for answer in answers]
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
        "expected.json": _expected(listed, probes),
    }


def _expected(listed: list[dict[str, object]], probes: list[dict[str, object]]) -> bytes:
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
    }
    lines = []
    for key, value in whole.items():
        if isinstance(value, list):
            rows = ",\n".join(json.dumps(one, ensure_ascii=False) for one in value)
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
