"""The pages of expiring data: tables, one table's partitions, and why one of them expires."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.views.decorators.http import require_GET

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.core.selectors.filters import (
    ITEM_ORDERS,
    TABLE_ORDERS,
    ItemFilterSet,
)
from lifecycle.core.services.people import People, responsible_of
from lifecycle.core.ui.links import details_url, list_url, partitions_url, table_url
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.selectors.dropped import GoneOf, gone_since, take_off_dropped
from lifecycle.inventory.selectors.filters import TableFilterSet
from lifecycle.inventory.selectors.findings import (
    current_generation,
    get_table_for_user,
    items_of,
    ranges_of,
    tables_visible,
    totals_for,
    trend,
)
from lifecycle.inventory.selectors.kept import complete_items, complete_tables, table_kept
from lifecycle.inventory.selectors.policy import may_answer
from lifecycle.inventory.ui.charts import days_chart
from lifecycle.models import SamplePartition, ScanSnapshot, TableFinding
from portal.access.models import User
from portal.ui.charts.figures import Axes, Chart
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column
from portal.ui.tables.addresses import moved_to_tab

RANGES_SHOWN = 200
LIFECYCLE, PARTITIONS = "lifecycle", "partitions"
LIST_PLACES = ("sort", "after", "before", "size", "format")
# The forms of the check boxes.
ANSWERS, PARTITION_ANSWERS = "answers", "partition-answers"


def _table_url(row: TableFinding) -> str:
    return table_url(row.lake, row.db, row.table)


def _of_class(cls: str) -> Callable[[TableFinding], str]:
    def url(row: TableFinding) -> str:
        return partitions_url(row.lake, row.db, row.table, cls=cls)

    return url


def _details_url(row: SamplePartition) -> str:
    return details_url(row.table.lake, row.table.db, row.table.table, row.partition)


TABLES = ListSpec(
    template="lifecycle/expiring.html",
    caption="Tables and what expires in them",
    columns=(
        Column(key="__str__", title="Table", kind="code", sort="name", url=_table_url),
        Column(key="mode_now", title="Mode", kind="state", shown_from="tablet"),
        Column(key="owner", title="Owner", sort="owner", shown_from="tablet"),
        Column(
            key="ttl",
            title="TTL days",
            kind="count",
            help="From the table's own parameters",
            shown_from="tablet",
        ),
        Column(
            key="n_clean_now",
            title="Due",
            kind="count",
            is_zero_blank=True,
            url=_of_class("CLEAN_NOW"),
        ),
        Column(
            key="bytes_clean_now",
            title="Size due now",
            kind="bytes",
            sort="size",
            is_zero_blank=True,
        ),
        Column(
            key="n_soon",
            title="Due soon",
            kind="count",
            is_zero_blank=True,
            url=_of_class("SOON"),
            shown_from="tablet",
        ),
        Column(
            key="n_still_read",
            title="Recently read",
            kind="count",
            is_zero_blank=True,
            url=_of_class("STILL_READ"),
            shown_from="tablet",
        ),
        Column(key="next_due_on", title="First due", kind="day", sort="due"),
        Column(key="kept", title="Kept", kind="template", template="lifecycle/_cell_kept.html"),
        Column(key="n_partitions", title="Partitions", kind="count", shown_from="tablet"),
    ),
    select="rows",
    orders=TABLE_ORDERS,
    filename="expiring-tables.csv",
    exports=(
        "db", "table", "owner", "db_owner", "mode_now", "table_type", "format", "location", "level",
        "ttl", "policy_source", "enrolled", "reasons", "unsupported_reason", "n_partitions",
        "n_files", "n_bytes", "n_clean_now", "bytes_clean_now", "n_soon", "bytes_soon",
        "n_still_read", "bytes_still_read", "n_not_now", "n_held", "n_not_enrolled",
        "n_unsupported", "n_nonconforming", "n_unready", "n_keep_forever", "n_missing_directory",
        "n_unknown", "next_due_on", "oldest_updated_at", "newest_updated_at", "kept",
    ),
)  # fmt: skip

ITEMS = ListSpec(
    template="lifecycle/table.html",
    caption="Partitions of the table",
    columns=(
        Column(key="__str__", title="Partition", kind="code", sort="name", url=_details_url),
        Column(key="cls", title="Class", kind="template", template="lifecycle/_cell_class.html"),
        Column(key="kept", title="Kept", kind="template", template="lifecycle/_cell_kept.html"),
        Column(key="due_on", title="Due", kind="day", sort="due"),
        Column(key="updated_at", title="Last update", kind="ago"),
        Column(key="read_at", title="Last read", kind="ago", help="Unknown where not recorded"),
        Column(key="n_files", title="Files", kind="count"),
        Column(key="n_bytes", title="Size", kind="bytes"),
    ),
    select="partitions",
    orders=ITEM_ORDERS,
    filename="partitions.csv",
    exports=(
        "partition", "location", "cls", "reason", "level", "ttl", "policy_source", "ddl_at",
        "created_at", "modified_at", "read_at", "updated_at", "winner", "due_at", "due_on",
        "n_files", "n_bytes", "ready", "kept",
    ),
)  # fmt: skip


@require_GET
def expiring(request: HttpRequest) -> HttpResponseBase:
    """List tables by what expires in them: those with something due now or soon, unless asked."""
    lake, user = current_lake(request), person(request)
    asked = _asked(request)
    generation = current_generation(lake)
    gone = gone_since(lake)
    filterset = TableFilterSet(asked, tables_visible(lake, user), lake=lake, gone=gone)
    context = {
        "generation": generation,
        "totals": totals_for(lake, user, gone),
        "urls": {
            cls.value: list_url("expiring", lake, show=cls.value)
            for cls in (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.STILL_READ)
        },
        "chart": _chart(lake, generation, user),
        "form": ANSWERS,
        "asked": asked.urlencode(),
        "is_plain": asked is not request.GET,
    }
    return list_response(
        request,
        TABLES,
        filterset=filterset,
        context=context,
        complete=partial(_complete, user=user, gone=gone),
    )


def _asked(request: HttpRequest) -> QueryDict:
    """Return the filter of the address; what is due or due soon where it names none."""
    if any(name in request.GET for name in TableFilterSet.base_filters):
        return request.GET
    asked = request.GET.copy()
    asked["show"] = "week"
    return asked


def _complete(rows: Sequence[Any], *, user: User, gone: GoneOf) -> None:
    """Read along what is kept and dropped; a row is ticked where its person's answer is wanted."""
    complete_tables(rows, gone=gone)
    for row in rows:
        row.may_select = may_answer(user, row) and not row.kept.is_answered


