"""Index blobs written key by key as docs/indexes.md says: slow, and independent of the builder."""

import struct
import uuid
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import xxhash
from pyroaring import BitMap

from optimizer.indexes.domain.values import ColumnType, ValueClass
from tests.support.index_values import Plain, plain_bytes

_ALL = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_DELTAS = (7, 7, 7, 7, 7, 7, 7, 7)
_FORMS = {
    "bloom": 1,
    "bitmap": 2,
    "bitmap sliced": 3,
    "bloomrf": 4,
    "token_bloom": 5,
    "ngram_bloom": 6,
    "token_bitmap": 7,
    "ngram_bitmap": 8,
}
_STRINGS = {ValueClass.BINARY, ValueClass.STRING, ValueClass.UUID}


@dataclass(frozen=True)
class BlobOf:
    """What a blob is of."""

    table: uuid.UUID
    location: str
    field_id: int
    type: ColumnType


def _mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & _ALL
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & _ALL
    return x ^ x >> 31


def _hash(data: bytes) -> int:
    return int(xxhash.xxh64_intdigest(data, seed=42))


def _bloom(keys: Iterable[bytes]) -> bytes:
    distinct = set(keys)
    m = (len(distinct) * 16 + 63) // 64 * 64
    bits = bytearray(m // 8)
    for key in distinct:
        h1 = _hash(key)
        h2 = _mix(h1 ^ _GOLDEN) | 1
        for i in range(8):
            bit = (h1 + i * h2 & _ALL) % m
            bits[bit >> 3] |= 1 << (bit & 7)
    return struct.pack("<B7xQQ", 8, m, len(distinct)) + bytes(bits)


def _order(kind: ColumnType, data: bytes) -> int:
    match kind.value_class:
        case ValueClass.STRING | ValueClass.BINARY | ValueClass.UUID:
            return int.from_bytes(data[:8].ljust(8, b"\0"), "big")
        case ValueClass.DECIMAL:
            return int.from_bytes(data, "big", signed=True) + (1 << 63)
        case ValueClass.BOOLEAN:
            return data[0]
        case ValueClass.FLOAT:
            bits = int.from_bytes(data, "little")
            return bits ^ _ALL if bits >> 63 else bits | 1 << 63
        case _:
            return int.from_bytes(data, "little", signed=True) + (1 << 63)


def _bloomrf(numbers: Iterable[int]) -> bytes:
    keys = set(numbers)
    low, high = (min(keys), max(keys)) if keys else (0, 0)
    m = (len(keys) * 16 * 2 + 127) // 128 * 128
    bits = bytearray(m // 8)
    for x in (key - low for key in keys):
        base = 0
        for i, delta in enumerate(_DELTAS):
            p, word = x >> base, 1 << delta - 1
            at = _mix((p >> delta - 1) + (i + 1) * _GOLDEN & _ALL) % (m // word)
            bit = at * word + p % word
            bits[bit >> 3] |= 1 << (bit & 7)
            base += delta
    head = struct.pack("<B15B", len(_DELTAS), *_DELTAS, *[0] * (15 - len(_DELTAS)))
    return head + struct.pack("<QQQQ", low, high, m, len(keys)) + bytes(bits)


def _bitmap(
    keys: Sequence[Iterable[bytes]],
    spelling: Callable[[bytes], bytes],
    *,
    spelt: Callable[[bytes], bytes],
    nulls: Iterable[int],
    sliced: bool,
) -> bytes:
    rows: dict[bytes, BitMap] = {}
    for row, mine in enumerate(keys):
        for key in mine:
            rows.setdefault(spelling(key), BitMap()).add(row)
    # Numbers stand big-endian till here, so that all kinds of keys sort as bytes.
    ordered = sorted(rows)
    dictionary = b"".join(map(spelt, ordered))
    none = BitMap(nulls).serialize()
    head = struct.pack("<II", len(ordered), len(dictionary)) + dictionary
    head += struct.pack("<I", len(none)) + none
    if sliced:
        width = max(0, len(ordered) - 1).bit_length()
        slices = [
            BitMap.union(BitMap(), *(rows[key] for r, key in enumerate(ordered) if r >> j & 1))
            for j in range(width)
        ]
        parts = [one.serialize() for one in slices]
        return (
            head
            + struct.pack("<I", width)
            + b"".join(struct.pack("<I", len(part)) + part for part in parts)
        )
    parts = [rows[key].serialize() for key in ordered]
    offsets = [0]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return head + struct.pack(f"<{len(offsets)}I", *offsets) + b"".join(parts)


def _folded(text: str) -> str:
    return "".join(c.lower() if "A" <= c <= "Z" else c for c in text)


def words(text: str) -> set[bytes]:
    """Return the words of a text as an index holds them."""
    apart = "".join(c if c.isascii() and c.isalnum() else " " for c in _folded(text))
    return {word[:256].encode() for word in apart.split()}


def windows(text: str, n: int) -> set[bytes]:
    """Return the windows of n code points of a text, as their numbers' bytes."""
    points = [ord(c) for c in _folded(text)]
    found = set()
    for i in range(len(points) - n + 1):
        number = 0
        for c in points[i : i + n]:
            number = number << 21 | c
        found.add(struct.pack("<Q", number))
    return found


def blob(kind: str, of: BlobOf, column: Sequence[Plain | None], *, n: int = 2) -> bytes:
    """Return a whole blob; `kind` as in the manifest, or "bitmap sliced"."""
    flags = 1 if None in column else 0
    if kind.startswith(("token", "ngram")):
        texts = [None if one is None else str(one) for one in column]
        flags |= 4 | (8 if any(set(text or "") & set("İK") for text in texts) else 0)
        cut = words if kind.startswith("token") else lambda text: windows(text, n)
        keys: list[set[bytes]] = [set() if text is None else cut(text) for text in texts]
    else:
        keys = [set() if one is None else {plain_bytes(of.type, one)} for one in column]
    nulls = [row for row, one in enumerate(column) if one is None]
    body = _body(kind, of.type, keys, nulls)
    head = struct.pack(
        "<4sBBBBIIQ16sBBHI",
        b"LWIX",
        1,
        _FORMS[kind],
        of.type.value_class,
        flags,
        of.field_id,
        len(column),
        _hash(of.location.encode()),
        of.table.bytes,
        of.type.scale,
        n if kind.startswith("ngram") else 0,
        0,
        len(body),
    )
    return sealed(head + body)


def sealed(data: bytes) -> bytes:
    """Return the bytes with their checksum behind them."""
    return data + struct.pack("<I", zlib.crc32(data))


def _body(kind: str, of: ColumnType, keys: Sequence[set[bytes]], nulls: list[int]) -> bytes:
    flat = [key for mine in keys for key in mine]
    if kind.endswith("bloom"):
        return _bloom(flat)
    if kind == "bloomrf":
        return _bloomrf(_order(of, key) for key in flat)
    sliced = kind.endswith("sliced")
    if kind.startswith("ngram"):
        return _bitmap(keys, _turned, spelt=_turned, nulls=nulls, sliced=sliced)
    if of.value_class == ValueClass.DECIMAL:
        return _bitmap(keys, _decimal, spelt=bytes, nulls=nulls, sliced=sliced)
    if of.value_class in _STRINGS:
        return _bitmap(keys, bytes, spelt=_counted, nulls=nulls, sliced=sliced)
    return _bitmap(
        keys,
        lambda key: _order(of, key).to_bytes(8, "big"),
        spelt=_turned,
        nulls=nulls,
        sliced=sliced,
    )


def _turned(number: bytes) -> bytes:
    return number[::-1]


def _counted(key: bytes) -> bytes:
    return struct.pack("<I", len(key)) + key


def _decimal(key: bytes) -> bytes:
    return (int.from_bytes(key, "big", signed=True) + (1 << 127)).to_bytes(16, "big")
