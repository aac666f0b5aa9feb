"""What a table must keep for those who read its changes, and for how long."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

HOLD = timedelta(hours=72)
"""The longest that a reader keeps its source's cleaner from old versions."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Since when a reader needs old versions of its source; `is_capped`: it waits no longer."""

    since: datetime
    is_capped: bool

    @property
    def words(self) -> str:
        """Whether old versions are kept for the reader, in words."""
        return "no longer kept" if self.is_capped else "kept"


def hold_of(
    position_at: datetime | None, read_at: datetime | None, *, now: datetime
) -> Hold | None:
    """Return what a source must keep for a reader; None where nothing was read yet.

    A reader that has all commits up to `read_at` needs the version of then. It is held for it no
    longer than `HOLD`, so that one that nobody repairs does not fill the storage.
    """
    if position_at is None:
        return None
    since = max(position_at, read_at or position_at)
    return Hold(position_at, is_capped=now - since > HOLD)


def capped_by_lake(holds: Iterable[tuple[str, Hold | None]]) -> Iterator[tuple[str, int]]:
    """Yield how many readers of each lake have a hold that is capped; 0 where none has."""
    found: Counter[str] = Counter()
    for lake, hold in holds:
        found[lake] += bool(hold and hold.is_capped)
    yield from sorted(found.items())
