"""Values of a column that nobody has released yet: its states, and what a replay writes into rows.

A column that a source adds is seen; its values stay aside, one of every image of a row, until an
owner has said how the lake may have them. Records up to the version of the approval have their
value aside, later ones are written by the apply, so no value is in neither and none in both.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from portal.lake.errors import RuleViolation


class State(StrEnum):
    """How far a column is on its way into the lake."""

    SEEN = "seen"
    PENDING = "pending"
    """Its owner was asked."""
    APPROVED = "approved"
    REFUSED = "refused"
    """Its values aside are purged, and later ones are not kept."""
    REPLAYING = "replaying"
    LIVE = "live"


class Treatment(StrEnum):
    """How the lake has a column's values."""

    PLAIN = "plain"
    MASKED = "masked"
    ENCRYPTED = "encrypted"


class AsideColumn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A column of a captured table that is, or was, aside."""

    db: str
    table: str
    column: str
    added_at: int
    """The version of the first schema that has it; older rows do not."""
    default: str | None = None
    """The text of the value that the source gave to rows that were there."""
    state: State = State.SEEN
    treatment: Treatment | None = None
    approved_at: int | None = None
    """Records up to this version have their value aside; later ones are written."""
    decided_by: str = ""

    def ask(self) -> "AsideColumn":
        """Return it with its owner asked; also again after a refusal."""
        return replace(self._moved(State.PENDING, State.SEEN, State.REFUSED), decided_by="")

    def approve(self, treatment: Treatment, *, version: int, by: str) -> "AsideColumn":
        """Return it released: records after `version` are written by the apply."""
        if version < self.added_at:
            raise RuleViolation(
                "cdc.aside_version",
                f"{self._name} came at version {self.added_at}; it cannot be approved from"
                f" {version}.",
            )
        moved = self._moved(State.APPROVED, State.PENDING)
        return replace(moved, treatment=treatment, approved_at=version, decided_by=by)

    def refuse(self, *, by: str) -> "AsideColumn":
        """Return it refused; whoever stores this purges its values."""
        return replace(self._moved(State.REFUSED, State.PENDING), decided_by=by)

    def replay(self) -> "AsideColumn":
        """Return it with its replay begun."""
        return self._moved(State.REPLAYING, State.APPROVED)

    def retry(self) -> "AsideColumn":
        """Return it with its replay to begin again, where it failed."""
        return self._moved(State.APPROVED, State.REPLAYING)

    def finish(self) -> "AsideColumn":
        """Return it with every row replayed."""
        return self._moved(State.LIVE, State.REPLAYING)

    def is_written(self, version: int) -> bool:
        """Tell whether the apply writes the column of a record, instead of keeping it aside."""
        return self.approved_at is not None and version > self.approved_at

    def is_kept(self, version: int) -> bool:
        """Tell whether the column's value of a record is kept aside."""
        return self.state is not State.REFUSED and not self.is_written(version)

    def _moved(self, state: State, *allowed: State) -> "AsideColumn":
        if self.state not in allowed:
            raise RuleViolation(
                "cdc.aside_state",
                f"{self._name} is {self.state}; it cannot become {state}. Reload the page.",
            )
        return replace(self, state=state)

    @property
    def _name(self) -> str:
        return f"Column {self.db}.{self.table}.{self.column}"


class Replay(StrEnum):
    """What a replay does to a row."""

    SKIP = "skip"
    """The key was deleted."""
    KEEP = "keep"
    """The apply wrote the column."""
    WRITE = "write"
    """The value aside that has the row's own version."""
    DEFAULT = "default"
    """The row was not touched since the column came, so it has the column's default."""
    MISSING = "missing"
    """The value was purged, or never came; the row is read again from the source."""


class Replayed(msgspec.Struct, frozen=True):
    """What a replay does to a row, and the text that it writes."""

    action: Replay
    value: str | None = None


def replay_of(
    column: AsideColumn, row_version: int | None, images: Mapping[int, str | None]
) -> Replayed:
    """Return what a replay does to the row of a key.

    `row_version` is that of the lake's row, None where it has none; `images` has every value aside
    of the key, NULL too, by version. The row keeps its version: its content is of that version.
    """
    if row_version is None:
        return Replayed(Replay.SKIP)
    if column.is_written(row_version):
        return Replayed(Replay.KEEP)
    if row_version in images:
        return Replayed(Replay.WRITE, images[row_version])
    if row_version < column.added_at:
        return Replayed(Replay.DEFAULT, column.default)
    return Replayed(Replay.MISSING)
