"""Does a backup fit into a table that stands now, and what must stand above its new place?"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from portal.act.records import FileFact, ItemIntent
from portal.lake.paths import LakePath


def misfit(original: Any, live: Any) -> str:
    """Say why partitions of one Thrift table cannot become partitions of another; '' = they can.

    The other one may have more columns, but none of another type, and other partition keys never.
    """
    if _types(original.partitionKeys) != _types(live.partitionKeys):
        return "other partition keys"
    if _storage(original) != _storage(live):
        return "another file format"
    there = dict(_types(live.sd.cols))
    for name, type_name in _types(original.sd.cols):
        if name not in there:
            return f"no column {name}"
        if there[name] != type_name:
            return f"column {name} is {there[name]} there and {type_name} here"
    return ""


def parents_of_target(
    item: ItemIntent, target: LakePath, *, below: LakePath
) -> tuple[FileFact, ...]:
    """Give the directories from `below` down to a new place, each as the one it stands for was.

    The nearest directory above the old place lends its mode and owner to the nearest above the new.
    """
    facts = list(reversed(item.parents))
    found: list[FileFact] = []
    path = target.parent
    while facts and path != below and path.is_at_or_under(below):
        found.append(replace(facts[min(len(found), len(facts) - 1)], path=str(path)))
        path = path.parent
    return tuple(reversed(found))


def _types(fields: Iterable[Any] | None) -> list[tuple[str, str]]:
    return [(one.name.lower(), (one.type or "").lower()) for one in fields or ()]


def _storage(table: Any) -> tuple[str, str]:
    serde = table.sd.serdeInfo
    return table.sd.inputFormat or "", (serde.serializationLib or "") if serde else ""
