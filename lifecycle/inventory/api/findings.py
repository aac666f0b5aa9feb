"""API of findings, with reads and requests equivalent to the pages."""

from functools import partial
from typing import Any, cast

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.core.selectors.filters import (
    DATABASE_ORDERS,
    ITEM_ORDERS,
    PATH_ORDERS,
    TABLE_ORDERS,
    DatabaseFilterSet,
    ItemFilterSet,
    PathFilterSet,
)
from lifecycle.core.services.people import People, responsible_of
from lifecycle.inventory.api.serializers import (
    DatabaseSerializer,
    ItemSerializer,
    NeedsAnswerSerializer,
    PathSerializer,
    PictureSerializer,
    ScanSerializer,
    TableDetailSerializer,
    TableSerializer,
    WhySerializer,
)
from lifecycle.inventory.selectors.dropped import gone_since
from lifecycle.inventory.selectors.due import needs_answer
from lifecycle.inventory.selectors.filters import TableFilterSet
from lifecycle.inventory.selectors.findings import (
    current_generation,
    databases_visible,
    get_item_for_user,
    get_table_for_user,
    items_of,
    paths_visible,
    tables_visible,
)
from lifecycle.inventory.selectors.kept import complete_items, complete_tables
from lifecycle.inventory.selectors.why import why_expiring
from lifecycle.inventory.services.scan import scan_request
from portal.access.models import User
from portal.lake.errors import NotAllowed, NotVisible
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import RunSerializer, page_of
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake

LAKE = [OpenApiParameter("lake", str)]


def person(request: Request) -> User:
    """Return the signed-in person (the permission classes let nobody else in)."""
    return cast("User", request.user)


def lake_of(request: Request) -> str:
    """Return the lake that is asked about."""
    return current_lake(request._request)


class Picture(APIView):
    """The last whole picture of the lake."""

    @extend_schema(operation_id="picture_get", responses=PictureSerializer, parameters=LAKE)
    def get(self, request: Request) -> Response:
        """Return how old the picture is and the lake's totals, to admins and operators."""
        user = person(request)
        if not user.is_lake_keeper:
            raise NotAllowed("picture.role", "The whole lake's totals are for admins, operators.")
        generation = current_generation(lake_of(request))
        if generation is None:
            raise NotVisible("scan.none", "No scan has finished yet.")
        return Response(PictureSerializer(generation).data)


class NeedsAnswer(APIView):
    """What waits for your answer."""

    @extend_schema(
        operation_id="needs_answer_get", responses=NeedsAnswerSerializer, parameters=LAKE
    )
    def get(self, request: Request) -> Response:
        """Give what of yours is due or due soon and waits: the number of Home and of the mails."""
        generation = current_generation(lake_of(request))
        if generation is None:
            raise NotVisible("scan.none", "No scan has finished yet.")
        found = needs_answer(generation, person(request), now=timezone.now())
        return Response(NeedsAnswerSerializer(found).data)


class PathList(APIView):
    """Nonconforming paths."""

    @extend_schema(
        operation_id="paths_list",
        responses=page_of("Path", PathSerializer),
        parameters=list_parameters("reason", "state", "kind", "db", "table", "owner", "person"),
    )
    def get(self, request: Request) -> Response:
        """List the nonconforming paths that you may see; `state=WAIVED` gives what is waived."""
        return keyset_response(
            request,
            paths_visible(lake_of(request), person(request)),
            filter_class=PathFilterSet,
            orders=PATH_ORDERS,
            show=lambda row: dict(PathSerializer(row).data),
        )


class TableList(APIView):
    """Tables by what expires in them."""

    @extend_schema(
        operation_id="tables_list",
        responses=page_of("Table", TableSerializer),
        parameters=list_parameters("show", "db", "table", "owner", "person", "mode"),
    )
    def get(self, request: Request) -> Response:
        """List the tables that you may see."""
        lake = lake_of(request)
        gone = gone_since(lake)
        return keyset_response(
            request,
            tables_visible(lake, person(request)),
            filter_class=partial(TableFilterSet, lake=lake, gone=gone),
            orders=TABLE_ORDERS,
            show=lambda row: dict(TableSerializer(row).data),
            complete=partial(complete_tables, gone=gone),
        )


class TableDetail(APIView):
    """One table."""

    @extend_schema(operation_id="tables_get", responses=TableDetailSerializer, parameters=LAKE)
    def get(self, request: Request, db: str, table: str) -> Response:
        """Return a table of the last picture, and who is told about it."""
        lake = lake_of(request)
        found: Any = get_table_for_user(lake, db, table, user=person(request))
        complete_tables([found])
        responsible = responsible_of(found, People.of(lake))
        found.told, found.unknown_owners = responsible.usernames, responsible.unknown
        found.left_owners = responsible.left
        return Response(TableDetailSerializer(found).data)


class ItemList(APIView):
    """Partitions of a table."""

    @extend_schema(
        operation_id="items_list",
        responses=page_of("Item", ItemSerializer),
        parameters=list_parameters("cls", "partition", "due_from", "due_to"),
    )
    def get(self, request: Request, db: str, table: str) -> Response:
        """List a table's items, up to 1,000 of each class."""
        found = get_table_for_user(lake_of(request), db, table, user=person(request))
        return keyset_response(
            request,
            items_of(found),
            filter_class=ItemFilterSet,
            orders=ITEM_ORDERS,
            show=lambda row: dict(ItemSerializer(row).data),
            complete=complete_items,
        )


class Why(APIView):
    """Why an item expires."""

    @extend_schema(
        operation_id="why_get",
        responses=WhySerializer,
        parameters=[*LAKE, OpenApiParameter("partition", str)],
    )
    def get(self, request: Request, db: str, table: str) -> Response:
        """Return both clocks, the notice, and what stops a partition (none given: the table)."""
        partition = request.query_params.get("partition", "")
        found, item, _ = get_item_for_user(
            lake_of(request), db, table, partition, user=person(request)
        )
        if item is None:
            raise NotVisible(
                "item.range_only", "Only its range is kept; the first 1,000 of a class are shown."
            )
        complete_items([item])
        now = timezone.now()
        why = why_expiring(found, item, now=now, today=timezone.localdate(now))
        return Response(WhySerializer(why).data)


class DatabaseList(APIView):
    """Databases and their modes."""

    @extend_schema(
        operation_id="databases_list",
        responses=page_of("Database", DatabaseSerializer),
        parameters=list_parameters("db", "owner", "mode"),
    )
    def get(self, request: Request) -> Response:
        """List the databases that you may see."""
        return keyset_response(
            request,
            databases_visible(lake_of(request), person(request)),
            filter_class=DatabaseFilterSet,
            orders=DATABASE_ORDERS,
            show=lambda row: dict(DatabaseSerializer(row).data),
        )


class Scan(APIView):
    """Scans of the lake."""

    @extend_schema(
        operation_id="scan_start", request=ScanSerializer, responses=RunSerializer, parameters=LAKE
    )
    def post(self, request: Request) -> Response:
        """Start a scan, or give the one that is under way (admins, operators)."""
        body = ScanSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        run = scan_request(
            lake_of(request),
            user=person(request),
            now=timezone.now(),
            reason=body.validated_data["reason"] or "asked for over the API",
        )
        return Response(RunSerializer(run).data)
