"""Labels of Hudi table states. Every page uses the same words."""

from collections.abc import Mapping

from optimizer.hudi.inspect.domain.facts import InstantState, TableType
from optimizer.hudi.inspect.domain.findings import Code, Severity
from optimizer.hudi.inspect.selectors.instants import STUCK
from optimizer.hudi.maintenance.domain.tasks import LISTED, Service, Step, task_name
from portal.ui.frame.states import Badge, register_badges

_LOOKS: Mapping[str, Badge] = {
    f"HUDI_{TableType.COPY_ON_WRITE}": Badge(
        "Copy on write", "copy", "quiet", "Every write makes whole base files."
    ),
    f"HUDI_{TableType.MERGE_ON_READ}": Badge(
        "Merge on read", "git-merge", "quiet", "Updates are in logs until they are compacted."
    ),
    f"SEVERITY_{Severity.CRITICAL}": Badge(
        "Critical",
        "alert-octagon",
        "bad",
        "Rows are wrong, lost or late, and nobody will repair it.",
    ),
    f"SEVERITY_{Severity.WARNING}": Badge(
        "Warning", "alert-triangle", "warn", "It gets worse by itself."
    ),
    f"SEVERITY_{Severity.INFO}": Badge("Worth knowing", "info-circle", "quiet"),
    **{
        f"FINDING_{code}": Badge(word, icon, "quiet")
        for code, word, icon in (
            (Code.CORRUPT_BLOCKS, "Corrupt log blocks", "file-broken"),
            (Code.LOST_BASE, "Lost base file", "file-off"),
            (Code.UNKNOWN_BLOCKS, "Blocks of unknown instants", "help-circle"),
            (Code.DUPLICATE_KEYS, "Duplicate keys", "copy"),
            (Code.STUCK, "Stuck instant", "zzz"),
            (Code.STALE_VIEW, "Stale read-optimized view", "clock-exclamation"),
            (Code.NEVER_EXECUTED, "Plan never executed", "clock-pause"),
            (Code.PLANS_PILE_UP, "Pending plans", "stack-2"),
        )
    },
    f"INSTANT_{InstantState.REQUESTED}": Badge(
        "Requested", "clock", "quiet", "Planned; nobody has begun it."
    ),
    f"INSTANT_{InstantState.INFLIGHT}": Badge("Inflight", "loader-2", "busy", "Begun."),
    f"INSTANT_{InstantState.COMPLETED}": Badge("Completed", "circle-check", "good"),
    f"INSTANT_{STUCK}": Badge(
        "Stuck", "zzz", "bad", "It began, never ended, and gave no sign of life for too long."
    ),
    f"SERVICE_{Service.COMPACTION}": Badge(
        "Compaction", "arrows-minimize", "quiet", "Logs are merged into base files."
    ),
    f"SERVICE_{Service.CLUSTERING}": Badge(
        "Clustering", "layout-grid", "quiet", "Base files are rewritten in another size or order."
    ),
    f"SERVICE_{Service.CLEAN}": Badge(
        "Clean", "eraser", "warn", "File versions that no reader needs go for good."
    ),
    f"SERVICE_{Service.ROLLBACK}": Badge(
        "Rollback", "arrow-back-up", "quiet", "What began and never ended is rolled back."
    ),
    f"SERVICE_{Service.RECOVERY}": Badge(
        "Lost rows",
        "arrow-back-up",
        "quiet",
        "Rows in logs that nobody reads come back, by approval.",
    ),
    f"SERVICE_{Service.TTL}": Badge(
        "Partition TTL", "calendar-off", "warn", "Whole partitions are dropped by their age."
    ),
}

_SERVICE_BADGES = {
    Service.COMPACTION: ("Compaction", "stack-2", "Logs are merged into base files."),
    Service.CLUSTERING: ("Clustering", "layout-grid", "Base files in another size or order."),
    Service.CLEAN: ("Clean", "eraser", "File versions that no reader needs any more go."),
    Service.ROLLBACK: ("Rollback", "arrow-back-up", "What began and never ended is undone."),
    Service.RECOVERY: ("Lost rows", "arrow-back-up", "Rows that nobody reads come back from logs."),
    Service.TTL: ("Partition TTL", "history-off", "Whole partitions are dropped by their age."),
}
HUDI_BADGES: Mapping[str, Badge] = {
    f"WORK_{task_name(service, step)}": Badge(
        f"{words}: {'plan' if step is Step.SCHEDULE else 'run'}",
        icon,
        "warn" if task_name(service, step) in LISTED else "quiet",
        what,
    )
    for service, (words, icon, what) in _SERVICE_BADGES.items()
    for step in Step
}


def register_hudi_words() -> None:
    """Tell the kit how the states of Hudi tables look."""
    register_badges({str(state): look for state, look in {**_LOOKS, **HUDI_BADGES}.items()})
