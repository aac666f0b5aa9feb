"""Hands the tables of a scan's result to the catalog."""

from collections.abc import Iterator

from lifecycle.inventory.services.ingest_rows import Owners, Row
from lifecycle.models import ScanSnapshot
from portal.access.lakes import get_lake
from portal.catalog.domain.entries import ListedTable, TableFacts
from portal.catalog.domain.events import created_instant
from portal.catalog.services.scan import ScanRead, scan_record
from portal.runs.results.parquet import result_rows


def catalog_load(generation: ScanSnapshot, owners: Owners) -> int:
    """Record the tables of a result; loaded again it changes nothing. Returns how many went."""
    read = ScanRead(generation.lake, generation.read_at, generation.notification_id)
    return scan_record(read, _listed(generation, owners))


def _listed(generation: ScanSnapshot, owners: Owners) -> Iterator[ListedTable]:
    config = get_lake(generation.lake)
    for rows in result_rows(config, generation.results_uri, "tables"):
        yield from (_table(row, owners) for row in rows)


def _table(row: Row, owners: Owners) -> ListedTable:
    # A scan of an earlier release wrote neither uuid nor time of creation.
    facts = TableFacts(
        row["format"] or "", row.get("uuid") or "", row["location"] or "", row["owner"] or ""
    )
    return ListedTable(
        row["db"],
        row["tbl"],
        facts,
        db_owner=owners.of_database.get(row["db"], ""),
        metastore_id=row["tbl_id"],
        created_at=created_instant(row.get("create_time")),
    )
