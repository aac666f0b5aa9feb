"""Reads the rows of a row event: what each row was before and what it is after."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.cdc.capture.domain.cells import Cell
from pipelines.cdc.changes.domain.records import Row
from portal.lake.errors import ExternalFailure, PortalError, RuleViolation

INSERTS = frozenset({23, 30})
UPDATES = frozenset({24, 31})
DELETES = frozenset({25, 32})
ROW_EVENTS = INSERTS | UPDATES | DELETES
_SECOND_FORM = frozenset({30, 31, 32})


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads rows of one table map: a name and a reader for each column, in their order."""

    table: str
    names: tuple[str, ...]
    cells: tuple[Cell, ...]

    def rows(self, kind: int, body: bytes) -> Iterator[tuple[Row | None, Row | None]]:
        """Yield (before, after) of each row of an event's body, which has no checksum.

        Raises:
            RuleViolation: `cdc.row_image`, where rows lack columns.
            ExternalFailure: `cdc.event`, where they cannot be read.
        """
        at = 8
        if kind in _SECOND_FORM:
            at += int.from_bytes(body[8:10], "little")
        count, at = _number(body, at)
        width = (len(self.names) + 7) // 8
        n_images = 2 if kind in UPDATES else 1
        if count != len(self.names):
            raise self._unreadable(f"it has {count} columns, its description {len(self.names)}")
        for _ in range(n_images):
            present = int.from_bytes(body[at : at + width], "little") & ((1 << count) - 1)
            if present.bit_count() != count:
                raise self._partial()
            at += width
        end = len(body)
        try:
            while at < end:
                first, at = self._image(body, at, width)
                if kind in UPDATES:
                    second, at = self._image(body, at, width)
                    yield first, second
                else:
                    yield (None, first) if kind in INSERTS else (first, None)
        except PortalError:
            raise
        except (IndexError, ValueError, ArithmeticError) as error:
            raise self._unreadable(str(error)) from error
        if at != end:
            raise self._unreadable(f"its rows end {at - end} bytes after it")

    def _image(self, body: bytes, at: int, width: int) -> tuple[Row, int]:
        start = at + width
        nulls = int.from_bytes(body[at:start], "little")
        at = start
        row: Row = {}
        if nulls:
            for place, cell in enumerate(self.cells):
                if nulls >> place & 1:
                    row[self.names[place]] = None
                else:
                    row[self.names[place]], at = cell(body, at)
        else:
            for name, cell in zip(self.names, self.cells, strict=True):
                row[name], at = cell(body, at)
        return row, at

    def _partial(self) -> RuleViolation:
        return RuleViolation(
            "cdc.row_image",
            f"A row of {self.table} in the binary log lacks columns: a session wrote it with "
            "another binlog_row_image than FULL. Set it to FULL everywhere; then leave the table "
            "out, or raise the epoch so that every table is loaded again.",
            table=self.table,
        )

    def _unreadable(self, reason: str) -> ExternalFailure:
        return ExternalFailure(
            "cdc.event",
            f"An event with rows of {self.table} cannot be read: {reason}. Leave the table out, "
            "and report this.",
            service="mysql",
            retryable=False,
        )


def _number(data: bytes, at: int) -> tuple[int, int]:
    first = data[at]
    size = {252: 2, 253: 3, 254: 8}.get(first, 0)
    end = at + 1 + size
    return (int.from_bytes(data[at + 1 : end], "little") if size else first), end


def key_of(row: Row, key: Sequence[str]) -> Row:
    """Return the values of a row's primary key."""
    return {name: row[name] for name in key}
