"""Pages inspection results that are in no database table as a list.

It has the manners of every list: filters and order in the address, pages by the last row shown, a
CSV of exactly the filter. A row has a `key`; a page that begins after a row which is not there any
more, for the table was looked at again, begins again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import render

from portal.ui.lists.csv import stream_csv
from portal.ui.lists.keyset import SIZE, SIZE_CAP
from portal.ui.lists.tables import Column, Table

Order = Callable[[Any], Any]
ANY = ("", "Any")


class HeldFilter(forms.Form):
    """The controls of a list; each control says what it keeps in `keeps`."""

    @property
    def form(self) -> "HeldFilter":
        """What the templates of filters read."""
        return self

    @property
    def is_on(self) -> bool:
        """Whether anything is filtered."""
        return any(self.data.get(name) for name in self.fields)

    def keeps(self, row: Any, chosen: Mapping[str, Any]) -> bool:
        """Whether a row is in the list."""
        raise NotImplementedError

    def kept(self, rows: Sequence[Any]) -> list[Any]:
        """Return the rows of the list; none where a value is not valid (the form says which)."""
        if not self.is_valid():
            return []
        return [row for row in rows if self.keeps(row, self.cleaned_data)]


@dataclass(frozen=True)
class HeldSpec:
    """What a list is made of; the first of `orders` is how it opens, `-` sorts downwards."""

    template: str
    caption: str
    columns: Sequence[Column]
    orders: Mapping[str, Order]
    filename: str
    exports: Sequence[str]


@dataclass(frozen=True)
class HeldPage:
    """One page, with the cursors of its neighbours (empty where there is none)."""

    rows: list[Any]
    n_all: int
    sort: str
    next_cursor: str
    previous_cursor: str

    @property
    def has_next(self) -> bool:
        """Whether rows follow this page."""
        return bool(self.next_cursor)

    @property
    def has_previous(self) -> bool:
        """Whether rows come before this page."""
        return bool(self.previous_cursor)


def held_response(
    request: HttpRequest,
    spec: HeldSpec,
    *,
    rows: Sequence[Any],
    chosen: HeldFilter,
    context: Mapping[str, Any],
) -> HttpResponseBase:
    """Answer with the page, or with every row of the filter when `format=csv` is asked for."""
    sort = request.GET.get("sort", "")
    if sort not in spec.orders:
        sort = next(iter(spec.orders))
    by = spec.orders[sort]
    ordered = sorted(
        chosen.kept(rows), key=lambda row: (by(row), row.key), reverse=sort.startswith("-")
    )
    if request.GET.get("format") == "csv":
        columns = [Column(key=key, title=key) for key in spec.exports]
        return stream_csv(ordered, columns, filename=spec.filename)
    page = held_page(ordered, request.GET, sort=sort)
    table = Table(spec.columns, page.rows, spec.caption, tuple(spec.orders), page.sort)
    values = {"filter": chosen, "page": page, "table": table, **context}
    return render(request, spec.template, values)


def held_page(ordered: Sequence[Any], params: QueryDict, *, sort: str) -> HeldPage:
    """Cut the page out that `params` (after, before, size) ask for."""
    size = _size(params.get("size", ""))
    after, before = params.get("after", ""), params.get("before", "")
    first = 0
    if after:
        first = _place(ordered, after, default=-1) + 1
    elif before:
        first = max(0, _place(ordered, before, default=0) - size)
    shown = list(ordered[first : first + size])
    is_last = first + size >= len(ordered)
    return HeldPage(
        rows=shown,
        n_all=len(ordered),
        sort=sort,
        next_cursor="" if is_last or not shown else shown[-1].key,
        previous_cursor=shown[0].key if first and shown else "",
    )


def _place(ordered: Sequence[Any], key: str, *, default: int) -> int:
    return next((place for place, row in enumerate(ordered) if row.key == key), default)


def _size(text: str) -> int:
    try:
        return max(1, min(int(text), SIZE_CAP))
    except ValueError:
        return SIZE
