"""Writes blobs as a Puffin file of Iceberg, piece by piece and with the offset of each blob."""

import json
import struct
from collections.abc import Iterator, Mapping

MAGIC = b"PFA1"
_TAIL = struct.Struct("<I4x4s")
CREATED_BY = "Lakewarden"


class PuffinWriter:
    """Yields the bytes of a Puffin file: `start`, `blob` for each blob, `finish`.

    The caller writes what each returns, in order; nothing of a blob is held here.
    """

    def __init__(self, *, snapshot_id: int, sequence_number: int) -> None:
        self._snapshot = snapshot_id
        self._sequence = sequence_number
        self._blobs: list[dict[str, object]] = []
        self._offset = len(MAGIC)

    def start(self) -> bytes:
        """Return what a file begins with."""
        return MAGIC

    def blob(
        self, blob_type: str, field_id: int, length: int, properties: Mapping[str, str]
    ) -> int:
        """Note a blob of this length, which the caller writes next, and return its offset."""
        offset = self._offset
        self._blobs.append(
            {
                "type": blob_type,
                "fields": [field_id],
                "snapshot-id": self._snapshot,
                "sequence-number": self._sequence,
                "offset": offset,
                "length": length,
                "properties": dict(properties),
            }
        )
        self._offset += length
        return offset

    def finish(self) -> bytes:
        """Return the footer, which ends the file."""
        payload = json.dumps(
            {"blobs": self._blobs, "properties": {"created-by": CREATED_BY}},
            separators=(",", ":"),
            ensure_ascii=False,
        ).encode()
        return MAGIC + payload + _TAIL.pack(len(payload), MAGIC)


def footer_blobs(data: bytes) -> Iterator[tuple[str, int, int, int]]:
    """Yield type, field id, offset and length of each blob of a whole Puffin file.

    Raises:
        ValueError: When the bytes are no Puffin file with a plain footer.
    """
    if len(data) < 3 * len(MAGIC) + 8 or data[:4] != MAGIC or data[-4:] != MAGIC:
        raise ValueError("not a Puffin file")
    length = _TAIL.unpack(data[-_TAIL.size :])[0]
    start = len(data) - _TAIL.size - length
    if start < 2 * len(MAGIC) or data[start - 4 : start] != MAGIC or any(data[-8:-4]):
        raise ValueError("not a footer of plain JSON")
    for blob in json.loads(data[start : start + length])["blobs"]:
        yield blob["type"], blob["fields"][0], blob["offset"], blob["length"]
