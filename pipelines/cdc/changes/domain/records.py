"""Records of the changelog: one JSON line each, the same in files and in Kafka.

Values travel as texts (`texts.py` says which), so that a record never depends on what the lake's
table has as type at that moment: the apply casts them, and what does not fit is kept, never NULL.
"""

from typing import Literal

import msgspec

from portal.lake.errors import RuleViolation

Row = dict[str, str | None]
"""Values of a row by column, as texts; None is NULL."""

Operation = Literal["c", "u", "d", "r"]
"""Created, updated, deleted, or read by a full load."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row's change. A change of its key is two: a delete, and a create one version later."""

    db: str
    table: str
    op: Operation
    version: int
    key: Row
    """Of the columns of the primary key; never NULL."""
    schema: int
    """Number of the table's schema (`schemas.TableSchema.number`) under which it was made."""
    position: str
    """Where its event ends, as `positions.Position` writes it."""
    at: int
    """When the source made it, in milliseconds since 1970; of a full load, when it was read."""
    before: Row | None = None
    """The whole row before an update or a delete."""
    after: Row | None = None
    """The whole row after a create, an update or a read; None of a delete."""


class Header(msgspec.Struct, frozen=True):
    """First line of a batch: what the source's log held from one position to another.

    A batch without changes says that there was nothing until `end`: it is the heartbeat.
    """

    source: str
    fence: int
    """Counts the captures of the log; a lower one after a higher one came of a stale process."""
    begin: str
    end: str
    at: int
    """When the batch was captured, in milliseconds since 1970."""
    n_changes: int
    loads: dict[str, str] = {}
    """Of each table in its full load (`db.table`): how far it has come, as JSON of `capture`."""
    total: int = 0
    """Changes of this batch and of all before it; what was read again counts again."""


_encoder = msgspec.json.Encoder(order="deterministic")
_changes = msgspec.json.Decoder(Change)
_headers = msgspec.json.Decoder(Header)


def encode(record: Change | Header) -> bytes:
    """Return a record as one line of JSON without its end; equal records are equal bytes."""
    return _encoder.encode(record)


def decode_change(line: bytes) -> Change:
    """Read a change.

    Raises:
        RuleViolation: `cdc.record`, where the line is none.
    """
    try:
        return _changes.decode(line)
    except msgspec.DecodeError as error:
        raise _refused(line, error) from error


def decode_header(line: bytes) -> Header:
    """Read a header.

    Raises:
        RuleViolation: `cdc.record`, where the line is none.
    """
    try:
        return _headers.decode(line)
    except msgspec.DecodeError as error:
        raise _refused(line, error) from error


def _refused(line: bytes, error: Exception) -> RuleViolation:
    # Nothing of the line is shown: it may have values that readers must not see.
    return RuleViolation(
        "cdc.record", f"A line of {len(line)} bytes is no record of a changelog: {error}."
    )
