"""Labels of the optimizer's states. Every page uses the same words."""

from collections.abc import Mapping

from optimizer.core.domain.bands import HealthBand
from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.hudi.maintenance.domain.tasks import LISTED, Service, Step, task_name
from optimizer.iceberg.maintenance.domain.expiry import Stay
from optimizer.iceberg.maintenance.domain.orphans import Left
from optimizer.iceberg.maintenance.domain.quarantine import QuarantineState
from optimizer.removals.domain.states import RemovalState
from portal.ui.frame.states import StateLook, register_states

SECTION = "File health"

LOOKS: Mapping[str, StateLook] = {
    f"HEALTH_{HealthBand.GOOD}": StateLook("Good", "heart", "good", "80 or more of 100."),
    f"HEALTH_{HealthBand.FAIR}": StateLook("Fair", "activity", "warn", "50 to 80 of 100."),
    f"HEALTH_{HealthBand.POOR}": StateLook("Poor", "heart-broken", "bad", "Below 50 of 100."),
    f"HEALTH_{HealthBand.UNKNOWN}": StateLook(
        "Not known", "help-circle", "quiet", "Nobody has looked at its files yet."
    ),
    f"TASK_{TaskState.WAITING}": StateLook("Waits", "clock", "quiet", "For its turn."),
    f"TASK_{TaskState.HELD}": StateLook(
        "Held",
        "hourglass",
        "warn",
        "For a person, quiet hours, budget or other writers; it says which.",
    ),
    f"TASK_{TaskState.TO_APPROVE}": StateLook(
        "To approve", "clipboard-check", "warn", "A list of what would go waits for people."
    ),
    f"TASK_{TaskState.SENT}": StateLook("Runs", "loader-2", "busy", "It is in a run."),
    f"TASK_{TaskState.DONE}": StateLook("Done", "circle-check", "good"),
    f"TASK_{TaskState.PARTIAL}": StateLook(
        "Done in part", "circle-half-2", "warn", "Some of it is committed, the rest is not."
    ),
    f"TASK_{TaskState.NOTHING}": StateLook(
        "Nothing to do", "circle-dashed", "quiet", "The table had changed; nothing was left to do."
    ),
    f"TASK_{TaskState.FAILED}": StateLook("Failed", "alert-circle", "bad"),
    f"TASK_{TaskState.ABANDONED}": StateLook(
        "Given up", "git-merge", "warn", "Other writers came first, or the table went."
    ),
    f"TASK_{TaskState.CANCELLED}": StateLook("Cancelled", "ban", "quiet"),
    f"WORK_{TaskKind.MINOR}": StateLook(
        "Small files", "stack-2", "quiet", "Many small files are written into few."
    ),
    f"WORK_{TaskKind.MAJOR}": StateLook(
        "Files", "stack-3", "quiet", "Files below the target, and those with many deleted rows."
    ),
    f"WORK_{TaskKind.FULL}": StateLook(
        "Whole partitions", "stack", "quiet", "Every file of the partitions is written anew."
    ),
    f"WORK_{TaskKind.CLUSTER}": StateLook(
        "Layout", "layout-grid", "quiet", "Files that do not lie in the order asked for."
    ),
    f"WORK_{TaskKind.DELETES}": StateLook(
        "Delete files", "eraser", "quiet", "Delete files are merged."
    ),
    f"WORK_{TaskKind.MANIFESTS}": StateLook("Manifests", "list-tree", "quiet"),
    f"WORK_{TaskKind.EXPIRE}": StateLook(
        "Old snapshots", "history-off", "warn", "They cannot be read afterwards."
    ),
    f"WORK_{TaskKind.ORPHANS}": StateLook(
        "Orphan files",
        "file-off",
        "warn",
        "Files that no snapshot names are moved into quarantine, and deleted after some days.",
    ),
    f"WORK_{TaskKind.STATISTICS}": StateLook("Statistics", "chart-bar", "quiet"),
}

_SERVICE_LOOKS = {
    Service.COMPACTION: ("Compaction", "stack-2", "Logs are merged into base files."),
    Service.CLUSTERING: ("Clustering", "layout-grid", "Base files in another size or order."),
    Service.CLEAN: ("Clean", "eraser", "File versions that no reader needs any more go."),
    Service.ROLLBACK: ("Rollback", "arrow-back-up", "What began and never ended is undone."),
    Service.RECOVERY: ("Lost rows", "arrow-back-up", "Rows that nobody reads come back from logs."),
    Service.TTL: ("Partitions by age", "history-off", "Whole partitions go, by their age."),
}
HUDI_LOOKS: Mapping[str, StateLook] = {
    f"WORK_{task_name(service, step)}": StateLook(
        f"{words}: {'plan' if step is Step.SCHEDULE else 'run'}",
        icon,
        "warn" if task_name(service, step) in LISTED else "quiet",
        what,
    )
    for service, (words, icon, what) in _SERVICE_LOOKS.items()
    for step in Step
}

