"""Computes what another LEVEL and TTL would drop now, soon or later, from sums, not items.

Whether an item is due hangs on its age in whole days alone: `now >= updated + ttl days` says the
same as `age >= ttl`. So a table is kept as counts by age and by what else the age rule looks at
(`Bucket`), and any LEVEL and TTL can be answered exactly as `expiry.judge` would, item by item.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from lifecycle.core.domain.enrollment import KEEP_FOREVER_LEVEL
from lifecycle.expiry.domain.rule import SOON_DAYS, ExpiryClass
from lifecycle.policies.domain.policy import Values


class Bucket(StrEnum):
    """What the age rule would look at beside the age; the first four have one."""

    UNREAD = "UNREAD"
    READ = "READ"
    READS_UNKNOWN = "READS_UNKNOWN"
    NOT_LOOKED = "NOT_LOOKED"
    CHANGED = "CHANGED"
    UNSUPPORTED = "UNSUPPORTED"
    NONCONFORMING = "NONCONFORMING"
    MISSING_DIRECTORY = "MISSING_DIRECTORY"
    UNREADY = "UNREADY"
    HELD = "HELD"
    NO_CLOCK = "NO_CLOCK"


AGED = frozenset({Bucket.UNREAD, Bucket.READ, Bucket.READS_UNKNOWN, Bucket.NOT_LOOKED})
NO_AGE = 0
_FIXED: Mapping[Bucket, ExpiryClass] = {
    Bucket.CHANGED: ExpiryClass.NOT_NOW,
    Bucket.UNSUPPORTED: ExpiryClass.UNSUPPORTED,
    Bucket.NONCONFORMING: ExpiryClass.NONCONFORMING,
    Bucket.MISSING_DIRECTORY: ExpiryClass.MISSING_DIRECTORY,
    Bucket.UNREADY: ExpiryClass.UNREADY,
    Bucket.HELD: ExpiryClass.HELD,
    Bucket.NO_CLOCK: ExpiryClass.UNKNOWN,
}
_PAST: Mapping[Bucket, ExpiryClass] = {
    Bucket.UNREAD: ExpiryClass.CLEAN_NOW,
    Bucket.READ: ExpiryClass.STILL_READ,
    Bucket.READS_UNKNOWN: ExpiryClass.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Amount:
    """So many partitions or tables; bytes and files of those that were measured."""

    n: int = 0
    n_bytes: int = 0
    n_files: int = 0
    n_unmeasured: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            self.n + other.n,
            self.n_bytes + other.n_bytes,
            self.n_files + other.n_files,
            self.n_unmeasured + other.n_unmeasured,
        )


@dataclass(frozen=True, slots=True)
class Ages:
    """The items of one table, counted by bucket and age in days (`NO_AGE` where age is nothing)."""

    counts: Mapping[tuple[Bucket, int], Amount] = field(default_factory=dict)

    def to_json(self) -> dict[str, list[list[int]]]:
        """Return the stored form: by bucket, rows of [age, n, bytes, files, unmeasured]."""
        found: dict[str, list[list[int]]] = defaultdict(list)
        for (bucket, age), one in sorted(self.counts.items()):
            found[bucket.value].append([age, one.n, one.n_bytes, one.n_files, one.n_unmeasured])
        return dict(found)

    @classmethod
    def from_json(cls, data: Mapping[str, Sequence[Sequence[Any]]]) -> "Ages":
        """Read the stored form."""
        return cls(
            {
                (Bucket(bucket), int(age)): Amount(*map(int, amount))
                for bucket, rows in data.items()
                for age, *amount in rows
            }
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the age rule would say of a table's items, summed by class."""

    classes: Mapping[ExpiryClass, Amount] = field(default_factory=dict)

    def of(self, *classes: ExpiryClass) -> Amount:
        """Return the sum over some classes."""
        return sum((self.classes.get(cls, Amount()) for cls in classes), Amount())

    @property
    def now(self) -> Amount:
        """What is due and unread."""
        return self.of(ExpiryClass.CLEAN_NOW)

    @property
    def still_read(self) -> Amount:
        """What is due but read lately: it goes only when its owner says so."""
        return self.of(ExpiryClass.STILL_READ)

    @property
    def soon(self) -> Amount:
        """What falls due within the notice days."""
        return self.of(ExpiryClass.SOON)

    @property
    def later(self) -> Amount:
        """What falls due afterwards."""
        return self.of(ExpiryClass.NOT_NOW)

    @property
    def unsure(self) -> Amount:
        """What may be due, but whose files or reads the scan did not or could not look at."""
        return self.of(ExpiryClass.UNKNOWN)

    @property
    def all(self) -> Amount:
        """Everything."""
        return self.of(*ExpiryClass)

    @property
    def stays(self) -> Amount:
        """What does not fall due by age at all."""
        by_age = {
            ExpiryClass.CLEAN_NOW,
            ExpiryClass.STILL_READ,
            ExpiryClass.SOON,
            ExpiryClass.NOT_NOW,
            ExpiryClass.UNKNOWN,
        }
        return self.of(*(cls for cls in ExpiryClass if cls not in by_age))

    def __add__(self, other: "Outcome") -> "Outcome":
        found = {
            cls: self.of(cls) + other.of(cls)
            for cls in ExpiryClass
            if cls in self.classes or cls in other.classes
        }
        return Outcome(found)


