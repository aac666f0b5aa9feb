"""What exactly would be dropped: the frozen item list of a plan, its digest, and its notices.

Two people approve a digest. It covers every item's place, policy, clocks and sizes, so whatever
changes afterwards is another plan. Caps are in `caps.py`, standing rules in `standing.py`.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, date, datetime, timedelta

from portal.lake.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One table (`partition` empty, `part_id` 0) or partition as it was when the plan was made.

    `ddl_time` and `create_time` are epoch seconds as registered; `_ms` are epoch milliseconds.
    """

    db: str
    table: str
    tbl_id: int
    partition: str
    part_id: int
    location: str
    level: int
    ttl: int
    policy_source: str
    ddl_time: int | None
    create_time: int
    mtime_ms: int
    updated_ms: int
    n_files: int
    n_bytes: int
    due_on: date

    @property
    def key(self) -> tuple[str, str, str]:
        """The order of items in a plan, and their identity in it."""
        return (self.db, self.table, self.partition)


def canonical_line(item: PlanItem) -> str:
    """Return the one JSON text of an item: sorted keys, no spaces, one line."""
    record = asdict(item) | {"due_on": item.due_on.isoformat()}
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


_FIELDS = frozenset(spec.name for spec in fields(PlanItem))


def read_line(line: str) -> PlanItem:
    """Read an item back; RuleViolation `plan.line` unless it is exactly a canonical line."""
    try:
        record = json.loads(line)
        if not isinstance(record, dict) or record.keys() != _FIELDS:
            raise ValueError("fields differ")
        item = PlanItem(**record | {"due_on": date.fromisoformat(record["due_on"])})
    except (ValueError, TypeError) as error:
        raise RuleViolation("plan.line", f"A line of the plan cannot be read: {error}") from error
    if canonical_line(item) != line:
        raise RuleViolation("plan.line", "A line of the plan is not in its canonical form.")
    return item


@dataclass(frozen=True, slots=True)
class TableDigest:
    """One table's share of a plan: what approvers see first, and the hash of its lines."""

    db: str
    table: str
    n_items: int
    n_bytes: int
    n_files: int
    oldest_updated_ms: int
    newest_updated_ms: int
    digest: str


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """A finished list: the sha256 of its whole file, totals and one row per table."""

    digest: str
    n_items: int
    n_bytes: int
    n_files: int
    tables: tuple[TableDigest, ...]


@dataclass(slots=True)
class _TableTally:
    """Running totals of the table whose items are coming in."""

    db: str
    table: str
    items: int = 0
    size: int = 0
    files: int = 0
    oldest: int = 0
    newest: int = 0
    sha: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def add(self, item: PlanItem, line: bytes) -> None:
        self.oldest = min(self.oldest, item.updated_ms) if self.items else item.updated_ms
        self.newest = max(self.newest, item.updated_ms)
        self.items += 1
        self.size += item.n_bytes
        self.files += item.n_files
        self.sha.update(line)

    def closed(self) -> TableDigest:
        return TableDigest(
            self.db,
            self.table,
            n_items=self.items,
            n_bytes=self.size,
            n_files=self.files,
            oldest_updated_ms=self.oldest,
            newest_updated_ms=self.newest,
            digest=self.sha.hexdigest(),
        )


class PlanDigest:
    """Builds a plan's file line by line in constant memory, and its digests with it.

    The plan's digest is the sha256 of the file: every canonical line followed by a newline.
    """

    def __init__(self) -> None:
        self._sha = hashlib.sha256()
        self._last: tuple[str, str, str] | None = None
        self._open: _TableTally | None = None
        self._closed: list[TableDigest] = []

    def add(self, item: PlanItem) -> bytes:
        """Take the next item and give the bytes to write; items must come strictly in order."""
        if self._last is not None and item.key <= self._last:
            raise RuleViolation(
                "plan.order",
                f"Item {item.key} comes after {self._last}; sort by db, table, partition.",
            )
        self._last = item.key
        line = canonical_line(item).encode() + b"\n"
        self._sha.update(line)
        if self._open is None or (self._open.db, self._open.table) != item.key[:2]:
            self._close_table()
            self._open = _TableTally(item.db, item.table)
        self._open.add(item, line)
        return line

    def finish(self) -> PlanSummary:
        """Close the last table and give the summary; add nothing afterwards."""
        self._close_table()
        return PlanSummary(
            digest=self._sha.hexdigest(),
            n_items=sum(table.n_items for table in self._closed),
            n_bytes=sum(table.n_bytes for table in self._closed),
            n_files=sum(table.n_files for table in self._closed),
            tables=tuple(self._closed),
        )

    def _close_table(self) -> None:
        if self._open is not None:
            self._closed.append(self._open.closed())
            self._open = None


def plan_digest(items_sha256: str, *, backup_root: str, keep_days: Mapping[str, int]) -> str:
    """Return the digest that people approve: of the items, where they are kept and how long."""
    terms = {
        "items_sha256": items_sha256,
        "backup_root": backup_root,
        "keep_days": {str(db): int(days) for db, days in keep_days.items()},
    }
    text = json.dumps(terms, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def days_kept(approved: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Return for how long backups are kept by database: what was approved, or more by now."""
    return {db: max(days, now.get(db, 0)) for db, days in approved.items()}


@dataclass(frozen=True, slots=True)
class Coverage:
    """What one sent notice told a table's owner: everything due up to a day, as of one scan.

    `read_at` is the wall clock at which that scan read the metastore; `as_of` is the instant it
    judged for (the same but in the demo's played days); `sent_on` the day the mail was accepted.
    """

    tbl_id: int
    level: int
    ttl: int
    horizon_on: date
    read_at: datetime
    as_of: datetime
    sent_on: date


def is_announced(
    item: PlanItem, coverages: Iterable[Coverage], today: date, notice_days: int
) -> bool:
    """Whether a sent notice covered this very item and its days have passed.

    An item that was written, created or re-dated after the scan behind the notice is not covered,
    nor is one whose level or ttl has changed since: its owner was told something else.
    """
    created = datetime.fromtimestamp(item.create_time, tz=UTC)
    updated = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=item.updated_ms)
    return any(
        (item.tbl_id, item.level, item.ttl) == (c.tbl_id, c.level, c.ttl)
        and item.due_on <= c.horizon_on
        and created < c.read_at
        and updated <= c.as_of
        and c.sent_on + timedelta(days=notice_days) <= today
        for c in coverages
    )
