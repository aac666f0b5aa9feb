"""What the instants of a Hudi timeline mean for a reader of changes.

Instants are compared by the time at which they were requested, as reads at an instant do. So a
position never passes a commit that is still being written: it would change what was read.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo

import msgspec

from pipelines.commits.domain.positions import (
    NOTHING,
    Kind,
    Meaning,
    Position,
    full,
    same_table,
)
from portal.lake.formats import HUDI_SAME_ROWS

COMMITS = frozenset({"commit", "deltacommit", "replacecommit", "clustering", "compaction"})
SERVICES = frozenset({"compaction", "logcompaction", "clustering", "indexing"})
"""Actions that are still to be done and will change no row."""
_DIGITS = 17
_LOGGED = frozenset(
    {"UPSERT", "INSERT", "BULK_INSERT", "DELETE", "UPSERT_PREPPED", "DELETE_PREPPED"}
)
"""Operations whose images Hudi keeps; others replace whole partitions."""


class Commit(msgspec.Struct, frozen=True):
    """One instant that a writer or a service made."""

    instant: str
    action: str
    completed: str = ""
    """When it was completed, in the form of an instant; empty: it is not."""
    operation: str = ""
    partitions: tuple[str, ...] = ()
    """Paths of the partitions whose files it wrote or replaced."""
    n_bytes: int = 0


class Clean(msgspec.Struct, frozen=True):
    """A clean: what was to be read at `keeps_from` or later still can be; empty: not known."""

    instant: str
    keeps_from: str = ""


class Rollback(msgspec.Struct, frozen=True):
    """A rollback or restore, and the instants that it undid."""

    instant: str
    undone: tuple[str, ...]


class Timeline(msgspec.Struct, frozen=True):
    """The active timeline, each list in the order of instants."""

    commits: tuple[Commit, ...] = ()
    cleans: tuple[Clean, ...] = ()
    rollbacks: tuple[Rollback, ...] = ()


class Changed(msgspec.Struct, frozen=True):
    """What the commits between two positions mean, and which of them changed rows."""

    meaning: Meaning
    commits: tuple[Commit, ...] = ()
    is_logged: bool = False
    """Whether images of changed rows may be read by the times at which commits were completed."""
    began: str = ""
    """When the newest commit before them was completed."""

    @property
    def partitions(self) -> tuple[str, ...]:
        """Paths of the partitions that they changed."""
        return tuple(sorted({path for one in self.commits for path in one.partitions}))


def newest(timeline: Timeline) -> str:
    """Return the newest completed commit before which nothing is still being written."""
    found = ""
    for one in timeline.commits:
        if one.completed:
            found = one.instant
        elif one.action not in SERVICES:
            break
    return found


def changed(timeline: Timeline, after: Position, upto: Position) -> Changed:
    """Return what the commits after one position up to another mean."""
    known = same_table(after, upto) or _lost(timeline, after.commit)
    if known is not None:
        return Changed(known)
    done = [one for one in timeline.commits if one.completed]
    between = [one for one in done if after.commit < one.instant <= upto.commit]
    rows = tuple(one for one in between if one.operation not in HUDI_SAME_ROWS)
    if not rows:
        return Changed(NOTHING)
    began = max(one.completed for one in done if one.instant <= after.commit)
    last = max(one.completed for one in between)
    later = [one for one in done if one.instant > upto.commit]
    # By completion time the same commits are read only where none overtook another.
    is_apart = all(one.completed > began for one in between) and all(
        one.completed > last for one in later
    )
    return Changed(
        Meaning(Kind.CHANGES, n_commits=len(rows)),
        rows,
        is_apart and all(one.operation in _LOGGED for one in rows),
        began,
    )


def _lost(timeline: Timeline, instant: str) -> Meaning | None:
    """Return why a table cannot be read any more as it was at an instant."""
    undone = _undone(timeline.rollbacks, instant)
    if undone:
        return full(f"Commit {undone} was read and has been rolled back.")
    if instant not in {one.instant for one in timeline.commits if one.completed}:
        first = timeline.commits[0].instant if timeline.commits else ""
        if first and first < instant:
            return full(f"Commit {instant} was read and has been rolled back.")
        return full(
            f"Commit {instant} is not on the active timeline any more: it was archived, or the "
            "table was made again."
        )
    for clean in timeline.cleans:
        is_safe = instant >= clean.keeps_from if clean.keeps_from else clean.instant < instant
        if not is_safe:
            return full(f"Files of commit {instant} were cleaned ({clean.instant}).")
    return None


def _undone(rollbacks: Iterable[Rollback], instant: str) -> str:
    """Return a commit that a reader at `instant` had read and that was undone since."""
    for one in rollbacks:
        if one.instant > instant:
            for undone in one.undone:
                if undone <= instant:
                    return undone
    return ""


def instant_at(instant: str, zone: tzinfo) -> datetime:
    """Return the moment of an instant that was written in a time zone."""
    text = instant.ljust(_DIGITS, "0")[:_DIGITS]
    found = datetime.strptime(text + "000", "%Y%m%d%H%M%S%f").replace(tzinfo=zone)
    return found.astimezone(UTC)
