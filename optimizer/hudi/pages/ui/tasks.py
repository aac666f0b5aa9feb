"""The tab of a Hudi table's tasks, and the part of its pages that shows how far open ones are."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from optimizer.core.domain.tasks import TaskState
from optimizer.core.selectors.tasks import (
    TASK_ORDERS,
    Running,
    TaskFilter,
    kind_filter,
    open_tasks_of,
    runs_by_id,
    tasks_of,
)
from optimizer.core.ui.columns import cell
from optimizer.hudi.inspect.selectors.snapshots import last_inspection
from optimizer.hudi.pages.ui.nav import frame_of
from optimizer.hudi.tables.selectors.tables import get_hudi_for_user
from optimizer.models import HudiTable
from portal.ui.frame.context import person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column

HUDI_TASKS = ListSpec(
    template="optimizer/hudi_tasks.html",
    caption="Tasks",
    columns=(
        cell("Created", "noted", sort="noted"),
        cell("Work", "work"),
        cell("Cancel", "cancel"),
        cell("State and result", "task_state", is_wide=True),
        Column(key="reason", title="Reason", is_wide=True),
        cell("Instants", "hudi_instants"),
        cell("Before and after", "hudi_before_after"),
    ),
    orders=TASK_ORDERS,
    filename="hudi-tasks.csv",
    exports=(
        "id", "kind", "state", "reason", "waits_for", "instants", "requested_by", "created_at",
        "started_at", "ended_at", "run", "outcome_code", "outcome", "n_conflicts", "n_tries",
        "seconds", "before", "after",
    ),
)  # fmt: skip


class HudiTaskFilter(TaskFilter):
    """Tasks of a Hudi table by state and kind."""

    kind = kind_filter(HudiTable)


@require_GET
def tasks(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show what was done to the table, and what is to be done."""
    table = get_hudi_for_user(table_id, person(request))
    filterset = HudiTaskFilter(request.GET, queryset=tasks_of(table))
    context = frame_of(table, last_inspection(table), now_of(table))
    return list_response(request, HUDI_TASKS, filterset=filterset, context=context)


@require_GET
def tasks_now(request: HttpRequest, table_id: int) -> HttpResponse:
    """Return the part of the page that keeps itself up to date."""
    table = get_hudi_for_user(table_id, person(request))
    return render(request, "optimizer/_hudi_now.html", {"hudi": table, **now_of(table)})


def now_of(table: HudiTable) -> dict[str, Any]:
    """Return what is open of a table, with the runs that have it."""
    found = open_tasks_of(table)
    runs = runs_by_id(one.run for one in found)
    return {
        "open_tasks": [Running(one, runs.get(one.run) if one.run else None) for one in found],
        "is_running": any(one.state == TaskState.SENT for one in found),
    }
