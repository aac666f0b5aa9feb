"""In which state a layer is, and how far behind its edges are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from pipelines.incremental.domain.messages import Field

LATE_INTERVALS = 3
"""A layer that was not advanced for so many of its intervals is late."""


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
