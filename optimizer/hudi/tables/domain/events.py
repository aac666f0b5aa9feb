"""Parses what the metastore says of a Hudi table, in an event's message or a database row.

Spark's tables are told by their provider, those of other writers by their input format. A writer
that keeps the metastore in step registers one merge-on-read table up to three times at one place:
by its name, and as `_ro` and `_rt` for the two ways to read it. It is one table all the same, and
its services must not be run for each of its names.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from optimizer.hudi.inspect.domain.facts import PROPERTIES
from portal.lake.lines import fitted
from portal.lake.thrift_json import map_in, struct_in, text_in

PROVIDER = "spark.sql.sources.provider"
INPUT_FORMATS = ("org.apache.hudi.", "com.uber.hoodie.")
OWNER_CHARS = 128
_VIEWS = ("_ro", "_rt")
_DROPPED, _CREATED = "DROP_TABLE", "CREATE_TABLE"
EVENT_TYPES = frozenset({_CREATED, "ALTER_TABLE", _DROPPED})
# Fields of the metastore's Thrift structures.
_NAME, _DB, _OWNER, _STORAGE, _PARAMETERS = "1", "2", "3", "7", "9"
_LOCATION, _INPUT_FORMAT, _SERDE, _SERDE_PARAMETERS = "2", "3", "7", "3"


@dataclass(frozen=True, slots=True)
class HeardHudi:
    """A Hudi table as the metastore holds it; of its properties those that say who does what."""

    db: str
    table: str
    location: str
    owner: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """What tells its location from others."""
        return place_of(self.location)

    @property
    def rank(self) -> tuple[bool, int, str, str]:
        """Which of several names of one place is taken: the least, so those of views come last."""
        return (self.table.endswith(_VIEWS), len(self.table), self.db, self.table)


@dataclass(frozen=True, slots=True)
class HudiEvent:
    """What one event means for the tables by these names.

    `after` is the table as it is now, None where there is no Hudi table by the name any more.
    `former` is the (db, table) that a renamed table had until now; `gone_place` tells which table
    was dropped, where the message says it.
    """

    db: str
    table: str
    after: HeardHudi | None = None
    former: tuple[str, str] | None = None
    gone_place: str = ""


def place_of(location: str) -> str:
    """Return what tells a location from others, however it is spelled."""
    scheme, colon, path = location.partition(":")
    spelled = f"{scheme}:{path}" if colon else scheme
    if scheme == "file" and colon:
        spelled = f"file:/{path.lstrip('/')}"
    return sha256(spelled.rstrip("/").encode()).hexdigest()


def hudi_table(
    name: tuple[str, str],
    parameters: Mapping[str, str],
    *,
    input_format: str,
    location: str,
    path: str = "",
    owner: str = "",
) -> HeardHudi | None:
    """Read a table's signs; None where it is no Hudi table, or lies nowhere.

    `path` is the serde's: Spark keeps the place there of a table that Hive cannot read, and a
    place that does not exist in `location`.
    """
    provider = parameters.get(PROVIDER, "")
    if provider.strip().lower() != "hudi" and not input_format.startswith(INPUT_FORMATS):
        return None
    found = (path or location).rstrip("/")
    if not found:
        return None
    properties = {key: parameters[key] for key in PROPERTIES if key in parameters}
    return HeardHudi(*name, found, fitted(owner, OWNER_CHARS), properties)


def hudi_event(
    event_type: str,
    name: tuple[str, str],
    message: Mapping[str, Any],
    *,
    former: tuple[str, str] | None = None,
) -> HudiEvent | None:
    """Read what an event means; None where no Hudi table was ever concerned.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: a message of another form.
    """
    db, table = name
    if event_type == _DROPPED:
        text = message.get("tableObjJson")
        dropped = _table(text)
        if text and dropped is None:
            return None
        return HudiEvent(db, table, gone_place=dropped.place if dropped else "")
    is_new = event_type == _CREATED
    after = _table(message.get("tableObjJson" if is_new else "tableObjAfterJson"))
    before = None if is_new else _table(message.get("tableObjBeforeJson"))
    if after is None and before is None:
        return None
    return HudiEvent(db, table, after, former, before.place if before and not after else "")


def _table(text: Any) -> HeardHudi | None:
    # An object may have a thousand columns; most tables of a lake are of another format.
    if not text or not ("hudi" in text.lower() or "hoodie" in text):
        return None
    found = json.loads(text, strict=False)
    storage = struct_in(found, _STORAGE)
    return hudi_table(
        (text_in(found, _DB), text_in(found, _NAME)),
        map_in(found, _PARAMETERS),
        input_format=text_in(storage, _INPUT_FORMAT),
        location=text_in(storage, _LOCATION),
        path=map_in(struct_in(storage, _SERDE), _SERDE_PARAMETERS).get("path", ""),
        owner=text_in(found, _OWNER),
    )
