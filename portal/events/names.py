"""Extracts partitions, locations and a table's former name from Hive messages. Pure.

Added and dropped partitions stand there as maps in the order of the table's keys. A changed or
written one is a Thrift object in JSON (numbered fields), its keys are those of the table beside it.
Only the fields needed are read: an object may have a thousand columns, and events come by hundreds.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from portal.lake.names import PartitionName

# A rename has two objects with different values; an INSERT has one, or none without partitions.
_OBJECTS = ("partitionObjBeforeJson", "partitionObjAfterJson", "ptnObjJson")
# Fields of the metastore's Thrift structures.
_PARTITION_VALUES = "1"
_TABLE_NAME, _TABLE_DB, _TABLE_STORAGE, _TABLE_KEYS = "1", "2", "7", "8"
_PARTITION_STORAGE = "6"
_LOCATION = "2"
_KEY_NAME = "1"


def partitions_named(message: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the Hive names (`k=v/k=v`) of all partitions the message is about, each once.

    A renamed partition gives its former and its new name.

    Raises:
        RuleViolation, LookupError, TypeError, ValueError, AttributeError: it has another form.
    """
    maps = message.get("partitions") or ()
    names = [_name(tuple(one), tuple(one.values())) for one in maps]
    texts = [text for key in _OBJECTS if (text := message.get(key))]
    if texts:
        keys = _keys(message["tableObjJson"])
        names += [_name(keys, _list(_object(text), _PARTITION_VALUES)) for text in texts]
    return tuple(dict.fromkeys(names))


def former_name(message: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the (database, table) that a renamed or moved table was until now, else None.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: an object has another form.
    """
    texts = [message.get(f"tableObj{when}Json") for when in ("Before", "After")]
    if not all(texts):
        return None
    before, after = (_table_name(_object(text)) for text in texts)
    return None if before == after else before


def stray_places(message: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the locations of added or changed partitions that do not lie below their table.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: an object has another form.
    """
    texts = [*(message.get("partitionListJson") or ()), message.get("partitionObjAfterJson")]
    found = [_location(_object(text), _PARTITION_STORAGE) for text in texts if text]
    if not found:
        return ()
    home = _location(_object(message["tableObjJson"]), _TABLE_STORAGE).rstrip("/") + "/"
    return tuple(place for place in found if ".." in place or not place.startswith(home))


def _location(struct: Mapping[str, Any], storage: str) -> str:
    return str(struct[storage]["rec"].get(_LOCATION, {}).get("str", ""))


def _name(keys: Sequence[str], values: Iterable[str]) -> str:
    return str(PartitionName.stored(keys, values))


def _keys(table: Any) -> list[str]:
    return [str(key[_KEY_NAME]["str"]) for key in _list(_object(table), _TABLE_KEYS)]


def _table_name(table: Mapping[str, Any]) -> tuple[str, str]:
    return str(table[_TABLE_DB]["str"]), str(table[_TABLE_NAME]["str"])


def _object(text: Any) -> Any:
    # Not every writer of Thrift's JSON escapes control characters; Java's does.
    return json.loads(text, strict=False)


def _list(struct: Mapping[str, Any], field: str) -> list[Any]:
    """Return a list's elements; Thrift writes their type and number before them."""
    found: list[Any] = struct[field]["lst"]
    return found[2:]
