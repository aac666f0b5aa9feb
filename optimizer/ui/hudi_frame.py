"""What stands above every tab of a Hudi table: its numbers, what is decided, what may be done?"""

from typing import Any

from optimizer.models import HudiTable
from optimizer.selectors.hudi_looks import Seen

HUDI_TABS = (
    ("hudi-table", "Health"),
    ("hudi-timeline", "Timeline"),
    ("hudi-files", "File groups"),
    ("hudi-services", "Services"),
    ("hudi-tasks", "Tasks"),
    ("hudi-settings", "Policy"),
)


def frame_of(table: HudiTable, seen: Seen, shown: dict[str, Any]) -> dict[str, Any]:
    """Give what stands above every tab, and the tab's own."""
    return {"hudi": table, "seen": seen, "tabs": HUDI_TABS, **shown}
