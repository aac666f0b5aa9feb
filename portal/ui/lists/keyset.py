"""Keyset pages that show page 20,000 of a million rows as fast as page 1.

Keyset pages: the place is the last row's sort values, kept in the URL (`after`/`before`), never an
offset. Ids are read first over a covering index and only then the rows. Counts stay out of it.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import DataError
from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

from portal.lake.errors import RuleViolation

SIZE = 50
SIZE_CAP = 200
SIZES = (25, 50, 100, 200)

# A cursor holds whatever the address holds. OverflowError: a day outside of the calendar or an
# integer outside of the column; ArithmeticError: an infinite decimal; DataError: MariaDB's word.
_UNREADABLE = (ValidationError, ValueError, TypeError, ArithmeticError, RecursionError, DataError)

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class KeysetPage(Generic[M]):
    """One page: its rows, and the cursors of its neighbours (empty where there is none)."""

    rows: list[M]
    size: int
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


def keyset_page(
    queryset: QuerySet[M],
    params: QueryDict | Mapping[str, str],
    *,
    orders: Mapping[str, Sequence[str]],
    size: int = SIZE,
) -> KeysetPage[M]:
    """Return the page that `params` (sort, after, before, size) asks for.

    `orders` maps the value of `sort` to model fields (`-` for descending); its first entry is the
    default. `pk` is added as the tie-breaker. `queryset` is filtered already and unordered; its
    select_related and annotations are kept for the rows. Raises RuleViolation `page.cursor`.
    """
    sort = params.get("sort", "")
    if sort not in orders:
        sort = next(iter(orders))
    fields = _with_tie_breaker(orders[sort])
    size = page_size(params.get("size", ""), size)
    backwards = not params.get("after") and bool(params.get("before"))
    cursor = params.get("before" if backwards else "after") or ""
    towards = [_flip(field) for field in fields] if backwards else fields

    wanted = queryset.order_by(*towards)
    names = [field.lstrip("-") for field in fields]
    try:
        if cursor:
            wanted = wanted.filter(_beyond(_decode(cursor, fields), towards))
        keys = list(wanted.values_list(*names)[: size + 1])
    except _UNREADABLE as error:
        raise bad_cursor() from error
    more = len(keys) > size
    keys = keys[:size]
    if backwards:
        keys.reverse()
    by_id = queryset.order_by().in_bulk([key[-1] for key in keys])
    rows = [by_id[key[-1]] for key in keys if key[-1] in by_id]

    following = (bool(cursor) if backwards else more) and bool(keys)
    preceding = (more if backwards else bool(cursor)) and bool(keys)
    return KeysetPage(
        rows=rows,
        size=size,
        sort=sort,
        next_cursor=_encode(keys[-1]) if following else "",
        previous_cursor=_encode(keys[0]) if preceding else "",
    )


def _with_tie_breaker(fields: Sequence[str]) -> list[str]:
    plain = [field for field in fields if field.lstrip("-") != "pk"]
    descending = bool(plain) and plain[-1].startswith("-")
    return [*plain, "-pk" if descending else "pk"]


def _flip(field: str) -> str:
    return field[1:] if field.startswith("-") else f"-{field}"


def page_size(text: str, default: int = SIZE) -> int:
    """Return the size of a page that an address asks for, within bounds."""
    try:
        return max(1, min(int(text), SIZE_CAP))
    except ValueError:
        return default


def _beyond(values: Sequence[Any], fields: Sequence[str]) -> Q:
    """Spell (a, b) > (x, y) as `a > x OR (a = x AND b > y)`.

    A row comparison would make MariaDB read the whole index. NULL sorts lowest, as it does in
    SQLite and MariaDB.
    """
    condition = Q(pk__in=[])
    equal = Q()
    for field, value in zip(fields, values, strict=True):
        name = field.lstrip("-")
        condition |= equal & _past(name, value, descending=field.startswith("-"))
        equal &= Q(**{f"{name}__isnull": True}) if value is None else Q(**{name: value})
    return condition


def _past(name: str, value: Any, *, descending: bool) -> Q:
    if value is None:
        return Q(pk__in=[]) if descending else Q(**{f"{name}__isnull": False})
    if descending:
        return Q(**{f"{name}__lt": value}) | Q(**{f"{name}__isnull": True})
    return Q(**{f"{name}__gt": value})


def _encode(values: Sequence[Any]) -> str:
    text = json.dumps([_plain(value) for value in values], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID | Decimal):
        return str(value)
    return value


def _decode(cursor: str, fields: Sequence[str]) -> list[Any]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        values = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise bad_cursor() from error
    if not isinstance(values, list) or len(values) != len(fields):
        raise bad_cursor()
    if any(isinstance(value, list | dict) for value in values):
        raise bad_cursor()
    return values


def bad_cursor() -> RuleViolation:
    """Return the error of a cursor that no list has given."""
    return RuleViolation(
        "page.cursor", "This link to a page of the list is broken. Open the list from its start."
    )
