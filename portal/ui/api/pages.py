"""Pagination of API lists, by the same keyset, filters and caps as their pages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from portal.ui.lists.answers import Complete
from portal.ui.lists.filters import ListFilter
from portal.ui.lists.keyset import keyset_page


def keyset_response(
    request: Request,
    rows: QuerySet[Any],
    *,
    filter_class: Callable[..., ListFilter],
    orders: Mapping[str, Sequence[str]],
    show: Callable[[Any], dict[str, Any]],
    complete: Complete | None = None,
) -> Response:
    """Answer `{results, next, previous}`; `next` and `previous` are whole addresses or null."""
    chosen = filter_class(request.query_params, queryset=rows)
    if not chosen.is_valid():
        raise ValidationError(chosen.errors)
    page = keyset_page(chosen.qs, request.query_params, orders=orders)
    if complete is not None:
        complete(page.rows)
    return Response(
        {
            "results": [show(row) for row in page.rows],
            "next": _address(request, after=page.next_cursor),
            "previous": _address(request, before=page.previous_cursor),
        }
    )


def _address(request: Request, **cursor: str) -> str | None:
    (key, value), *_ = cursor.items()
    if not value:
        return None
    params = request.query_params.copy()
    for old in ("after", "before"):
        params.pop(old, None)
    params[key] = value
    return request.build_absolute_uri(f"{request.path}?{params.urlencode()}")
