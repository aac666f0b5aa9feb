"""Writes a scan's irregularities to its own log. Each takes one line, with the first names.

The findings pages have them all; the log is where somebody looks who wonders why a table is not
what they expect. Written once the picture is shown, from its rows.
"""

from collections.abc import Iterator

from lifecycle.core.services.people import People, responsible_of
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.models import PathFinding, SamplePartition, ScanSnapshot, TableFinding
from portal.runs.records.logs import Line

NAMED = 5


def scan_report(generation: ScanSnapshot) -> list[Line]:
    """Return the lines of one picture; nothing odd gives none."""
    totals = generation.totals
    found = (
        (
            int(totals.get("missing_directories") or 0),
            "directories that the metastore names do not exist",
            list(_items(generation, ExpiryClass.MISSING_DIRECTORY)),
        ),
        (
            int(totals.get("n_fs_errors") or 0),
            "directories could not be read, so what is there is left alone",
            list(_items(generation, ExpiryClass.UNKNOWN)),
        ),
        (
            sum((totals.get("reasons") or {}).values()),
            "times a path rule is broken; such tables and partitions are only reported",
            list(_paths(generation)),
        ),
        _strangers(generation),
    )
    return [
        Line("warning", f"{n:,} {what}{'; first: ' if names else ''}{', '.join(names)}.")
        for n, what, names in found
        if n
    ]


def _items(generation: ScanSnapshot, cls: ExpiryClass) -> Iterator[str]:
    """Name the first tables with items of a class, each by its first item."""
    tables = TableFinding.objects.filter(
        generation=generation, **{f"n_{cls.value.lower()}__gt": 0}
    ).order_by("db", "table")
    for table in tables[:NAMED]:
        item = SamplePartition.objects.filter(table=table, cls=cls).order_by("pk").first()
        name = f"{table} {item.partition if item else ''}".rstrip()
        unread = item is not None and cls is ExpiryClass.UNKNOWN
        yield f"{name} ({item.reason.rstrip('.')})" if item and unread else name


def _paths(generation: ScanSnapshot) -> Iterator[str]:
    counted = PathFinding.objects.filter(generation=generation, is_excepted=False)
    for one in counted.order_by("pk")[:NAMED]:
        name = f"{'.'.join(filter(None, (one.db, one.table)))} {one.partition}".rstrip()
        yield f"{name} at {one.location} ({', '.join(one.reasons)})"


def _strangers(generation: ScanSnapshot) -> tuple[int, str, list[str]]:
    """Count tables whose owner nobody knows, and say who is told instead."""
    people = People.of(generation.lake)
    tables = TableFinding.objects.filter(generation=generation)
    owners = set(tables.order_by().values_list("owner", flat=True).distinct())
    unknown = tables.filter(owner__in=sorted(owners - people.addresses.keys() - {""}))
    names = []
    for table in unknown.order_by("db", "table")[:NAMED]:
        told = " and ".join(responsible_of(table, people).usernames) or "nobody"
        names.append(f"{table} of {table.owner} ({told} is notified instead)")
    return (
        unknown.count(),
        "tables belong to somebody whom neither portal nor directory know",
        names,
    )
