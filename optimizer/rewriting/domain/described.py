"""Reads what the newest commit of a materialization's table says of its rows.

Its writer describes them in the commit itself (docs/materialization.md), so who has no portal to
ask knows as much. What is not understood answers nothing.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from portal.lake.aggregates import (
    SourceCommit,
    StoredAggregate,
    StoredDimension,
    StoredJoin,
    StoredMeasure,
)
from portal.lake.errors import RuleViolation

POSITIONS, NOTE = "lakewarden.positions", "lakewarden.note"
"""The keys of a commit's metadata that hold both."""
_VERSION = 1


class _Position(msgspec.Struct):
    table: str
    commit: str = ""


class _Answers(msgspec.Struct):
    version: int
    fact: str
    rows_column: str
    time_zone: str
    dimensions: tuple[StoredDimension, ...]
    measures: tuple[StoredMeasure, ...]
    joins: tuple[StoredJoin, ...]
    filters: tuple[str, ...]


class _Note(msgspec.Struct):
    answers: _Answers | None = None
    n_rows: int | None = None
    n_groups: int | None = None
    asked_at: int = 0


class _Version(msgspec.Struct):
    answers: dict[str, Any] | None = None


def described_aggregate(name: str, positions: str, note: str) -> StoredAggregate:
    """Return a materialization as its commit describes it; `name` is its table.

    Raises:
        RuleViolation: `rewrite.description`, it says nothing, or nothing that is understood.
    """
    try:
        said = msgspec.json.decode(note or "{}", type=_Version).answers
        if said is None:
            raise _refused(name, "its newest commit does not say what it is of")
        if said.get("version") != _VERSION:
            raise _refused(name, "it is described in a version that is not known here")
        found = msgspec.json.decode(note, type=_Note)
        commits = msgspec.json.decode(positions, type=Mapping[str, _Position])
    except msgspec.DecodeError as error:
        raise _refused(name, f"what its newest commit says cannot be read: {error}") from error
    answers = found.answers
    if answers is None:
        raise _refused(name, "its newest commit does not say what it is of")
    return StoredAggregate(
        name=name,
        table=name,
        format="hudi",
        source=answers.fact,
        dimensions=answers.dimensions,
        measures=answers.measures,
        rows_column=answers.rows_column,
        joins=answers.joins,
        filters=answers.filters,
        time_zone=answers.time_zone,
        commits={table: SourceCommit(one.table, one.commit) for table, one in commits.items()},
        known_at=datetime.fromtimestamp(found.asked_at, UTC),
        n_rows=found.n_groups or 0,
        source_rows=found.n_rows or 0,
    )


def _refused(name: str, why: str) -> RuleViolation:
    return RuleViolation("rewrite.description", f"{name} answers nothing: {why}.", table=name)
