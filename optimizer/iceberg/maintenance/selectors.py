"""Selects the tables that may name files which lie at another table's place."""

from collections.abc import Iterator

from django.db.models import Q

from optimizer.models import IcebergTable

_MOST_NEW = 100


def may_borrow(table: IcebergTable) -> Iterator[dict[str, str]]:
    """Return the tables of the lake that have files outside of their own places, by any look.

    The newest of those that were never looked at are among them: nothing is known of their files.
    """
    others = IcebergTable.objects.filter(lake=table.lake, is_deleted=False).exclude(pk=table.pk)
    unknown = others.filter(inspected_at=None, snapshot_id__isnull=False).order_by("-event_at")
    keys = list(unknown.values_list("pk", flat=True)[:_MOST_NEW])
    found = others.filter(Q(uses_outside=True) | Q(pk__in=keys)).order_by("pk")
    for db, name, uuid in found.values_list("db", "table", "uuid"):
        yield {"db": db, "table": name, "uuid": uuid}
