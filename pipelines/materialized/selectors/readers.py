"""Says what sources of materializations must keep of their old versions, and for how long."""

from collections.abc import Iterator
from datetime import UTC

from django.utils import timezone

from pipelines.commits.domain.holds import Hold, capped_by_lake, hold_of
from pipelines.commits.domain.hudi_timeline import instant_at
from pipelines.models import Materialization
from portal.access.gauges import Gauge, Sample, register_gauge
from portal.access.lakes import get_lake
from portal.catalog.services.change_readers import ChangeReader, register_change_readers
from portal.lake.names import TableName


def register() -> None:
    """Have sources of materializations asked about, and the alarm measured."""
    register_change_readers("pipelines.materialized", table_readers)
    words = "Sources that keep nothing for a materialization any more."
    gauge = Gauge("materialization_hold_capped", words, _capped, labels=("lake",))
    register_gauge(gauge)


def hold_on_facts(row: Materialization) -> Hold | None:
    """Return what the table of facts must keep for a materialization; None: nothing.

    A change of a joined table computes everything anyway, so those keep nothing. While it is
    paused, nobody waits for it.
    """
    position = row.positions.get(row.source)
    if row.is_paused or row.fresh_at is None or position is None or not position.get("commit"):
        return None
    since = row.fresh_at
    if "/" in position["table"]:  # a Hudi table is known by its place, and its commits are times
        # Which time zone its writer is in is not known here: the earlier moment keeps no less.
        zones = (UTC, get_lake(row.lake).zone)
        since = min(since, *(instant_at(position["commit"], zone) for zone in zones))
    return hold_of(since, row.fresh_at, now=timezone.now())


def table_readers(table: TableName) -> list[ChangeReader]:
    """Return the materializations that read the changes of a table, with what it keeps for each.

    By number: their names are not for everybody who may see the table.
    """
    source = f"{table.db}.{table.table}"
    rows = Materialization.objects.filter(lake=str(table.lake), source=source).order_by("pk")
    holds = ((row, hold_on_facts(row)) for row in rows)
    return [
        ChangeReader(f"materialization {row.pk}", hold.since, is_capped=hold.is_capped)
        for row, hold in holds
        if hold is not None
    ]


def _capped() -> Iterator[Sample]:
    rows = Materialization.objects.order_by("pk")
    for lake, n_capped in capped_by_lake((row.lake, hold_on_facts(row)) for row in rows):
        yield {"lake": lake}, float(n_capped)
