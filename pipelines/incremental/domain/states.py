"""In which state a layer is, how far behind its edges are, and what its source must keep for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pipelines.incremental.domain.messages import Field

LATE_INTERVALS = 3
"""A layer that was not advanced for so many of its intervals is late."""
HOLD = timedelta(hours=72)
"""The longest that a reader keeps its source's cleaner from old versions."""


class LayerState(StrEnum):
    """How a layer is, in one word; what a person has to do comes first."""

    PAUSED = "LAYER_PAUSED"
    HELD = "LAYER_HELD"
    FAILED = "LAYER_FAILED"
    NEW = "LAYER_NEW"
    BEHIND = "LAYER_BEHIND"
    LATE = "LAYER_LATE"
    CURRENT = "LAYER_CURRENT"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a layer."""

    is_paused: bool
    is_held: bool
    problem: str
    advanced_at: datetime | None
    every: timedelta
    heard_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """Since when a reader needs old versions of its source; `is_capped`: it waits no longer."""

    since: datetime
    is_capped: bool


def layer_state(facts: Facts, *, now: datetime) -> LayerState:
    """Return a layer's state."""
    if facts.is_paused:
        return LayerState.PAUSED
    if facts.is_held:
        return LayerState.HELD
    if facts.problem:
        return LayerState.FAILED
    if facts.advanced_at is None:
        # It was advanced, as far as commits of its sources that were still written let it.
        return LayerState.NEW if facts.heard_at is None else LayerState.BEHIND
    is_late = now - facts.advanced_at > LATE_INTERVALS * facts.every
    return LayerState.LATE if is_late else LayerState.CURRENT


def lag(read_at: datetime | None, *, now: datetime) -> timedelta | None:
    """Return how old the state of a source is that a target has; None: it has none of it."""
    return None if read_at is None else max(now - read_at, timedelta())


def hold_of(
    position_at: datetime | None, read_at: datetime | None, *, now: datetime
) -> Hold | None:
    """Return what a source must keep for a reader; None where nothing was read yet.

    A reader that has all commits up to `read_at` needs the version of then. It is held for it no
    longer than `HOLD`, so that a layer that nobody repairs does not fill the storage.
    """
    if position_at is None:
        return None
    since = max(position_at, read_at or position_at)
    return Hold(position_at, is_capped=now - since > HOLD)


def schema_words(seen: Sequence[Field], found: Sequence[Field]) -> str:
    """Say how the columns of a source differ from those that people have seen; empty: not."""
    before, after = ({one.name: one.type for one in some} for some in (seen, found))
    parts = [f"new: {name} {after[name]}" for name in after if name not in before]
    parts += [f"gone: {name}" for name in before if name not in after]
    parts += [
        f"changed: {name} from {before[name]} to {after[name]}"
        for name in after
        if name in before and before[name] != after[name]
    ]
    return "; ".join(parts)
