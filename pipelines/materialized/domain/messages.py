"""What the portal asks of the program that refreshes materializations, and what it answers."""

from typing import Any, Literal

import msgspec

from pipelines.commits.domain.positions import Position
from pipelines.materialized.domain.costs import Past

RESULTS = "refreshed"
"""The folder of results below the spool's, a file for each materialization."""
DISTINCT = "__distinct"
"""What follows the location of a table where its distinct values are counted."""
COUNTS = "_distinct"
"""What follows the name of a table in that of the table with those counts."""

State = Literal["done", "failed"]


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """One materialization to refresh."""

    id: int
    sql: str
    db: str
    table: str
    location: str
    owner: str
    """What identifies the materialization in the commits of its table."""
    version: int = 0
    """Of the definition, as the portal counts them."""
    is_full: bool = False
    past: tuple[Past, ...] = ()
    """Its newest refreshes, from which it is learnt what each way costs."""


class Request(msgspec.Struct, frozen=True):
    """The materializations of one run."""

    orders: tuple[Order, ...]


class Types(msgspec.Struct, frozen=True):
    """Types of Spark of a definition's dimensions and of what its aggregates are of, in order."""

    keys: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


class Refreshed(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one order."""

    id: int
    state: State
    version: int = 0
    code: str = ""
    """Of the error, if it failed."""
    reason: str = ""
    """Why it went the way that it went, or why it failed."""
    way: str = ""
    positions: dict[str, Position] = {}
    has_floats: bool = False
    types: Types = Types()
    n_rows: int = 0
    """Rows of the sources that are in it."""
    n_groups: int = 0
    n_changed_groups: int = 0
    n_dirty_groups: int = 0
    n_commits: int = 0
    changed_bytes: int = 0
    all_bytes: int = 0
    seconds: float = 0.0


class Note(msgspec.Struct, frozen=True):
    """What a commit of the table says besides its positions."""

    definition: str
    """The digest of the definition that it was computed by."""
    n_since_full: int = 0
    n_rows: int | None = None
    """Rows of the sources that are in it; None: nobody counted them."""
    asked_at: int = 0
    """When the refresh was asked for, in seconds since 1970."""
    answers: dict[str, Any] | None = None
    """What Spark's session extension compares queries with; None: no query is answered from it."""
    n_groups: int | None = None
    """Rows of the table, by which the smallest that answers is found; None: nobody counted them."""


def read_request(params: Any) -> Request:
    """Read a request."""
    return msgspec.convert(params, Request)
