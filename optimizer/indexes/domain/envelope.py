"""The header and the checksum around an index's body, and why a blob is not used.

Reading is advisory: whatever does not agree with what the reader looks for yields a reason, never
an error.
"""

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum, IntFlag, StrEnum
from uuid import UUID

from optimizer.indexes.domain.values import ColumnType, ValueClass

MAGIC = b"LWIX"
VERSION = 1
MOST_BODY = (1 << 32) - 1
_HEAD = struct.Struct("<4sBBBBIIQ16sBBHI")
_CRC = struct.Struct("<I")


class Kind(StrEnum):
    """What an index is, as the manifest and the Puffin file name it."""

    BLOOM = "bloom"
    BITMAP = "bitmap"
    BLOOMRF = "bloomrf"
    WORD_BLOOM = "token_bloom"
    NGRAM_BLOOM = "ngram_bloom"
    WORD_BITMAP = "token_bitmap"
    NGRAM_BITMAP = "ngram_bitmap"

    @property
    def blob_type(self) -> str:
        """The type of its Puffin blob."""
        return f"lakewarden-{self.value}-v1"


class Form(IntEnum):
    """The form of a body, as the header names it; a bitmap has two."""

    BLOOM = 1
    BITMAP_EQUALITY = 2
    BITMAP_SLICED = 3
    BLOOMRF = 4
    WORD_BLOOM = 5
    NGRAM_BLOOM = 6
    WORD_BITMAP = 7
    NGRAM_BITMAP = 8

    @property
    def kind(self) -> Kind:
        """The kind of index that has this form."""
        return _KINDS[self]


_KINDS = {
    Form.BLOOM: Kind.BLOOM,
    Form.BITMAP_EQUALITY: Kind.BITMAP,
    Form.BITMAP_SLICED: Kind.BITMAP,
    Form.BLOOMRF: Kind.BLOOMRF,
    Form.WORD_BLOOM: Kind.WORD_BLOOM,
    Form.NGRAM_BLOOM: Kind.NGRAM_BLOOM,
    Form.WORD_BITMAP: Kind.WORD_BITMAP,
    Form.NGRAM_BITMAP: Kind.NGRAM_BITMAP,
}


class Flag(IntFlag):
    """What the header says of the column's values in this data file."""

    NULLS = 1
    NAN = 2
    FOLDED = 4
    ODD_LOWER = 8
    """Holds a letter that becomes ASCII when it is lowered: U+0130 or U+212A."""


NO_FLAGS = Flag(0)


class Refusal(StrEnum):
    """Why a blob is not used; the data file is read then."""

    CUT = "cut"
    FOREIGN = "foreign"
    NEWER = "newer"
    CHECKSUM = "checksum"
    TABLE = "table"
    FIELD = "field"
    DATA_FILE = "data_file"
    TYPE = "type"
    BODY = "body"


@dataclass(frozen=True)
class Header:
    """What stands before a body."""

    form: Form
    value_class: ValueClass
    field_id: int
    rows: int
    location_hash: int
    table_uuid: UUID
    flags: Flag = NO_FLAGS
    scale: int = 0
    n: int = 0


@dataclass(frozen=True)
class Expected:
    """What the reader looks for: this column of this data file of this table."""

    table_uuid: UUID
    field_id: int
    location_hash: int
    rows: int
    type: ColumnType


def wrap(header: Header, body: bytes) -> bytes:
    """Return the blob of a body."""
    if len(body) > MOST_BODY:
        raise ValueError("a body has less than 4 GiB")
    head = _HEAD.pack(
        MAGIC,
        VERSION,
        header.form,
        header.value_class,
        header.flags,
        header.field_id,
        header.rows,
        header.location_hash,
        header.table_uuid.bytes,
        header.scale,
        header.n,
        0,
        len(body),
    )
    checksum = zlib.crc32(body, zlib.crc32(head))
    return b"".join([head, body, _CRC.pack(checksum)])


def unwrap(blob: bytes) -> tuple[Header, bytes] | Refusal:
    """Return the header and the body of a blob, or why it cannot be used."""
    if len(blob) < _HEAD.size + _CRC.size:
        return Refusal.CUT
    magic, version, form, kind, flags, *rest = _HEAD.unpack_from(blob)
    field_id, rows, location_hash, table, scale, n, _, length = rest
    if magic != MAGIC:
        return Refusal.FOREIGN
    if len(blob) != _HEAD.size + length + _CRC.size:
        return Refusal.CUT
    if zlib.crc32(blob[: -_CRC.size]) != _CRC.unpack(blob[-_CRC.size :])[0]:
        return Refusal.CHECKSUM
    if version != VERSION or form not in _FORMS or kind not in _CLASSES or flags & ~_FLAGS:
        return Refusal.NEWER
    header = Header(
        Form(form),
        ValueClass(kind),
        field_id,
        rows,
        location_hash,
        UUID(bytes=table),
        Flag(flags),
        scale,
        n,
    )
    return header, blob[_HEAD.size : -_CRC.size]


_FORMS = frozenset(Form)
_CLASSES = frozenset(ValueClass)
_FLAGS = int(Flag.NULLS | Flag.NAN | Flag.FOLDED | Flag.ODD_LOWER)


def refusal(header: Header, expected: Expected) -> Refusal | None:
    """Return why the blob of this header does not answer for what is looked for, if it does not."""
    if header.table_uuid != expected.table_uuid:
        return Refusal.TABLE
    if header.field_id != expected.field_id:
        return Refusal.FIELD
    if (header.location_hash, header.rows) != (expected.location_hash, expected.rows):
        return Refusal.DATA_FILE
    if header.value_class != expected.type.value_class:
        return Refusal.TYPE
    if header.value_class == ValueClass.DECIMAL and header.scale != expected.type.scale:
        return Refusal.TYPE
    return None
