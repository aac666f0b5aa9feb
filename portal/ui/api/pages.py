"""Lists of the API, by the same filters, keyset pages and caps as their pages."""

from collections.abc import Mapping, Sequence
from inspect import getdoc
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.openapi import AutoSchema
from rest_framework.exceptions import ValidationError
from rest_framework.filters import BaseFilterBackend
from rest_framework.generics import ListAPIView
from rest_framework.metadata import SimpleMetadata
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from portal.ui.api.operations import ApiView
from portal.ui.lists.answers import Complete
from portal.ui.lists.filters import ListFilter
from portal.ui.lists.keyset import keyset_page

Rows = QuerySet[Any]


class ListFilterBackend(BaseFilterBackend):
    """Filters a list by its view's ListFilter; a bad value is a 400 that names its field."""

    def filter_queryset(self, request: Request, queryset: Rows, view: Any) -> Rows:
        """Return the rows that the query asks for."""
        chosen = view.filterset_class(request.query_params, queryset=queryset, **view.filter_values)
        if not chosen.is_valid():
            raise ValidationError(chosen.errors)
        rows: Rows = chosen.qs
        return rows

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Describe the lake and the list's own filters."""
        named = ("lake", *view.filterset_class.base_filters, *view.more_parameters)
        return [_parameter(name) for name in named]


class KeysetPagination(BasePagination):
    """Answers `{results, next, previous}`; `next` and `previous` are whole addresses or null."""

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        """Return the rows of the page, completed as the view says."""
        self.request = request
        self.page = keyset_page(queryset, request.query_params, orders=view.orders)
        return list(view.completed(self.page.rows))

    def get_paginated_response(self, data: Any) -> Response:
        """Wrap the rows with the addresses of the pages beside theirs."""
        return Response(
            {
                "results": data,
                "next": self._address(after=self.page.next_cursor),
                "previous": self._address(before=self.page.previous_cursor),
            }
        )

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe the page."""
        address = {"type": "string", "format": "uri", "nullable": True}
        return {
            "type": "object",
            "properties": {"results": schema, "next": address, "previous": address},
            "required": ["next", "previous", "results"],
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Describe the order, the cursors and the size of a page."""
        places = [_parameter(name) for name in ("sort", "after", "before")]
        return [*places, _parameter("size", "integer")]

    def _address(self, **cursor: str) -> str | None:
        (key, value), *_ = cursor.items()
        if not value:
            return None
        params = self.request.query_params.copy()
        for old in ("after", "before"):
            params.pop(old, None)
        params[key] = value
        return self.request.build_absolute_uri(f"{self.request.path}?{params.urlencode()}")


class PlainMetadata(SimpleMetadata):
    """Answers OPTIONS without forms: a list's serializer is that of its rows."""

    def determine_actions(self, request: Request, view: Any) -> dict[str, Any]:
        """Describe none."""
        return {}


class KeysetList(ApiView, ListAPIView[Any]):
    """A list: a ListFilter, orders, and the rows that a person may see.

    The docstring of `get_queryset` describes the operation. `complete` reads along for a page what
    its rows show beside their own fields; `filter_values` are what the ListFilter needs to know
    beside the query; `page_name` names the page in the OpenAPI document where
    that is not the name of the serializer. `more_parameters` are what the list reads beside its
    filter.
    """

    operation_id: ClassVar[str]
    filterset_class: type[ListFilter] = ListFilter
    orders: ClassVar[Mapping[str, Sequence[str]]]
    complete: Complete | None = None
    filter_values: Mapping[str, Any] = {}
    page_name: ClassVar[str] = ""
    more_parameters: ClassVar[Sequence[str]] = ()
    pagination_class = KeysetPagination
    filter_backends = (ListFilterBackend,)
    metadata_class = PlainMetadata

    def completed(self, rows: list[Any]) -> Sequence[Any]:
        """Return the rows of a page as the serializer takes them."""
        if self.complete is not None:
            self.complete(rows)
        return rows


class PortalSchema(AutoSchema):
    """Describes lists by their class; an operation's own description goes before it."""

    def get_operation_id(self) -> str:
        """Return the name that the list has for programs."""
        found = self._keyset_list
        return found.operation_id if found else str(super().get_operation_id())

    def get_description(self) -> str:  # type: ignore[override]  # as the library overrides it
        """Return what the list says of its rows."""
        found = self._keyset_list
        return getdoc(found.get_queryset) or "" if found else super().get_description()

    def get_paginated_name(self, serializer_name: str) -> str:
        """Return the name of a page."""
        return f"{getattr(self.view, 'page_name', '') or serializer_name}Page"

    @property
    def _keyset_list(self) -> KeysetList | None:
        view: Any = self.view
        return view if self.method == "GET" and isinstance(view, KeysetList) else None


def _parameter(name: str, kind: str = "string") -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": {"type": kind}}