RECOVERY_LOOKS: Mapping[str, StateLook] = {
    f"RECOVERY_{RemovalState.RUNNING}": StateLook("Being brought back", "loader-2", "busy"),
    f"RECOVERY_{RemovalState.DONE}": StateLook("Brought back", "circle-check", "good"),
    f"RECOVERY_{RemovalState.PARTIAL}": StateLook("Brought back in part", "circle-half-2", "warn"),
    f"RECOVERY_{RemovalState.NOTHING}": StateLook(
        "Nothing brought back", "circle-dashed", "quiet", "Nothing on the list was lost any more."
    ),
}

REMOVAL_LOOKS: Mapping[str, StateLook] = {
    f"REMOVAL_{RemovalState.PENDING}": StateLook("Waiting for approval", "hourglass", "warn"),
    f"REMOVAL_{RemovalState.APPROVED}": StateLook(
        "Approved", "circle-check", "warn", "It begins after the cooling-off time."
    ),
    f"REMOVAL_{RemovalState.RUNNING}": StateLook("Removing", "loader-2", "busy"),
    f"REMOVAL_{RemovalState.DONE}": StateLook("Removed", "circle-check", "good"),
    f"REMOVAL_{RemovalState.PARTIAL}": StateLook("Removed in part", "circle-half-2", "warn"),
    f"REMOVAL_{RemovalState.NOTHING}": StateLook(
        "Nothing removed", "circle-dashed", "quiet", "Nothing on the list might go any more."
    ),
    f"REMOVAL_{RemovalState.FAILED}": StateLook("Failed", "alert-circle", "bad"),
    f"REMOVAL_{RemovalState.REJECTED}": StateLook("Rejected", "circle-x", "bad"),
    f"REMOVAL_{RemovalState.WITHDRAWN}": StateLook("Withdrawn", "arrow-back-up", "quiet"),
    f"REMOVAL_{RemovalState.LAPSED}": StateLook(
        "Lapsed", "clock-off", "quiet", "Nobody decided in time."
    ),
    f"QUARANTINE_{QuarantineState.HELD}": StateLook("In quarantine", "archive", "warn"),
    f"QUARANTINE_{QuarantineState.RETURNING}": StateLook("Being brought back", "loader-2", "busy"),
    f"QUARANTINE_{QuarantineState.RETURNED}": StateLook("Brought back", "arrow-back-up", "good"),
    f"QUARANTINE_{QuarantineState.DELETING}": StateLook("Being deleted", "loader-2", "busy"),
    f"QUARANTINE_{QuarantineState.DELETED}": StateLook("Deleted", "circle-check", "quiet"),
    f"STAY_{Stay.CURRENT}": StateLook("the current snapshot", "lock", "quiet"),
    f"STAY_{Stay.REFERENCED}": StateLook("held by a branch or a tag", "lock", "quiet"),
    f"STAY_{Stay.BRANCH}": StateLook("in the history of a branch", "lock", "quiet"),
    f"STAY_{Stay.STAGED}": StateLook("written aside to be published", "lock", "quiet"),
    f"STAY_{Stay.YOUNG}": StateLook("too young", "lock", "quiet"),
    f"STAY_{Stay.NEWEST}": StateLook("among the newest", "lock", "quiet"),
    f"STAY_{Left.KNOWN}": StateLook("part of the table", "lock", "quiet"),
    f"STAY_{Left.HIDDEN}": StateLook("below names that begin with _ or .", "lock", "quiet"),
    f"STAY_{Left.OUTSIDE}": StateLook("outside of the table's place", "lock", "quiet"),
    f"STAY_{Left.DOUBTFUL}": StateLook(
        "doubtful: the table knows the name under another path", "lock", "quiet"
    ),
}


_ALL = {**LOOKS, **HUDI_LOOKS, **REMOVAL_LOOKS, **RECOVERY_LOOKS}


def register_words() -> None:
    """Tell the kit how the room's states look."""
    register_states({str(state): look for state, look in _ALL.items()})
