"""Says how many queries engines told of lately, and what became of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Max, Sum

from optimizer.iceberg.tables.selectors.scans import since
from optimizer.models import QueryDay

_SUMS = (
    *("n_queries", "n_scans", "n_unknown", "n_failed"),
    *("n_unread", "n_unparsed", "n_repeated", "n_dropped"),
)
_SAID = ("unread", "unparsed")


def queries_lately(lake: str, *, now: datetime) -> Sequence[Mapping[str, Any]]:
    """Return for each engine that told of queries in four weeks what became of its events."""
    days = QueryDay.objects.filter(lake=lake, day__gte=since(now)).order_by()
    sums = days.values("engine").annotate(
        last_at=Max("last_at"), **{name: Sum(name) for name in _SUMS}
    )
    found: list[dict[str, Any]] = [dict(one) for one in sums.order_by("engine")]
    for one in found:
        of_engine = days.filter(engine=one["engine"])
        for name in _SAID:
            last = of_engine.exclude(**{name: ""}).order_by("-day").values_list(name, flat=True)
            one[name] = last.first() or ""
    return found
