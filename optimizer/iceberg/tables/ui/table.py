"""The pages of one table: its health, files, layout, commits and tasks, each a tab with a list."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from optimizer.core.domain.tasks import DESTRUCTIVE
from optimizer.core.selectors.tasks import TASK_ORDERS, open_tasks_of, tasks_done, tasks_of
from optimizer.core.ui.columns import cell
from optimizer.iceberg.tables.selectors.commits import (
    COMMIT_ORDERS,
    CommitFilter,
    commits_of,
    last_commits,
)
from optimizer.iceberg.tables.selectors.partitions import (
    FILE_ORDERS,
    HEALTH_ORDERS,
    LAYOUT_ORDERS,
    PartitionFilter,
    coverage_of,
    file_sizes,
    layouts_of,
    least_laid_out,
    partitions_of,
    worst_of,
)
from optimizer.iceberg.tables.selectors.tables import (
    IcebergTaskFilter,
    get_table_for_user,
    last_points,
    since_inspection,
)
from optimizer.iceberg.tables.ui import charts
from optimizer.models import IcebergTable
from portal.ui.frame.context import person
from portal.ui.lists.answers import ListSpec, list_response
from portal.ui.lists.tables import Column

TABS = (
    ("table", "Health"),
    ("table-files", "Files"),
    ("table-layout", "Layout"),
    ("table-commits", "Commits"),
    ("table-tasks", "Tasks"),
    ("table-policy", "Policy"),
)
REMOVAL_KINDS = {kind.lower(): {"kind": kind.value} for kind in DESTRUCTIVE}
_PARTITION = cell("Partition", "partition")
_N_FILES = Column(key="n_files", title="Files", kind="count", sort="files")
_N_BYTES = Column(key="n_bytes", title="Size", kind="bytes", sort="bytes")
_STATS = (
    "partition", "spec_id", "health", "n_files", "n_bytes", "n_rows", "n_small", "small_bytes",
    "n_big", "two_smallest_bytes", "n_pos_delete_files", "n_pos_deleted_rows",
    "n_eq_delete_files", "n_eq_deleted_rows", "n_dvs", "squared_error", "n_laid_out",
    "laid_out_bytes", "newest_commit_at",
)  # fmt: skip

HEALTH = ListSpec(
    template="optimizer/table_health.html",
    caption="Partitions and their health",
    columns=(
        _PARTITION,
        cell("Health", "health", sort="health"),
        cell("Deductions", "deductions", is_wide=True),
        _N_FILES,
        Column(key="n_small", title="Small", kind="count", sort="small"),
        _N_BYTES,
        Column(key="newest_commit_at", title="Last commit", kind="ago"),
    ),
    orders=HEALTH_ORDERS,
    filename="partitions.csv",
    exports=_STATS,
)

FILES = ListSpec(
    template="optimizer/table_files.html",
    caption="Partitions and their files",
    columns=(
        _PARTITION,
        Column(key="n_small", title="Small files", kind="count", sort="small"),
        Column(key="small_bytes", title="In small files", kind="bytes"),
        Column(key="n_big", title="Too big", kind="count"),
        _N_FILES,
        _N_BYTES,
        Column(key="n_rows", title="Rows", kind="count"),
        Column(key="n_pos_delete_files", title="Position deletes", kind="count"),
        Column(key="n_eq_delete_files", title="Equality deletes", kind="count"),
    ),
    orders=FILE_ORDERS,
    filename="partition-files.csv",
    exports=_STATS,
)

LAYOUT = ListSpec(
    template="optimizer/table_layout.html",
    caption="Partitions and their file layout",
    columns=(
        _PARTITION,
        Column(key="n_open", title="Unsorted", kind="count", sort="open"),
        Column(key="n_laid_out", title="Sorted", kind="count"),
        _N_FILES,
        Column(key="laid_out_bytes", title="Size sorted", kind="bytes"),
        _N_BYTES,
    ),
    orders=LAYOUT_ORDERS,
    filename="partition-layout.csv",
    exports=_STATS,
)

COMMITS = ListSpec(
    template="optimizer/table_commits.html",
    caption="Commits",
    columns=(
        Column(key="at", title="When", kind="ago", sort="at"),
        cell("By", "who"),
        Column(key="operation", title="What"),
        Column(key="n_added", title="Files added", kind="count"),
        Column(key="n_removed", title="Files removed", kind="count"),
        Column(key="bytes_added", title="Added", kind="bytes"),
        Column(key="bytes_removed", title="Removed", kind="bytes"),
        Column(key="n_deletes_added", title="Delete files added", kind="count"),
        Column(key="n_changed_partitions", title="Partitions", kind="count"),
        Column(key="snapshot_id", title="Snapshot", kind="code"),
    ),
    orders=COMMIT_ORDERS,
    filename="commits.csv",
    exports=(
        "snapshot_id", "parent_id", "sequence", "at", "event_at", "is_ours", "operation",
        "n_added", "n_removed", "bytes_added", "bytes_removed", "n_deletes_added",
        "n_changed_partitions", "source",
    ),
)  # fmt: skip

TASKS = ListSpec(
    template="optimizer/table_tasks.html",
    caption="Tasks",
    columns=(
        cell("Created", "noted", sort="noted"),
        cell("Work", "work"),
        cell("State", "task_state", is_wide=True),
        Column(key="reason", title="Reason", is_wide=True),
        cell("Before and after", "before_after"),
    ),
    orders=TASK_ORDERS,
    filename="tasks.csv",
    exports=(
        "id", "kind", "state", "reason", "waits_for", "score", "layout", "target_bytes",
        "requested_by", "created_at", "event_at", "started_at", "ended_at", "run", "outcome_code",
        "outcome", "n_conflicts", "n_tries", "seconds", "estimate", "before", "after",
    ),
)  # fmt: skip


@require_GET
def health(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show what the score lost and why, by partition, the worst first."""
    table = get_table_for_user(table_id, person(request))
    filterset = PartitionFilter(request.GET, queryset=partitions_of(table))
    points = last_points(table)
    done = tasks_done(table, since=points[0].at) if points else []
    shown = {"charts": [*charts.heat(worst_of(table)), *charts.trend(points, done)]}
    return list_response(request, HEALTH, filterset=filterset, context=frame_of(table, shown))


