"""The port of a changelog: numbered batches that one writer appends, and schemas beside them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipelines.cdc.changes.domain.records import Change, Header
from pipelines.cdc.changes.domain.schemas import TableSchema
from portal.lake.errors import StaleState


@dataclass(frozen=True, slots=True)
class Batch:
    """What one append wrote, with its number; the first of a log is 1."""

    number: int
    header: Header
    changes: tuple[Change, ...]


class Changelog(Protocol):
    """Batches of one source. Everything in a log is durable, and whole or not there.

    Numbers have no gaps: who appends says the number after the last he knows, and loses where
    somebody else has written it. That is the fence between a stale capture and its successor.
    """

    def end(self) -> tuple[int, Header] | None:
        """Return number and header of the last batch; None of an empty log."""

    def append(self, number: int, header: Header, changes: Sequence[Change]) -> None:
        """Write a batch; StaleState `cdc.fenced` where the number is not the writer's to write."""

    def read(self, after: int) -> Iterator[Batch]:
        """Yield the batches after a number in order, as far as there are any now.

        StaleState `cdc.trimmed` where the next one was removed before it was read.
        """

    def trim(self, before: int) -> int:
        """Remove batches below a number, which the caller knows to be applied; returns how many.

        The last batch always stays: it says where the capture goes on.
        """

    def schema_put(self, schema: TableSchema) -> None:
        """Write a table's schema; the same again does nothing.

        StaleState `cdc.fenced` where another one has its number.
        """

    def schemas(self) -> list[TableSchema]:
        """Return all schemas, by table and number."""


def fenced(what: str) -> StaleState:
    """Return the error of a writer that another one has overtaken."""
    return StaleState(
        "cdc.fenced",
        f"{what} was written by another capture of the same source; this one ends. Nothing is lost:"
        " the other goes on from the last batch.",
    )


def trimmed(next_number: int, first_number: int) -> StaleState:
    """Return the error of a reader for whom batches are missing."""
    return StaleState(
        "cdc.trimmed",
        f"Batch {next_number} was removed from the changelog before it was read; the first that is "
        f"there is {first_number}. Load the tables again.",
        next_number=next_number,
        first_number=first_number,
    )
