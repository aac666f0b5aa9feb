"""Labels of health, tasks and kinds of work. Every page uses the same words."""

from collections.abc import Mapping

from optimizer.core.domain.bands import HealthBand
from optimizer.core.domain.tasks import TaskKind, TaskState
from portal.ui.frame.states import Badge, register_badges

BADGES: Mapping[str, Badge] = {
    f"HEALTH_{HealthBand.GOOD}": Badge("Good", "heart", "good", "80 or more of 100."),
    f"HEALTH_{HealthBand.FAIR}": Badge("Fair", "activity", "warn", "50 to 80 of 100."),
    f"HEALTH_{HealthBand.POOR}": Badge("Poor", "heart-broken", "bad", "Below 50 of 100."),
    f"HEALTH_{HealthBand.UNKNOWN}": Badge(
        "Not known", "help-circle", "quiet", "Its files were not inspected yet."
    ),
    f"TASK_{TaskState.WAITING}": Badge("Queued", "clock", "quiet", "In the queue."),
    f"TASK_{TaskState.HELD}": Badge(
        "Deferred",
        "hourglass",
        "warn",
        "For a person, blackout window, budget or other writers; it says which.",
    ),
    f"TASK_{TaskState.TO_APPROVE}": Badge(
        "Awaiting approval", "clipboard-check", "warn", "A list of what would go waits for people."
    ),
    f"TASK_{TaskState.SENT}": Badge("Running", "loader-2", "busy", "It is in a run."),
    f"TASK_{TaskState.DONE}": Badge("Done", "circle-check", "good"),
    f"TASK_{TaskState.PARTIAL}": Badge(
        "Done in part", "circle-half-2", "warn", "Some of it is committed, the rest is not."
    ),
    f"TASK_{TaskState.NOTHING}": Badge(
        "Nothing to do", "circle-dashed", "quiet", "The table had changed; nothing was left to do."
    ),
    f"TASK_{TaskState.FAILED}": Badge("Failed", "alert-circle", "bad"),
    f"TASK_{TaskState.ABANDONED}": Badge(
        "Abandoned", "git-merge", "warn", "Other writers were first, or the table is gone."
    ),
    f"TASK_{TaskState.CANCELLED}": Badge("Cancelled", "ban", "quiet"),
    f"WORK_{TaskKind.MINOR}": Badge(
        "Small files", "stack-2", "quiet", "Many small files are written into few."
    ),
    f"WORK_{TaskKind.MAJOR}": Badge(
        "Files", "stack-3", "quiet", "Files below the target, and those with many deleted rows."
    ),
    f"WORK_{TaskKind.FULL}": Badge(
        "Whole partitions", "stack", "quiet", "Every file of the partitions is rewritten."
    ),
    f"WORK_{TaskKind.CLUSTER}": Badge(
        "Layout", "layout-grid", "quiet", "Files that are not sorted as configured."
    ),
    f"WORK_{TaskKind.DELETES}": Badge(
        "Delete files", "eraser", "quiet", "Delete files are merged."
    ),
    f"WORK_{TaskKind.MANIFESTS}": Badge("Manifests", "list-tree", "quiet"),
    f"WORK_{TaskKind.EXPIRE}": Badge(
        "Old snapshots", "history-off", "warn", "They cannot be read afterwards."
    ),
    f"WORK_{TaskKind.ORPHANS}": Badge(
        "Orphan files",
        "file-off",
        "warn",
        "Files that no snapshot names are moved into quarantine, and deleted after some days.",
    ),
    f"WORK_{TaskKind.STATISTICS}": Badge("Statistics", "chart-bar", "quiet"),
    f"WORK_{TaskKind.INDEX}": Badge("File indexes", "list-search", "quiet"),
    f"WORK_{TaskKind.CUBE}": Badge("Cubes", "box", "quiet"),
}


def register_state_badges() -> None:
    """Tell the kit how the room's states look."""
    register_badges({str(state): look for state, look in BADGES.items()})
