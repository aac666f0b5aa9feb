"""Converts each row of a scan's Parquet into a row of the portal's database."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.expiry.domain.words import explain_row
from lifecycle.inventory.models.findings import FindingKind
from lifecycle.models import (
    DatabaseFinding,
    DatabaseSetting,
    PartitionRange,
    PathFinding,
    SamplePartition,
    ScanSnapshot,
    TableFinding,
)
from portal.access.lakes import get_lake
from portal.connectors.lake_config import LakeConfig
from portal.lake.lines import fitted
from portal.runs.results.parquet import result_rows

Row = dict[str, Any]
# Columns of the metastore that hold more than ours: one table's maker must not stop the whole scan.
OWNER_CHARS, TYPE_CHARS, FORMAT_CHARS = 128, 32, 64


@dataclass(frozen=True)
class Owners:
    """Who owns each database and table, for rows that carry only names."""

    of_database: dict[str, str]
    of_table: dict[tuple[str, str], str]

    @classmethod
    def read(cls, config: LakeConfig, results_uri: str) -> "Owners":
        """Read the owners from the results."""
        databases: dict[str, str] = {}
        for chunk in result_rows(config, results_uri, "databases"):
            databases |= {row["db"]: owner_of(row) for row in chunk}
        tables: dict[tuple[str, str], str] = {}
        for chunk in result_rows(config, results_uri, "tables"):
            tables |= {(row["db"], row["tbl"]): owner_of(row) for row in chunk}
        return cls(databases, tables)


@dataclass
class RowMaker:
    """Makes rows of one generation; `table_keys` is filled once its tables are stored."""

    generation: ScanSnapshot
    owners: Owners
    table_keys: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        settings = DatabaseSetting.objects.filter(lake=self.generation.lake)
        self._modes = dict(settings.values_list("db", "mode"))
        self._zone = get_lake(self.generation.lake).zone

    def database(self, row: Row) -> DatabaseFinding:
        """Make the row of a database."""
        db = row["db"]
        return DatabaseFinding(
            generation=self.generation,
            lake=self.generation.lake,
            db=db,
            owner=self.owners.of_database.get(db, ""),
            db_owner=self.owners.of_database.get(db, ""),
            location=row["location"] or "",
            mode=self._mode(db),
            reasons=list(row.get("reasons") or []),
            n_tables=row.get("n_tables") or 0,
            n_partitions=row.get("n_partitions") or 0,
            n_clean_now=row.get("n_clean_now") or 0,
            n_soon=row.get("n_soon") or 0,
            bytes_clean_now=row.get("bytes_clean_now") or 0,
            bytes_soon=row.get("bytes_soon") or 0,
        )

    def table(self, row: Row) -> TableFinding:
        """Make the row of a table."""
        db = row["db"]
        counts = {f"n_{cls.lower()}": row.get(f"n_{cls.lower()}") or 0 for cls in ExpiryClass}
        # A class of which nothing was measured has no size, which is not a size of 0.
        measured = {cls.value: row.get(f"bytes_{cls.lower()}") for cls in ExpiryClass}
        sizes = {cls: size for cls, size in measured.items() if size is not None}
        return TableFinding(
            generation=self.generation,
            lake=self.generation.lake,
            db=db,
            table=row["tbl"],
            tbl_id=row["tbl_id"],
            owner=owner_of(row),
            db_owner=self.owners.of_database.get(db, ""),
            mode=self._mode(db),
            table_type=fitted(row["tbl_type"] or "", TYPE_CHARS),
            format=fitted(row["format"] or "", FORMAT_CHARS),
            location=row["location"] or "",
            level=row["level"],
            ttl=row["ttl"],
            policy_source=row["policy_source"] or "",
            enrolled=bool(row["enrolled"]),
            reasons=list(row["reasons"] or []),
            unsupported_reason=row["unsupported_reason"] or "",
            n_partitions=row["n_partitions"] or 0,
            n_files=row["n_files"],
            n_bytes=row["n_bytes"],
            class_bytes=sizes,
            bytes_clean_now=sizes.get(ExpiryClass.CLEAN_NOW, 0),
            bytes_soon=sizes.get(ExpiryClass.SOON, 0),
            bytes_still_read=sizes.get(ExpiryClass.STILL_READ, 0),
            oldest_updated_at=_from_ms(row["oldest_updated_ms"]),
            newest_updated_at=_from_ms(row["newest_updated_ms"]),
            next_due_on=row["next_due_on"],
            **counts,
        )

    def path(self, row: Row) -> PathFinding:
        """Make the row of a path that breaks a rule, waived or not."""
        db, table = row["db"], row.get("tbl") or ""
        db_owner = self.owners.of_database.get(db, "")
        reasons = list(row["reasons"] or [])
        waived = list(row.get("waived") or [])
        return PathFinding(
            generation=self.generation,
            lake=self.generation.lake,
            kind=FindingKind(row["kind"]),
            db=db,
            table=table,
            partition=row.get("part_name") or "",
            owner=self.owners.of_table.get((db, table), "") if table else db_owner,
            db_owner=db_owner,
            location=row["location"] or "",
            reasons=reasons,
            reason_key=f"|{'|'.join(reasons or waived)}|",
            related=list(row["related"] or []),
            hint=row["hint"] or "",
            waived=waived,
            excepted_until=row.get("excepted_until"),
            is_excepted=not reasons,
        )

    def item_range(self, row: Row) -> PartitionRange:
        """Make the row of a contiguous range."""
        return PartitionRange(
            generation=self.generation,
            table_id=self.table_keys[row["db"], row["tbl"]],
            cls=row["cls"],
            first=row["first_part"] or "",
            last=row["last_part"] or "",
            n_items=row["n"],
            n_bytes=row["n_bytes"],
            due_first=row["due_first"],
            due_last=row["due_last"],
        )

    def example(self, row: Row) -> SamplePartition:
        """Make the row of one item."""
        return SamplePartition(
            table_id=self.table_keys[row["db"], row["tbl"]],
            part_id=row["part_id"] or 0,
            partition=row["part_name"] or "",
            location=row["location"] or "",
            cls=row["cls"],
            reason=explain_row(row, self._zone),
            level=row["level"],
            ttl=row["ttl"],
            policy_source=row["policy_source"] or "",
            ddl_at=_from_seconds(row["ddl_time"]),
            created_at=_from_seconds(row["create_time"]),
            modified_at=_from_ms(row["mtime_ms"]),
            read_at=_from_ms(row["atime_ms"]),
            updated_at=_from_ms(row["updated_ms"]),
            winner=row["winner"] or "",
            due_at=_from_ms(row["due_ms"]),
            due_on=row["due_on"],
            n_files=row["n_files"],
            n_bytes=row["n_bytes"],
            ready=bool(row["ready"]),
        )

    def _mode(self, db: str) -> str:
        return str(self._modes.get(db, DatabaseMode.OBSERVE))


def owner_of(row: Row) -> str:
    """Return who owns a database or table; a name that is too long for a person's is cut."""
    return fitted(row["owner"] or "", OWNER_CHARS)


def _from_ms(value: int | None) -> datetime | None:
    return None if value is None else datetime.fromtimestamp(value / 1000, tz=UTC)


def _from_seconds(value: int | None) -> datetime | None:
    return None if not value else datetime.fromtimestamp(value, tz=UTC)
