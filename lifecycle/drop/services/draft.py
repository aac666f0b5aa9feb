"""Drafts a drop plan from the last scan: the rows that enter, those left out, and the reasons.

Runs in a worker (it reads the lake's spool). The decisions are `lifecycle.drop.domain.refusal` and
`lifecycle.core.domain.caps`; here rows are read, the items' file is written, and counts are kept.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lifecycle.drop.domain.plan import PlanDigest, PlanItem, PlanSummary
from lifecycle.drop.domain.refusal import (
    Candidate,
    Circumstances,
    LeftOut,
    Name,
    left_out_by_class,
    refusal,
)
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.selectors.locations import all_locations
from portal.connectors.lake_config import LakeConfig
from portal.lake.places import Neighbours
from portal.runs.results.parquet import result_tables

EXAMPLES_A_TABLE = 100
DUE = (ExpiryClass.CLEAN_NOW, ExpiryClass.STILL_READ)
ITEM_COLUMNS = (
    *("db", "tbl", "tbl_id", "part_id", "part_name", "location", "level", "ttl"),
    *("policy_source", "ddl_time", "create_time", "mtime_ms", "updated_ms", "due_on"),
    *("cls", "n_files", "n_bytes", "ready"),
)
# Without these the job could not tell whether the item is still the one that was approved.
REQUIRED = (
    "location",
    "level",
    "ttl",
    "create_time",
    "mtime_ms",
    "updated_ms",
    "n_files",
    "n_bytes",
)


@dataclass(frozen=True, slots=True)
class Selection:
    """What the maker chose: whole databases and single tables."""

    databases: frozenset[str] = frozenset()
    tables: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Selection":
        """Read the form kept on the plan: {"databases": [..], "tables": ["db.table", ..]}."""
        pairs = (name.partition(".") for name in data.get("tables", []))
        return cls(
            frozenset(data.get("databases", [])),
            frozenset((db, tbl) for db, _, tbl in pairs),
        )

    def rows_of(self, items: pa.Table) -> pa.Table:
        """Keep the rows of what was chosen."""
        databases = pa.array(sorted(self.databases), type=pa.string())
        tables = pa.array([f"{db}.{tbl}" for db, tbl in sorted(self.tables)], type=pa.string())
        # The stubs know no mix of arrays and one scalar, which pyarrow takes.
        join: Any = pc.binary_join_element_wise
        full_name = join(items["db"], items["tbl"], ".")
        return items.filter(
            pc.or_(
                pc.is_in(items["db"], value_set=databases),
                pc.is_in(full_name, value_set=tables),
            )
        )


@dataclass(slots=True)
class TableExtras:
    """What a plan's page says of a table beyond its digest row."""

    is_whole_table: bool
    tbl_id: int
    level: int
    ttl: int
    n_still_read: int = 0
    examples: list[Candidate] = field(default_factory=list)

    def add(self, candidate: Candidate) -> None:
        """Count one item in."""
        self.n_still_read += candidate.cls is ExpiryClass.STILL_READ
        if len(self.examples) < EXAMPLES_A_TABLE:
            self.examples.append(candidate)


@dataclass(frozen=True, slots=True)
class Draft:
    """A plan before it is stored: the file's bytes, its summary, and what stayed and why."""

    content: bytes
    summary: PlanSummary
    extras: dict[tuple[str, str], TableExtras]
    left_out: Counter[str]
    backup_root: str


def draft(
    config: LakeConfig,
    results_uri: str,
    *,
    selection: Selection,
    circumstances: Circumstances,
) -> Draft:
    """Read the scan's items twice (candidates, then every location) and give the plan's content."""
    left_out: Counter[str] = Counter()
    chosen = (
        selection.rows_of(table)
        for table in result_tables(config, results_uri, "items", columns=ITEM_COLUMNS)
    )
    candidates = list(_candidates(chosen, circumstances, left_out))
    candidates = list(_unshared(config, results_uri, candidates, left_out))
    root, candidates = _of_one_root(candidates, config, left_out)
    candidates.sort(key=lambda candidate: candidate.item.key)
    digest = PlanDigest()
    lines = []
    extras: dict[tuple[str, str], TableExtras] = {}
    for candidate in candidates:
        item = candidate.item
        lines.append(digest.add(item))
        if (item.db, item.table) not in extras:
            extras[item.db, item.table] = TableExtras(
                item.part_id == 0, item.tbl_id, item.level, item.ttl
            )
        extras[item.db, item.table].add(candidate)
    return Draft(b"".join(lines), digest.finish(), extras, left_out, root)


def _candidates(
    chosen: Iterable[pa.Table], circumstances: Circumstances, left_out: Counter[str]
) -> Iterator[Candidate]:
    for rows in chosen:
        is_due = pc.is_in(rows["cls"], value_set=pa.array(DUE, type=pa.string()))
        for cls, n in Counter(rows.filter(pc.invert(is_due))["cls"].to_pylist()).items():
            left_out[left_out_by_class(ExpiryClass(str(cls)))] += n
        for row in rows.filter(is_due).to_pylist():
            if any(row[column] is None for column in REQUIRED):
                left_out[LeftOut.UNKNOWN] += 1
                continue
            candidate = Candidate(_plan_item(row), ExpiryClass(row["cls"]), row["ready"])
            reason = refusal(candidate, circumstances)
            if reason is None:
                yield candidate
            else:
                left_out[reason] += 1


def _plan_item(row: dict[str, Any]) -> PlanItem:
    return PlanItem(
        db=row["db"],
        table=row["tbl"],
        tbl_id=row["tbl_id"],
        partition=row["part_name"],
        part_id=row["part_id"],
        location=row["location"],
        level=row["level"],
        ttl=row["ttl"],
        policy_source=row["policy_source"],
        ddl_time=row["ddl_time"],
        create_time=row["create_time"],
        mtime_ms=row["mtime_ms"],
        updated_ms=row["updated_ms"],
        n_files=row["n_files"],
        n_bytes=row["n_bytes"],
        due_on=row["due_on"],
    )


def _name(item: PlanItem) -> Name:
    return Name(item.db, item.table, item.partition)


def _unshared(
    config: LakeConfig,
    results_uri: str,
    candidates: list[Candidate],
    left_out: Counter[str],
) -> Iterator[Candidate]:
    if not candidates:
        return
    shared = Neighbours(
        ((_name(one.item), config.path(one.item.location)) for one in candidates), read=config.path
    )
    for location, name in all_locations(config, results_uri):
        shared.see(name, location)
    for candidate in candidates:
        if shared.inside(config.path(candidate.item.location)):
            left_out[LeftOut.SHARED_LOCATION] += 1
        else:
            yield candidate


def _of_one_root(
    candidates: Iterable[Candidate], config: LakeConfig, left_out: Counter[str]
) -> tuple[str, list[Candidate]]:
    """Keep what one backup root can take: a run acts behind one fence on one file system."""
    roots = [config.path(root) for root in config.backup_roots]
    by_root: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        place = config.path(candidate.item.location)
        root = next((str(root) for root in roots if root.same_file_system(place)), None)
        if root is None:
            left_out[LeftOut.NO_BACKUP_ROOT] += 1
        else:
            by_root[root].append(candidate)
    if not by_root:
        return "", []
    chosen = max(by_root, key=lambda root: len(by_root[root]))
    for root, others in by_root.items():
        if root != chosen:
            left_out[LeftOut.OTHER_BACKUP_ROOT] += len(others)
    return chosen, by_root[chosen]
