"""How the files of a table stand: by the band of its score, in the words of the lists."""

from optimizer.core.domain.bands import HealthBand, band_of
from optimizer.core.models import MaintainedTable
from portal.catalog.domain.health import Finding, HealthLevel

FILES = "files"
LEVELS = {
    HealthBand.GOOD: HealthLevel.OK,
    HealthBand.FAIR: HealthLevel.WARN,
    HealthBand.POOR: HealthLevel.BAD,
    HealthBand.UNKNOWN: HealthLevel.UNKNOWN,
}


def files_of(row: MaintainedTable) -> Finding:
    """Judge the files of a table by its score."""
    if row.health is None:
        if row.inspection_error:
            return Finding(HealthLevel.UNKNOWN, "The last inspection of its files failed")
        return Finding(HealthLevel.UNKNOWN, "Not inspected yet")
    words = f"Score {row.health:.0f} of 100"
    if row.is_paused:
        words += "; paused"
    return Finding(LEVELS[band_of(row.health)], words)
