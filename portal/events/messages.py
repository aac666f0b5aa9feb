"""Parses one notification from Hive's JSON messages, plain (3.x) and packed (4.x).

Only what the platform needs of them is read: which table, which partitions, what a renamed table
was called. Anything that cannot be read is said so; the follower then has that table read again.
"""

import base64
import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from portal.events.names import former_name, partitions_named
from portal.lake.errors import RuleViolation

# What the guard in the metastore writes into the log about a change. Its columns name no table, so
# that those who follow a table by its name do not take the note for a second change.
POLICY_NOTE = "LAKEWARDEN_POLICY"
DROP_NOTE = "LAKEWARDEN_DROP"
NOTES = frozenset({POLICY_NOTE, DROP_NOTE})

_OF_PARTITIONS = ("_PARTITION", "INSERT")
_PLAIN = "json-0.2"
_PACKED = "gzip(json-2.0)"
# The metastore's own limit for what it sends is 100 MB, packed.
MOST_UNPACKED = 512 * 1024**2
# What json, base64, gzip and a message of another shape answer with.
_BROKEN = (
    *(ValueError, TypeError, LookupError, AttributeError, OSError, EOFError, zlib.error),
    RecursionError,  # nested deeper than Python reads
)


@dataclass(frozen=True, slots=True)
class LakeEvent:
    """One change in the metastore; `partitions` are Hive names (`k=v/k=v`), empty if none.

    A renamed partition is there by its former and its new name. `former` is the (database, table)
    that a renamed table had; `db` and `table` are its new ones.
    `message` is the whole message for those subscribers who read more of it.
    """

    lake: str
    id: int
    at: datetime
    type: str
    db: str
    table: str
    partitions: tuple[str, ...] = ()
    former: tuple[str, str] | None = None
    message: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def alters_table(self) -> bool:
        """Whether the table itself was made, changed or dropped, not only partitions or data."""
        return not self.type.endswith(_OF_PARTITIONS)

    @property
    def is_note(self) -> bool:
        """Whether the guard says something of a change, which has an event of its own."""
        return self.type in NOTES


def read_event(lake: str, raw: Any) -> LakeEvent:
    """Read a Thrift NotificationEvent.

    Raises:
        RuleViolation: `event.unreadable`, with what is wrong.
    """
    try:
        message = _message(raw.messageFormat or _PLAIN, raw.message)
        partitions, former = partitions_named(message), former_name(message)
    except (*_BROKEN, RuleViolation) as error:
        raise RuleViolation(
            "event.unreadable",
            f"Event {raw.eventId} ({raw.eventType}) cannot be read: {error}",
            event=raw.eventId,
        ) from error
    named = (raw.dbName, raw.tableName)
    if raw.eventType in NOTES:
        named = (message.get("db"), message.get("table"))
    return LakeEvent(
        lake,
        raw.eventId,
        datetime.fromtimestamp(raw.eventTime, tz=UTC),
        raw.eventType,
        named[0] or "",
        named[1] or "",
        partitions,
        former,
        message,
    )


def _message(message_format: str, text: str) -> dict[str, Any]:
    if message_format == _PACKED:
        text = _unpacked(base64.b64decode(text, validate=True)).decode()
    elif message_format != _PLAIN:
        raise ValueError(f"message format {message_format!r} is not known")
    message = json.loads(text)
    if not isinstance(message, dict):
        raise TypeError("it is no JSON object")
    return message


def _unpacked(packed: bytes) -> bytes:
    """Unpack a message; one of a few kilobytes may unpack to more than the memory there is."""
    with gzip.GzipFile(fileobj=BytesIO(packed)) as file:
        text = file.read(MOST_UNPACKED + 1)
    if len(text) > MOST_UNPACKED:
        raise ValueError(f"it unpacks to more than {MOST_UNPACKED} bytes")
    return text
