"""Reads the guard's records visible to a person: dropped objects and policy alarms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import django_filters as filters
from django.db.models import QuerySet
from pymetastore.hive_metastore import ttypes

from lifecycle.guard.domain import Outcome
from lifecycle.inventory.models.findings import visible_to
from lifecycle.models import DroppedObject, PolicyEvent
from portal.access.models import User
from portal.connectors.metastore import from_json
from portal.lake.errors import NotVisible
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import DayInput, ListFilter, prefix

DROPPED_ORDERS = {
    "-dropped": ("-dropped_at",),
    "dropped": ("dropped_at",),
    "name": ("db", "table"),
    "-name": ("-db", "-table"),
}
POLICY_ORDERS = {"-at": ("-at",), "at": ("at",)}
OBJECT_KINDS = [("table", "Tables and views"), ("database", "Databases")]
OPENS = [("yes", "Open alarms"), ("no", "Closed alarms")]


class DroppedFilterSet(ListFilter):
    """Filters of what was dropped."""

    db = prefix("db", "Database")
    table = prefix("table", "Table")
    what = filters.ChoiceFilter(label="What", choices=OBJECT_KINDS, method="filter_what")
    by = filters.CharFilter(label="Dropped by", field_name="dropped_by")
    owner = filters.CharFilter(label="Owner")
    since = filters.DateFilter(
        field_name="dropped_at", lookup_expr="date__gte", label="From", widget=DayInput()
    )
    until = filters.DateFilter(
        field_name="dropped_at", lookup_expr="date__lte", label="To", widget=DayInput()
    )

    class Meta:
        model = DroppedObject
        fields: list[str] = []

    def filter_what(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep databases, or everything else."""
        return rows.filter(table="") if value == "database" else rows.exclude(table="")


class PolicyFilterSet(ListFilter):
    """Filters of policy events."""

    open = filters.ChoiceFilter(label="Alarms", choices=OPENS, method="filter_open")
    outcome = filters.ChoiceFilter(
        label="Result",
        choices=lambda: [(one.value, badge_for(one.value).word) for one in Outcome],
    )
    db = prefix("db", "Database")
    table = prefix("table", "Table")
    actor = filters.CharFilter(label="Who")
    since = filters.DateFilter(
        field_name="at", lookup_expr="date__gte", label="From", widget=DayInput()
    )
    until = filters.DateFilter(
        field_name="at", lookup_expr="date__lte", label="To", widget=DayInput()
    )

    class Meta:
        model = PolicyEvent
        fields: list[str] = []

    def filter_open(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep alarms that wait for an admin, or those that were closed."""
        return rows.filter(is_alarm=True, closed_at__isnull=value == "yes")


@dataclass(frozen=True, slots=True)
class DroppedColumn:
    """One column of a dropped table."""

    name: str
    type: str
    comment: str
    is_partition_key: bool


@dataclass(frozen=True, slots=True)
class DroppedDetail:
    """What the kept Thrift object says beyond the list."""

    columns: tuple[DroppedColumn, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)


def dropped_visible(lake: str, user: User) -> QuerySet[DroppedObject]:
    """Return what was dropped and `user` may see: what they owned, or their databases' objects."""
    mine = DroppedObject.objects.filter(visible_to(user, of_lake=lake))
    if not user.is_lake_staff_of(lake):
        # Their own are looked up first; else a page in order of time reads everybody's.
        mine = DroppedObject.objects.filter(pk__in=mine.values("pk"))
    return mine.defer("struct")


def get_dropped_for_user(lake: str, dropped: UUID, *, user: User) -> DroppedObject:
    """Return one dropped object with its struct, or NotVisible `dropped.missing`."""
    rows = DroppedObject.objects.filter(visible_to(user), lake=lake)
    found = rows.filter(public_id=dropped).first()
    if found is None:
        raise NotVisible("dropped.missing", "There is no such dropped object.")
    return found


def dropped_detail(row: DroppedObject) -> DroppedDetail:
    """Read the kept object; empty where it was too large to keep."""
    if not row.struct:
        return DroppedDetail()
    if not row.table:
        database = from_json(ttypes.Database, row.struct)
        return DroppedDetail(parameters=_sorted(database.parameters))
    table = from_json(ttypes.Table, row.struct)
    storage = table.sd or ttypes.StorageDescriptor()
    columns = [(one, False) for one in storage.cols or ()]
    columns += [(one, True) for one in table.partitionKeys or ()]
    serde = storage.serdeInfo.serializationLib if storage.serdeInfo else None
    named = {"input": storage.inputFormat, "output": storage.outputFormat, "serde": serde}
    return DroppedDetail(
        columns=tuple(
            DroppedColumn(one.name or "", one.type or "", one.comment or "", is_key)
            for one, is_key in columns
        ),
        parameters=_sorted(table.parameters),
        storage={name: value for name, value in named.items() if value},
    )


def policy_events_visible(lake: str, user: User) -> QuerySet[PolicyEvent]:
    """Return the policy events of what `user` may see."""
    return PolicyEvent.objects.filter(visible_to(user, of_lake=lake))


def _sorted(parameters: Mapping[str, str] | None) -> dict[str, str]:
    return dict(sorted((parameters or {}).items()))
