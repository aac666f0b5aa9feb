"""What a target's commits say of themselves, and what a commit of somebody else means."""

from collections.abc import Iterable

import msgspec

from pipelines.commits.domain.positions import Position, Positions, as_text, from_text
from portal.lake.formats import HUDI_SAME_ROWS

PREFIX = "lakewarden."
POSITIONS, OWNER, NOTE = (f"{PREFIX}{name}" for name in ("positions", "owner", "note"))
"""Keys of a commit's metadata: positions of the sources, whose target it is, and its own words."""

_NO_ROWS = HUDI_SAME_ROWS | {"ALTER_SCHEMA"}


class Marked(msgspec.Struct, frozen=True):
    """What the metadata of one commit says; `positions` empty: it is none of ours."""

    instant: str
    operation: str
    positions: str = ""
    owner: str = ""
    note: str = ""


class Written(msgspec.Struct, frozen=True):
    """How far a target has read its sources."""

    positions: dict[str, Position]
    owner: str
    note: str
    instant: str


def options(positions: Positions, owner: str, note: str = "") -> dict[str, str]:
    """Return the metadata of a commit, as settings of its write."""
    return {POSITIONS: as_text(positions), OWNER: owner, NOTE: note}


def written(commits: Iterable[Marked]) -> tuple[Written | None, tuple[str, ...]]:
    """Return what the newest commit of ours says, and the commits of others since.

    `commits` are completed ones, newest first.
    """
    foreign: list[str] = []
    for one in commits:
        if one.positions:
            found = Written(from_text(one.positions), one.owner, one.note, one.instant)
            return found, tuple(foreign)
        if one.operation not in _NO_ROWS:
            foreign.append(one.instant)
    return None, tuple(foreign)
