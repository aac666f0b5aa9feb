"""Assigns a scan's items to what-if buckets, as Arrow columns that suit a million items.

The conditions are those of `expiry.RULES` that do not hang on LEVEL and TTL, in the same order. A
table outside lifecycle hides some of them behind its class; those are looked up beside the items.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute

from lifecycle.expiry.domain.rule import DAY_MS, RECENTLY_READ_DAYS, SOON_DAYS, ExpiryClass
from lifecycle.expiry.domain.what_if import AGED, NO_AGE, Bucket

# The stubs know no mix of columns and plain values, which the functions take.
pc: Any = pyarrow.compute

COLUMNS = (
    *("db", "tbl", "tbl_id", "part_name", "ttl", "cls", "updated_ms", "mtime_ms", "atime_ms"),
    *("n_files", "n_bytes", "ready"),
)
_SETTLED = (
    Bucket.UNSUPPORTED,
    Bucket.NONCONFORMING,
    Bucket.MISSING_DIRECTORY,
    Bucket.UNREADY,
    Bucket.HELD,
)
_HIDING = (ExpiryClass.NOT_ENROLLED, ExpiryClass.KEEP_FOREVER)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Name = tuple[str, str, str]
Condition = tuple[Any, Bucket]


@dataclass(frozen=True)
class Known:
    """What is known beside the items: the scan's instant, broken paths, and the standing holds.

    Names are (db, table or '', partition or '').
    """

    as_of: datetime
    nonconforming: frozenset[int] = frozenset()
    outside: frozenset[Name] = frozenset()
    held: frozenset[Name] = frozenset()

    @property
    def now_ms(self) -> int:
        """The instant in epoch milliseconds."""
        return (self.as_of - _EPOCH) // timedelta(milliseconds=1)


def with_buckets(items: pa.Table, known: Known) -> pa.Table:
    """Add `bucket` and `age` (whole days, rounded down) to items with `COLUMNS`."""
    ms = pc.cast(pc.subtract(known.now_ms, items["updated_ms"]), pa.float64())
    age = pc.cast(pc.floor(pc.divide(ms, DAY_MS)), pa.int64())
    chain = [*_settled(items), *_hidden(items, known), *_by_clocks(items, known, age)]
    conditions = pc.make_struct(
        *(_sure(condition) for condition, _ in chain),
        field_names=[str(number) for number in range(len(chain))],
    )
    words = [pa.scalar(bucket.value) for _, bucket in chain]
    bucket = pc.case_when(conditions, *words, pa.scalar(Bucket.UNREAD.value))
    is_aged = pc.is_in(bucket, value_set=pa.array([one.value for one in AGED]))
    aged = pc.if_else(is_aged, age, NO_AGE)
    return items.append_column("bucket", bucket).append_column("age", aged)


def _settled(items: pa.Table) -> Iterable[Condition]:
    """Yield what the scan settled whatever the values are; the class has the bucket's name."""
    for bucket in _SETTLED:
        yield pc.equal(items["cls"], bucket.value), bucket


def _hidden(items: pa.Table, known: Known) -> Iterable[Condition]:
    """Yield what a table outside lifecycle hides behind its class."""
    hides = pc.is_in(items["cls"], value_set=pa.array([cls.value for cls in _HIDING]))
    broken = pa.array(sorted(known.nonconforming), pa.int64())
    yield pc.and_(hides, pc.is_in(items["tbl_id"], value_set=broken)), Bucket.NONCONFORMING
    yield pc.and_(hides, _named(items, known.outside)), Bucket.NONCONFORMING
    yield pc.and_(hides, pc.invert(items["ready"])), Bucket.UNREADY
    yield pc.and_(hides, _named(items, known.held)), Bucket.HELD


def _by_clocks(items: pa.Table, known: Known, age: Any) -> Iterable[Condition]:
    """Yield what the clocks and the files say."""
    atime, mtime, n_files = items["atime_ms"], items["mtime_ms"], items["n_files"]
    yield pc.is_null(items["updated_ms"]), Bucket.NO_CLOCK
    # Near by its own TTL and yet not now: it changed while the scan was reading.
    near = pc.greater_equal(age, pc.subtract(items["ttl"], SOON_DAYS))
    yield pc.and_(pc.equal(items["cls"], ExpiryClass.NOT_NOW.value), near), Bucket.CHANGED
    yield pc.or_(pc.is_null(n_files), pc.is_null(mtime)), Bucket.NOT_LOOKED
    yield pc.and_(pc.is_null(atime), pc.not_equal(n_files, 0)), Bucket.READS_UNKNOWN
    lately = pc.less_equal(pc.subtract(known.now_ms, atime), RECENTLY_READ_DAYS * DAY_MS)
    yield pc.and_(pc.greater(atime, mtime), lately), Bucket.READ


def _named(items: pa.Table, names: frozenset[Name]) -> Any:
    """Say which items are named: themselves, by their table or by their database."""
    if not names:
        return pc.is_null(items["cls"])  # every row has a class: a column of no
    found = pc.is_in(items["db"], value_set=_texts(db for db, table, _ in names if not table))
    tables = _texts(f"{db}\n{table}" for db, table, part in names if table and not part)
    parts = _texts("\n".join(name) for name in names if name[2])
    of_table = pc.binary_join_element_wise(items["db"], items["tbl"], "\n")
    whole = pc.binary_join_element_wise(of_table, pc.fill_null(items["part_name"], ""), "\n")
    named = pc.or_(pc.is_in(of_table, value_set=tables), pc.is_in(whole, value_set=parts))
    return pc.or_(found, named)


def _texts(values: Iterable[str]) -> Any:
    return pa.array(sorted(values), pa.string())


def _sure(condition: Any) -> Any:
    """Take what cannot be said for a no."""
    return pc.fill_null(condition, pa.scalar(value=False))