@require_GET
def files(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show how many files are of which size."""
    table = get_table_for_user(table_id, person(request))
    filterset = PartitionFilter(request.GET, queryset=partitions_of(table))
    found = file_sizes(table)
    shown = {"sizes": found, "charts": charts.sizes(found)}
    return list_response(request, FILES, filterset=filterset, context=frame_of(table, shown))


@require_GET
def layout(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show which files lie as asked."""
    table = get_table_for_user(table_id, person(request))
    filterset = PartitionFilter(request.GET, queryset=partitions_of(table))
    shown = {
        "coverage": coverage_of(table),
        "layouts": layouts_of(table),
        "charts": charts.coverage(least_laid_out(table)),
    }
    return list_response(request, LAYOUT, filterset=filterset, context=frame_of(table, shown))


@require_GET
def commits(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show what was committed, by writers and by us."""
    table = get_table_for_user(table_id, person(request))
    filterset = CommitFilter(request.GET, queryset=commits_of(table))
    shown = {"charts": charts.timeline(last_commits(table))}
    return list_response(request, COMMITS, filterset=filterset, context=frame_of(table, shown))


@require_GET
def tasks(request: HttpRequest, table_id: int) -> HttpResponseBase:
    """Show what was done to the table, and what is to be done."""
    table = get_table_for_user(table_id, person(request))
    filterset = IcebergTaskFilter(request.GET, queryset=tasks_of(table))
    return list_response(request, TASKS, filterset=filterset, context=frame_of(table, {}))


def frame_of(table: IcebergTable, shown: dict[str, Any]) -> dict[str, Any]:
    """Return what stands above every tab, and the tab's own."""
    return {
        "iceberg": table,
        "open_tasks": open_tasks_of(table),
        "since": since_inspection(table),
        "tabs": TABS,
        "removal_kinds": REMOVAL_KINDS,
        **shown,
    }
