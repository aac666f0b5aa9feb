"""Words of removal lists: what each kind of list holds, and the name of one of it."""

from collections.abc import Mapping

RECOVERY = "HUDI_RECOVERY_EXECUTE"
"""The only kind of list that brings something back."""
LISTED: Mapping[str, tuple[str, str]] = {
    "EXPIRE": ("Old snapshots", "snapshot"),
    "ORPHANS": ("Orphan files", "file"),
    "HUDI_CLEAN_EXECUTE": ("Old file versions", "path"),
    "HUDI_TTL_EXECUTE": ("Partition TTL", "partition"),
    RECOVERY: ("Lost rows", "row"),
    "HUDI_ROLLBACK_EXECUTE": ("What dead writers left", "instant"),
}
