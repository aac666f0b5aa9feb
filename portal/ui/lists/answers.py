"""One way to answer with a list: filters, a keyset page, or the same rows as CSV."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from portal.ui.lists.csv import stream_csv
from portal.ui.lists.filters import ListFilter, filtered
from portal.ui.lists.keyset import keyset_page
from portal.ui.lists.tables import Column, Table

CSV_CHUNK = 2_000

Complete = Callable[[Sequence[Any]], None]


@dataclass(frozen=True)
class ListSpec:
    """What a list is made of; the first of `orders` is how it opens."""

    template: str
    caption: str
    columns: Sequence[Column]
    orders: Mapping[str, Sequence[str]]
    filename: str
    exports: Sequence[str]
    select: str = ""
    exported: Sequence[Column] | None = None
    """The columns of the CSV where a person chose them, in place of `exports`."""

    @property
    def csv_columns(self) -> list[Column]:
        """The columns of the CSV, which also holds what the page shows only in words."""
        if self.exported is not None:
            return list(self.exported)
        return [Column(key=key, title=key) for key in self.exports]


def list_response(
    request: HttpRequest,
    spec: ListSpec,
    *,
    filterset: ListFilter,
    context: Mapping[str, Any],
    complete: Complete | None = None,
) -> HttpResponseBase:
    """Answer with the page, or with every row of the filter when `format=csv` is asked for.

    `complete` gives the shown rows what is read beside them: it is called once for a page, and
    once for every 2,000 lines of a CSV.
    """
    rows: QuerySet[Any] = filtered(filterset)
    if request.GET.get("format") == "csv":
        chosen = spec.orders.get(request.GET.get("sort", "")) or next(iter(spec.orders.values()))
        # A line holds a row's own fields and its joins; what is read along is the page's affair.
        ordered = rows.prefetch_related(None).order_by(*chosen, "pk")
        lines = ordered.iterator(chunk_size=CSV_CHUNK)
        if complete is not None:
            lines = _completed(lines, complete)
        return stream_csv(lines, spec.csv_columns, filename=spec.filename)
    page = keyset_page(rows, request.GET, orders=spec.orders)
    if complete is not None:
        complete(page.rows)
    table = Table(
        columns=spec.columns,
        rows=page.rows,
        caption=spec.caption,
        orders=tuple(spec.orders),
        sort=page.sort,
        select=spec.select if any(_may_select(row) for row in page.rows) else "",
    )
    values = {"filter": filterset, "page": page, "table": table, **context}
    return render(request, spec.template, values)


def _may_select(row: Any) -> bool:
    return getattr(row, "may_select", True)


def _completed(rows: Iterator[Any], complete: Complete) -> Iterator[Any]:
    while chunk := list(islice(rows, CSV_CHUNK)):
        complete(chunk)
        yield from chunk
