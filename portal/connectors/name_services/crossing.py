"""Refuses to move anything from one file system to another: no rename crosses name services."""

from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

CODE = "fs.other_service"
NEXT_STEP = (
    "Nothing is copied: give it a place on its own file system, or copy it yourself (distcp), set "
    "its new location and scan again."
)


def crossing(source: LakePath, target: LakePath) -> str:
    """Name both file systems, and what to do; empty where both places are on one."""
    if source.same_file_system(target):
        return ""
    return (
        f"{source} is on {source.file_system}, {target} on {target.file_system}, and nothing is "
        f"moved between two file systems. {NEXT_STEP}"
    )


def check_one_service(source: LakePath, target: LakePath) -> None:
    """Refuse two places between which no rename can be.

    Raises:
        RuleViolation: `fs.other_service`, which names both file systems and the next step.
    """
    if said := crossing(source, target):
        raise RuleViolation(CODE, said, source=source, target=target)
