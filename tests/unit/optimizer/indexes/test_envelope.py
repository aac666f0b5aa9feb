"""Whatever does not agree with what a reader looks for yields a reason, never an error."""

import struct
import zlib
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.indexes.domain.envelope import (
    Expected,
    Flag,
    Form,
    Header,
    Kind,
    Refusal,
    refusal,
    unwrap,
    wrap,
)
from optimizer.indexes.domain.hashing import hash_bytes
from optimizer.indexes.domain.values import ColumnType, ValueClass

TABLE = UUID("11111111-2222-3333-4444-555555555555")
HEADER = Header(Form.BLOOM, ValueClass.DECIMAL, 7, 100, hash_bytes(b"a"), TABLE, Flag.NULLS, 2)
EXPECTED = Expected(TABLE, 7, hash_bytes(b"a"), 100, ColumnType(ValueClass.DECIMAL, 2, 9))


@given(st.binary(max_size=100))
def test_a_blob_is_read_back(body: bytes) -> None:
    assert unwrap(wrap(HEADER, body)) == (HEADER, body)


def test_a_blob_cut_at_any_byte_is_refused() -> None:
    blob = wrap(HEADER, bytes(range(40)))
    assert {unwrap(blob[:length]) for length in range(len(blob))} == {Refusal.CUT}


def test_a_blob_changed_at_any_byte_is_refused() -> None:
    blob = wrap(HEADER, bytes(range(40)))
    changed = (blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :] for at in range(len(blob)))
    assert all(isinstance(unwrap(one), Refusal) for one in changed)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    assert isinstance(unwrap(data), Refusal)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (replace(HEADER, table_uuid=UUID(int=1)), Refusal.TABLE),
        (replace(HEADER, field_id=8), Refusal.FIELD),
        (replace(HEADER, location_hash=1), Refusal.DATA_FILE),
        (replace(HEADER, rows=99), Refusal.DATA_FILE),
        (replace(HEADER, value_class=ValueClass.INTEGER), Refusal.TYPE),
        (replace(HEADER, scale=3), Refusal.TYPE),
    ],
)
def test_what_differs_is_named(other: Header, reason: Refusal) -> None:
    assert refusal(HEADER, EXPECTED) is None
    assert refusal(other, EXPECTED) == reason


@pytest.mark.parametrize(("at", "value"), [(4, 2), (5, 9), (6, 14), (7, 16)])
def test_what_a_later_version_wrote_is_named_newer(at: int, value: int) -> None:
    body = wrap(HEADER, b"body")[:-4]
    newer = body[:at] + bytes([value]) + body[at + 1 :]
    assert unwrap(newer + struct.pack("<I", zlib.crc32(newer))) == Refusal.NEWER


def test_forms_have_their_kinds() -> None:
    assert Form.BITMAP_SLICED.kind == Form.BITMAP_EQUALITY.kind == Kind.BITMAP
    assert Kind.NGRAM_BLOOM.blob_type == "lakewarden-ngram_bloom-v1"
