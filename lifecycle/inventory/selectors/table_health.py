"""How tables stand by the last scan: their paths, and what of them is due.

What was dropped or put on hold since is taken into account, as on the lists.
"""

from collections.abc import Sequence
from typing import Any

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.inventory.selectors.findings import tables_in_scan
from lifecycle.inventory.selectors.kept import complete_tables
from lifecycle.models import TableFinding
from portal.catalog.domain.health import Finding, HealthLevel
from portal.catalog.models import Table
from portal.catalog.services.registry import Findings
from portal.lake.counts import count_words

PATHS, EXPIRY = "paths", "expiry"


def tables_health(lake: str, tables: Sequence[Table]) -> Findings:
    """Return both parts of each table that the last scan saw; no expiry where it does not apply."""
    keys = {(table.db, table.name): table.pk for table in tables}
    rows = list(tables_in_scan(lake, keys))
    complete_tables(rows)
    found: dict[int, dict[str, Finding]] = {}
    for row in rows:
        parts = found[keys[row.db, row.table]] = {PATHS: paths_of(row)}
        if not row.unsupported_reason:
            parts[EXPIRY] = expiry_of(row)
    return found


def paths_of(row: TableFinding) -> Finding:
    """Judge the paths of a table and of its partitions."""
    said = []
    if row.reasons:
        said.append("the table's own path violates the rules")
    if row.n_nonconforming:
        said.append(f"{count_words(row.n_nonconforming, 'partition')} with path violations")
    if row.n_missing_directory:
        said.append(f"{count_words(row.n_missing_directory, 'partition')} without a directory")
    if not said:
        return Finding(HealthLevel.OK, "No path violations")
    level = HealthLevel.BAD if row.n_missing_directory else HealthLevel.WARN
    words = ", ".join(said)
    return Finding(level, words[0].upper() + words[1:])


def expiry_of(row: Any) -> Finding:
    """Judge what of a table is due; nothing is dropped where its database is only monitored."""
    if not row.enrolled:
        return Finding(HealthLevel.OK, "Not enrolled: nothing of it expires")
    if row.kept.is_whole:
        kept = str(row.kept)
        return Finding(HealthLevel.OK, kept[0].upper() + kept[1:])
    said = []
    if row.n_clean_now:
        said.append(f"{row.n_clean_now:,} due")
    if row.n_soon:
        said.append(f"{row.n_soon:,} due soon")
    if not said:
        return Finding(HealthLevel.OK, "Nothing due")
    words = ", ".join(said)
    if row.mode_now == DatabaseMode.OBSERVE:
        return Finding(HealthLevel.OK, f"{words}; its database is in Monitor only")
    return Finding(HealthLevel.WARN, words)
