"""Checks again, before acting, that a move is still as approved and may happen now.

Gives the step that the intent will hold (generations before and after, files, what goes along), or
the reason why the item is left alone.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from lifecycle.backup.engine import facts
from lifecycle.backup.engine.facts import Policy
from lifecycle.backup.engine.files.file_refusal import file_refusal
from lifecycle.backup.engine.journal.records import ItemIntent, files_of
from lifecycle.backup.engine.move.records import (
    MOST_PARTITIONS,
    MoveItem,
    Step,
    covered,
    intent_facts,
    partitions_in,
    placed,
)
from lifecycle.backup.engine.protocol import Rules, Tools
from portal.connectors.metastore import to_json
from portal.connectors.name_services.crossing import crossing
from portal.lake.names import TableName
from portal.lake.paths import LakePath

_SAME = Policy(0, 0)


class MoveRules(Rules, Protocol):
    """What the room knows of its objects and of places."""

    def read(self, text: str) -> LakePath | None:
        """Read a registered location; None where it is no canonical path."""

    def place_refusal(self, table: Any, item: MoveItem) -> str | None:
        """Say why an item must not be moved as its table and database stand now, or None."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Where an item stands in its batch: its own name there, its table, and that table now."""

    item: str
    name: TableName
    table: Any


def metadata_refusal(item: MoveItem, table: Any, struct: Any, *, rules: MoveRules) -> str | None:
    """Say what of the metadata is not as approved, or None."""
    if struct is None:
        return "not registered any more"
    location = rules.location(table, struct if item.partition else None)
    if location is None:
        return "has no location"
    changed = facts.changes(
        item.token, generation=facts.generation_of(struct), location=location, policy=_SAME
    )
    if changed:
        return "; ".join(changed)
    if not rules.is_ready(struct):
        return facts.NOT_READY
    return rules.neighbour(table, item.partition, location) or rules.place_refusal(table, item)


def look_at(
    item: MoveItem, struct: Any, seat: Seat, *, rules: MoveRules, tools: Tools
) -> Step | str:
    """Look at files and target; returns the step, or why there is none."""
    source, target = LakePath.parse(item.source), LakePath.parse(item.target)
    files = files_of(tools.lister([source]).get(source, ()), root=source)
    reason = file_refusal(item.token, files, location=source, tools=tools)
    reason = reason or _target_refusal(target, tools=tools)
    if reason:
        return reason
    before = facts.generation_of(struct)
    after = placed(before, source, target, read=rules.read)
    if after == before:
        return "its registered location does not name its directory"
    inside: list[Any] = []
    if not item.partition:
        inside = partitions_in(tools.metastore, seat.name, seat.table, source, read=rules.read)
    if len(inside) > MOST_PARTITIONS:
        return f"{len(inside)} partitions are more than {MOST_PARTITIONS} to be moved at once"
    if not all(rules.is_ready(one) for one in inside):
        return f"of a partition in it {facts.NOT_READY}"
    along = covered(seat.table, inside, source, target, read=rules.read)
    intent = ItemIntent(
        item=seat.item,
        partition=item.partition,
        source=item.source,
        generation=before,
        metadata=to_json(struct),
        files=files,
        parents=(),
        facts=intent_facts(after, along, target=target),
    )
    return Step(intent, target, after, along)


def _target_refusal(target: LakePath, *, tools: Tools) -> str | None:
    if said := crossing(target, tools.fence.path):
        return f"no backup root on the file system of its new place: {said}"
    if tools.fs.status(target) is not None:
        return f"{target} is there already"
    return None if tools.fs.status(target.parent) is not None else f"{target.parent} is missing"
