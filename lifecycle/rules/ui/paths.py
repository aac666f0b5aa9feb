"""The page of nonconforming paths: which, why, beside what, and what to do about each."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_GET

from lifecycle.core.selectors.filters import PATH_ORDERS, PathFilterSet
from lifecycle.core.ui.badges import reason_word
from lifecycle.core.ui.links import database_url, list_url, table_url
from lifecycle.inventory.selectors.findings import (
    current_generation,
    path_scope,
    paths_visible,
    reason_counts,
    trend,
)
from lifecycle.inventory.ui.charts import days_chart
from lifecycle.models import PathFinding, ScanSnapshot
from lifecycle.rules.domain.conformity import Reason
from lifecycle.rules.selectors.exceptions import exceptions_standing, with_exceptions
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of
from portal.ui.charts.figures import Axes, Chart
from portal.ui.frame.context import current_lake, person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column


def _name_url(row: PathFinding) -> str:
    if not row.table:
        return database_url(row.lake, row.db)
    return table_url(row.lake, row.db, row.table)


PATHS = ListSpec(
    template="lifecycle/paths.html",
    caption="Path rule violations",
    columns=(
        Column(key="__str__", title="Name", kind="code", sort="name", url=_name_url),
        Column(key="state", title="State", kind="template", template="lifecycle/_path_state.html"),
        Column(
            key="hint", title="Why, and what to do", kind="template",
            template="lifecycle/_remedy.html",
        ),
        Column(key="owner", title="Owner", sort="owner"),
        Column(key="location", title="Path", kind="template", template="lifecycle/_place.html"),
    ),
    orders=PATH_ORDERS,
    filename="nonconforming-paths.csv",
    exports=(
        "kind", "db", "table", "partition", "owner", "db_owner", "location", "reasons", "related",
        "hint", "state", "waived", "excepted_until",
    ),
)  # fmt: skip


@require_GET
def paths(request: HttpRequest) -> HttpResponseBase:
    """List the paths that break the rules."""
    lake, user = current_lake(request), person(request)
    generation = current_generation(lake)
    today = day_of(timezone.now(), get_lake(lake).zone)
    rows = with_exceptions(paths_visible(lake, user), lake, today=today)
    filterset = PathFilterSet(request.GET, queryset=rows)
    context = {
        "has_waived": exceptions_standing(lake, today=today).exists(),
        "generation": generation,
        "reasons": _reasons(lake, user),
        "scope": None if user.is_lake_staff_of(lake) else path_scope(lake, user),
        "chart": _chart(lake, generation, user),
    }
    return list_response(request, PATHS, filterset=filterset, context=context)


def _reasons(lake: str, user: User) -> list[dict[str, Any]]:
    return [
        {
            "name": reason,
            "word": reason_word(reason),
            "n": n,
            "url": list_url("paths", lake, reason=reason),
        }
        for reason, n in reason_counts(lake, user).items()
        if n
    ]


def _chart(lake: str, generation: ScanSnapshot | None, user: User) -> Chart | None:
    """Return the trend of each reason in the whole lake, for who sees the whole lake."""
    if generation is None or not user.is_lake_staff_of(lake):
        return None
    metrics = {f"reason.{reason.value}": reason.value for reason in Reason}
    points = trend(lake, list(metrics), today=generation.day)
    series = {name: points[metric] for metric, name in metrics.items() if points[metric]}
    return days_chart(
        "reasons",
        title="Violated rules by day",
        series=series,
        axes=Axes("Day of the scan", "Violations"),
        is_stacked=True,
    )
