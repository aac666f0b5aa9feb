"""What the program that advances layers is asked, and what it says of each.

A run's request has a `Request` at `layers`. What came of a layer stands below the spool's results
as `layers/<id>.json`, written whole once the layer is done.
"""

from datetime import datetime
from typing import Any, Literal

import msgspec

from pipelines.incremental.domain.definitions import Layer
from portal.lake.errors import RuleViolation
from portal.lake.formats import CommittedFormat

RESULTS = "layers"
Mode = Literal["changes", "full", "backfill"]
"""From the changes since its position, from all rows, or some partitions from all rows."""
State = Literal["done", "unchanged", "held", "failed"]


class Field(msgspec.Struct, frozen=True, array_like=True):
    """A column as a table has it; the type in Spark's words."""

    name: str
    type: str


class SourceOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table that is read."""

    table: str
    format: CommittedFormat
    location: str
    is_static: bool = False
    schema: tuple[Field, ...] = ()
    """The columns that people have seen; others hold the layer. None: what is there is taken."""
    position: str = ""
    """As the portal knows it; the target's own says what counts."""
    event_time: datetime | None = None
    """The greatest up to that position."""
    watermark: datetime | None = None
    """How far the source was when this was asked; what reads it later has at least that."""


class Range(msgspec.Struct, frozen=True):
    """Partitions of the target from `low` to `high`, both included."""

    low: str
    high: str


class LayerOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """A layer to advance."""

    id: int
    owner: str
    """Who alone writes the target, as its commits say."""
    version: int
    """Of its definition: a target that was made by an earlier one is read in full."""
    layer: Layer
    location: str
    sources: tuple[SourceOrder, ...]
    full: str = ""
    """Why all rows shall be read."""
    backfill: Range | None = None
    kept_since: datetime | None = None
    """Readers of the target need its versions since then."""


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """Layers to advance in one application, each after those that it reads."""

    layers: tuple[LayerOrder, ...]
    modules: tuple[str, ...] = ()
    """Modules whose functions may be called."""


class Edge(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a source is read now."""

    table: str
    position: str = ""
    position_at: datetime | None = None
    """When the commit at `position` was completed."""
    read_at: datetime | None = None
    """When the newest commit was looked up: the target has all that the source had then. None:
    it has not, for an older commit was still being written."""
    n_commits: int = 0
    """How many commits were read this time."""
    event_time: datetime | None = None
    watermark: datetime | None = None
    """As it was asked: the source has at least that."""
    schema: tuple[Field, ...] = ()


class Advanced(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a layer."""

    id: int
    version: int
    state: State
    at: datetime
    mode: Mode = "changes"
    reason: str = ""
    """Why all rows were read, why it is held, or why it failed."""
    code: str = ""
    n_upserts: int = 0
    n_deletes: int = 0
    seconds: float = 0
    edges: tuple[Edge, ...] = ()


def read_request(data: Any) -> Request:
    """Read a request.

    Raises:
        RuleViolation: `layer.request`, with what is wrong.
    """
    try:
        return msgspec.convert(data, Request)
    except msgspec.ValidationError as error:
        raise RuleViolation("layer.request", f"This cannot be advanced: {error}") from error