@require_GET
def table(request: HttpRequest, db: str, table: str) -> HttpResponseBase:
    """Lead to the tab of the table's page; show it here while the catalog has no such table."""
    key = PARTITIONS if asks_for_items(request) else LIFECYCLE
    return moved_to_tab(request, db, table, key) or partitions_page(request, db, table)


def asks_for_items(request: HttpRequest) -> bool:
    """Whether an address asks for a filter, an order or a place of the list of partitions."""
    return any(name in request.GET for name in (*ItemFilterSet.base_filters, *LIST_PLACES))


def partitions_page(request: HttpRequest, db: str, table: str) -> HttpResponseBase:
    """Show the ranges of one table's partitions, then its partitions."""
    lake, user = current_lake(request), person(request)
    found: Any = get_table_for_user(lake, db, table, user=user)
    gone = gone_since(lake, db=db, table=table)
    take_off_dropped([found], gone)
    rows = items_of(found).select_related("table")
    filterset = ItemFilterSet(request.GET, queryset=rows)
    may_tick = may_answer(user, found) and found.n_partitions > 0

    def complete(items: Sequence[Any]) -> None:
        complete_items(items, may_be_dropped=bool(gone))
        for item in items:
            item.may_select = may_tick and not item.kept.n_dropped

    context = {
        "generation": found.generation,
        "found": found,
        "ranges": ranges_of(found)[:RANGES_SHOWN],
        "form": PARTITION_ANSWERS,
    }
    return list_response(request, ITEMS, filterset=filterset, context=context, complete=complete)


def table_facts(found: Any, *, now: datetime) -> dict[str, Any]:
    """Return what is shown of a table as a whole: its people, its classes, what keeps it."""
    people = People.of(found.lake)
    return {
        "generation": found.generation,
        "found": found,
        "mode": DatabaseMode(found.mode_now),
        "classes": _classes(found),
        "people": people,
        "responsible": responsible_of(found, people),
        "kept": table_kept(found, now=now),
    }


def _classes(found: TableFinding) -> list[dict[str, Any]]:
    return [
        {
            "cls": cls.value,
            "n": getattr(found, f"n_{cls.value.lower()}"),
            "bytes": found.class_bytes.get(cls.value),
            "url": partitions_url(found.lake, found.db, found.table, cls=cls.value),
        }
        for cls in ExpiryClass
        if getattr(found, f"n_{cls.value.lower()}")
    ]


def _chart(lake: str, generation: ScanSnapshot | None, user: User) -> Chart | None:
    if generation is None or not user.is_lake_staff_of(lake):
        return None
    metrics = {
        "class.CLEAN_NOW.bytes": "due now",
        "class.SOON.bytes": "due soon",
        "class.STILL_READ.bytes": "recently read",
    }
    points = trend(lake, list(metrics), today=generation.day)
    series = {name: points[metric] for metric, name in metrics.items() if points[metric]}
    axes = Axes("Day of the scan", "Size", "bytes")
    title = "Data due in the whole lake"
    return days_chart("due", title=title, series=series, axes=axes, is_stacked=True)
