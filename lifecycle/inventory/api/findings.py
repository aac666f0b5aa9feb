"""API of findings, with reads and requests equivalent to the pages."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter

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
from lifecycle.inventory.selectors.item_details import expiry_reason
from lifecycle.inventory.selectors.kept import complete_items, complete_tables
from lifecycle.inventory.services.scan import scan_request
from portal.lake.errors import NotAllowed, NotVisible
from portal.ui.api.operations import LAKE, ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import RunSerializer


class Picture(ApiView):
    """The last whole picture of the lake."""

    @operation("picture_get", answer=PictureSerializer, parameters=LAKE)
    def get(self) -> object:
        """Return how old the picture is and the lake's totals, to admins and operators."""
        if not self.user.is_lake_staff_of(self.lake):
            raise NotAllowed("picture.role", "The whole lake's totals are for admins, operators.")
        generation = current_generation(self.lake)
        if generation is None:
            raise NotVisible("scan.none", "No scan has finished yet.")
        return generation


class NeedsAnswer(ApiView):
    """What waits for your answer."""

    @operation("needs_answer_get", answer=NeedsAnswerSerializer, parameters=LAKE)
    def get(self) -> object:
        """Give what of yours is due or due soon and waits: the number of Home and of the mails."""
        generation = current_generation(self.lake)
        if generation is None:
            raise NotVisible("scan.none", "No scan has finished yet.")
        return needs_answer(generation, self.user, now=timezone.now())


class PathList(KeysetList):
    """Path rule violations."""

    operation_id = "paths_list"
    serializer_class = PathSerializer
    filterset_class = PathFilterSet
    orders = PATH_ORDERS

    def get_queryset(self) -> Rows:
        """List the path rule violations that you may see; `state=WAIVED` gives what is waived."""
        return paths_visible(self.lake, self.user)


class TableList(KeysetList):
    """Tables by what expires in them."""

    operation_id = "tables_list"
    serializer_class = TableSerializer
    filterset_class = TableFilterSet
    orders = TABLE_ORDERS

    def get_queryset(self) -> Rows:
        """List the tables that you may see."""
        self._gone = gone_since(self.lake)
        self.filter_values = {"lake": self.lake, "gone": self._gone}
        return tables_visible(self.lake, self.user)

    def completed(self, rows: list[Any]) -> list[Any]:
        """Take off what drops took since the scan."""
        complete_tables(rows, gone=self._gone)
        return rows


class TableDetail(ApiView):
    """One table."""

    @operation("tables_get", answer=TableDetailSerializer, parameters=LAKE)
    def get(self, db: str, table: str) -> object:
        """Return a table of the last picture, and who is notified of it."""
        found: Any = get_table_for_user(self.lake, db, table, user=self.user)
        complete_tables([found])
        responsible = responsible_of(found, People.of(self.lake))
        found.notified, found.unknown_owners = responsible.usernames, responsible.unknown
        found.left_owners = responsible.left
        return found


class ItemList(KeysetList):
    """Partitions of a table."""

    operation_id = "items_list"
    serializer_class = ItemSerializer
    filterset_class = ItemFilterSet
    orders = ITEM_ORDERS
    complete = staticmethod(complete_items)

    def get_queryset(self) -> Rows:
        """List a table's items, up to 1,000 of each class."""
        found = get_table_for_user(
            self.lake, self.kwargs["db"], self.kwargs["table"], user=self.user
        )
        return items_of(found)


class Why(ApiView):
    """Why an item expires."""

    @operation(
        "why_get", answer=WhySerializer, parameters=[*LAKE, OpenApiParameter("partition", str)]
    )
    def get(self, db: str, table: str) -> object:
        """Return both clocks, the notice, and what stops a partition (none given: the table)."""
        partition = self.request.query_params.get("partition", "")
        found, item, _ = get_item_for_user(self.lake, db, table, partition, user=self.user)
        if item is None:
            raise NotVisible(
                "item.range_only", "Only its range is kept; the first 1,000 of a class are shown."
            )
        complete_items([item])
        now = timezone.now()
        return expiry_reason(found, item, now=now, today=timezone.localdate(now))


class DatabaseList(KeysetList):
    """Databases and their modes."""

    operation_id = "databases_list"
    serializer_class = DatabaseSerializer
    filterset_class = DatabaseFilterSet
    orders = DATABASE_ORDERS

    def get_queryset(self) -> Rows:
        """List the databases that you may see."""
        return databases_visible(self.lake, self.user)


class Scan(ApiView):
    """Scans of the lake."""

    @operation("scan_start", body=ScanSerializer, answer=RunSerializer, parameters=LAKE)
    def post(self) -> object:
        """Start a scan, or give the one that is under way (admins, operators)."""
        return scan_request(
            self.lake,
            user=self.user,
            now=timezone.now(),
            reason=self.data["reason"] or "asked for over the API",
        )
