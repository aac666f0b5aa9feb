"""Whether the last scan's picture may be acted on: complete, whole, and every place comparable."""

from lifecycle.core.domain.caps import inventory_shrank
from lifecycle.models import ScanSnapshot
from portal.events.selectors import alarms_open, clock_behind
from portal.lake.clock import MOST_APART_SECONDS

UNKNOWN_FILE_SYSTEMS = "unknown_file_systems"


def picture_problem(lake: str, generation: ScanSnapshot) -> str:
    """Say why nothing may be planned or started by a picture; empty when it may.

    Asked when a plan is created and again, of the newest picture, when it starts.
    """
    unknown = generation.totals.get(UNKNOWN_FILE_SYSTEMS) or []
    if unknown:
        return (
            f"The metastore names file systems that lakes.json does not know: {', '.join(unknown)}."
            " Whether they are other names of this lake's own cannot be told, so nothing is "
            "planned or started. Add each to path_aliases (docs/operations.md) and scan again."
        )
    before = ScanSnapshot.objects.filter(lake=lake, pk__lt=generation.pk).order_by("-pk").first()
    if before is not None and inventory_shrank(
        previous=_n_known(before), current=_n_known(generation)
    ):
        return (
            "The last scan saw half or less of what the one before saw. Find out why; if it is so, "
            "plan again after the next scan, which must see the same."
        )
    if alarms_open(lake).exists():
        return "Events of the metastore were missed since the scan. Plan again after the next scan."
    behind = clock_behind(lake)
    if behind > MOST_APART_SECONDS:
        return (
            f"The metastore's clock is at least {behind} s behind this machine's, so what it "
            "says of a table's last change cannot be compared. Set the clocks right; the next "
            "event of the metastore shows it."
        )
    return ""


def _n_known(generation: ScanSnapshot) -> int:
    totals = generation.totals
    return int(totals.get("n_partitions") or 0) + int(totals.get("n_tables") or 0)
