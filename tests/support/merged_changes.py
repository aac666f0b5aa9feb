"""Merges batches of changes into a table by version: the reference of what the Spark job does.

Any order, any repetition and any division into batches of the same changes gives the same rows and
the same tombstones. A late old version after a delete would bring the key back, so every delete
leaves its version as a tombstone.
"""

from collections.abc import Iterable

import msgspec

from pipelines.cdc.changes.domain.records import Change, Row

Key = tuple[tuple[str, str | None], ...]
"""The columns of a key with their texts, by name."""


class TableState(msgspec.Struct, frozen=True):
    """A table: each key's row with its version, and the version of each key's newest delete."""

    rows: dict[Key, tuple[int, Row]] = {}
    tombstones: dict[Key, int] = {}


class Merged(msgspec.Struct, frozen=True):
    """A table after a batch, and the records that contradict another of their version."""

    state: TableState
    quarantined: tuple[Change, ...] = ()


def key_of(change: Change) -> Key:
    """Return a change's key in a form that can be compared."""
    return tuple(sorted(change.key.items()))


def merge(state: TableState, batch: Iterable[Change]) -> Merged:
    """Return the table after a batch of its changes.

    Of records with the same key and version, but another content, the first holds and the others
    are quarantined: one of them is wrong, and only the source knows which.
    """
    rows, tombstones = dict(state.rows), dict(state.tombstones)
    quarantined: list[Change] = []
    for change in batch:
        key = key_of(change)
        held, deleted = rows.get(key), tombstones.get(key, -1)
        if _contradicts(change, held, deleted):
            quarantined.append(change)
            continue
        if change.after is None:
            tombstones[key] = max(deleted, change.version)
            if held is not None and held[0] < change.version:
                del rows[key]
        elif change.version > deleted and (held is None or held[0] < change.version):
            rows[key] = (change.version, change.after)
    return Merged(TableState(rows, tombstones), tuple(quarantined))


def _contradicts(change: Change, held: tuple[int, Row] | None, deleted: int) -> bool:
    if held is not None and held[0] == change.version:
        return held[1] != change.after
    return deleted == change.version and change.after is not None