def what_if(ages: Ages, values: Values, *, soon_days: int = SOON_DAYS) -> Outcome:
    """Sum up what `expiry.judge` would say of every item under these values."""
    found: dict[ExpiryClass, Amount] = {}
    for (bucket, age), amount in ages.counts.items():
        cls = class_of(bucket, age, values, soon_days=soon_days)
        found[cls] = found.get(cls, Amount()) + amount
    return Outcome(found)


def class_of(
    bucket: Bucket, age: int, values: Values, *, soon_days: int = SOON_DAYS
) -> ExpiryClass:
    """Give the class of items of one bucket and age under some values, in the order of the rule."""
    if bucket is Bucket.UNSUPPORTED:
        return ExpiryClass.UNSUPPORTED
    if values.level == KEEP_FOREVER_LEVEL:
        return ExpiryClass.KEEP_FOREVER
    if values.level is None or values.ttl is None:
        return ExpiryClass.NOT_ENROLLED
    if bucket not in AGED:
        return _FIXED[bucket]
    if age < values.ttl - soon_days:
        return ExpiryClass.NOT_NOW
    if bucket is Bucket.NOT_LOOKED:
        return ExpiryClass.UNKNOWN
    return ExpiryClass.SOON if age < values.ttl else _PAST[bucket]


def due_by_week(
    ages: Ages, values: Values, *, as_of: datetime, n_weeks: int
) -> list[tuple[datetime, Amount]]:
    """Return what falls due in each of the next weeks, by the clocks as they stand.

    A week is named by its first instant. What is due already is not in it; what the scan did not
    look at counts by the metastore's clock, so it may turn out younger.
    """
    weeks = [Amount()] * n_weeks
    if values.in_lifecycle and values.ttl is not None:
        for (bucket, age), amount in ages.counts.items():
            left = values.ttl - age
            if bucket in AGED and 0 < left <= n_weeks * 7:
                weeks[(left - 1) // 7] += amount
    return [(as_of + timedelta(days=7 * number), amount) for number, amount in enumerate(weeks)]


def metadata_rows(n_items: int, *, n_keys: int) -> int:
    """Return how many rows the metastore's database loses at least when so many items go.

    A partition has a row in PARTITIONS, SDS, SERDES and PARTITION_PARAMS, and one a key in
    PARTITION_KEY_VALS. A table (`n_keys` 0) has TBLS, CDS, SDS, SERDES, a column, and at least
    LEVEL, TTL and its DDL time in TABLE_PARAMS.
    """
    return n_items * (4 + n_keys if n_keys else 8)


def total(outcomes: Iterable[Outcome]) -> Outcome:
    """Add outcomes up."""
    return sum(outcomes, Outcome())
