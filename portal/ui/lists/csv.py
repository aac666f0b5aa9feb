"""Streams a list of any length as CSV without filling memory or running formulas.

Rows are streamed; cells that a spreadsheet would run are defused.
"""

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any

from defusedcsv import csv
from django.http import StreamingHttpResponse

from portal.ui.lists.tables import Column, exported, value_of

# A spreadsheet skips the first of these before it looks for a formula, and may take the full-width
# ones for the plain signs; defusedcsv looks at the first sign only, and only for the plain ones.
_UNSEEN = frozenset("\t\r\n\v\f \x85\xa0\u200b\u2028\u2029\ufeff")
_FULL_WIDTH = frozenset("\uff1d\uff0b\uff0d\uff20")


class _Echo:
    """A file that hands back what it is asked to write."""

    def write(self, value: str) -> str:
        return value


class CsvResponse(StreamingHttpResponse):
    """A CSV that is sent while its rows are read; what it holds is freed with it."""

    def __init__(self, rows: Iterable[Any], columns: Sequence[Column], filename: str) -> None:
        super().__init__(self._lines(rows, columns), content_type="text/csv; charset=utf-8")
        self._lake: tuple[str, ...] = ()
        self._is_named = any(column.key == "lake" for column in columns)
        self._call(filename)

    def name_lake(self, lake: str) -> None:
        """Put the lake before each line and into the file's name, unless they say it already."""
        self._lake = () if self._is_named else (lake,)
        if lake not in self._filename:
            self._call(f"{lake}-{self._filename}")

    def _call(self, filename: str) -> None:
        self._filename = "".join(c if c.isalnum() or c in "-_." else "-" for c in filename)
        self["Content-Disposition"] = f'attachment; filename="{self._filename}"'

    def _lines(self, rows: Iterable[Any], columns: Sequence[Column]) -> Iterator[str]:
        """Write the lines; none is before the answer is sent, and its lake known."""
        writer = csv.writer(_Echo())
        names = [column.name or column.key for column in columns]
        yield writer.writerow([*("lake" for _ in self._lake), *names])
        for row in rows:
            values = [_text(value_of(row, column.key)) for column in columns]
            yield writer.writerow([*self._lake, *values])

    def on_close(self, free: Callable[[], None]) -> None:
        """Call `free` once, when the last row is sent, the reader left or the answer is dropped."""
        self._finalizer = weakref.finalize(self, free)

    def close(self) -> None:
        """End the answer."""
        finalizer = getattr(self, "_finalizer", None)
        if finalizer is not None:
            finalizer()
        super().close()


def stream_csv(rows: Iterable[Any], columns: Sequence[Column], *, filename: str) -> CsvResponse:
    """Answer with one CSV line a row, under the columns' names, or their keys.

    Pass `queryset.iterator(chunk_size=2000)` for long lists. Instants are ISO 8601 in UTC; bytes
    and counts are exact.
    """
    return CsvResponse(rows, exported(columns), filename)


def _text(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        value = "; ".join(str(part) for part in value)
    if isinstance(value, str) and value and value[0] in _UNSEEN | _FULL_WIDTH:
        return f"'{value}"
    return value
