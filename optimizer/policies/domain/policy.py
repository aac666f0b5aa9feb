"""Policies of tables: what people want done, when, and who set it at which level.

Settings stand on four levels: the lake, a pattern of databases (`etl*`), a pattern of tables
(`etl*.events_*`) and a table (`etl.events`). A field that a level does not name comes from the one
above; of two patterns that fit, the one with more letters of its own wins. How the values are
written and checked one by one is `values.py`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Any

from optimizer.core.domain.tasks import DESTRUCTIVE, TaskKind
from optimizer.iceberg.indexing.domain.wanted import WantedIndex
from optimizer.iceberg.rewrite.domain.layouts import NO_LAYOUT, Layout
from portal.lake.errors import RuleViolation

MIB = 1024**2
LEAST_TARGET_BYTES = MIB
MOST_TARGET_BYTES = 64 * 1024 * MIB
LEAST_ORPHAN_DAYS = 3
LEAST_QUARANTINE_DAYS, MOST_QUARANTINE_DAYS = 1, 365
LEAST_WORKING_MINUTES = 30
MINUTES_A_DAY = 24 * 60
BUILT_IN = "default"

_SCOPE = re.compile(r"[\w*?$-]+(\.[\w*?$-]+)?")


class AdviceMode(StrEnum):
    """What becomes of advice on a layout."""

    OFF = "off"
    PROPOSE = "propose"
    AUTO = "auto"


class QueryConstants(StrEnum):
    """What becomes of the constants of recorded queries."""

    HIDDEN = "hidden"
    KEPT = "kept"


class ConflictTolerance(StrEnum):
    """How much risk of losing a rewrite to another writer is taken."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def most_risk(self) -> float:
        """The greatest chance of a conflict that a rewrite is begun with."""
        return {
            ConflictTolerance.LOW: 0.5,
            ConflictTolerance.NORMAL: 0.2,
            ConflictTolerance.HIGH: 0.05,
        }[self]


@dataclass(frozen=True, slots=True)
class BlackoutWindow:
    """Hours of the day, in the lake's zone, in which nothing begins; may pass midnight."""

    start: time
    end: time

    @property
    def minutes(self) -> int:
        """How long they last; the same start and end mean the whole day."""
        return (_minute(self.end) - _minute(self.start)) % MINUTES_A_DAY or MINUTES_A_DAY

    def covers(self, now: datetime, zone: tzinfo) -> bool:
        """Whether `now` is in them."""
        minute = _minute(now.astimezone(zone).time())
        return (minute - _minute(self.start)) % MINUTES_A_DAY < self.minutes

    def end_after(self, now: datetime, zone: tzinfo) -> datetime:
        """When the ones that `now` is in are over."""
        here = now.astimezone(zone)
        left = (_minute(self.end) - _minute(here.time())) % MINUTES_A_DAY or MINUTES_A_DAY
        return (here.replace(second=0, microsecond=0) + timedelta(minutes=left)).astimezone(UTC)

    def hold(self, now: datetime, zone: tzinfo) -> tuple[str, datetime] | None:
        """Say why nothing begins at this hour, and until when; None if it may."""
        if not self.covers(now, zone):
            return None
        return f"Blackout window {self}: begins at {self.end:%H:%M}.", self.end_after(now, zone)

    def __str__(self) -> str:
        return f"{self.start:%H:%M}-{self.end:%H:%M}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """All settings that hold for one table; the defaults are those that are built in.

    Nothing is done by default. What destroys is asked for only where it is listed in `kinds`.
    """

    is_on: bool = False
    target_bytes: int = 512 * MIB
    layout: Layout = NO_LAYOUT
    min_interval_minutes: int = 60
    full_days: int = 0  # every how many days a whole partition may be rewritten; 0 is never
    expire_days: int = 7
    keep_snapshots: int = 10
    orphan_days: int = 7
    quarantine_days: int = 7  # for so long orphan files lie aside before they are deleted
    manifests: int = 100  # from how many manifests on they are rewritten
    quiet: BlackoutWindow | None = None
    budget_gb_hours: float | None = None  # a day; None is without limit
    # Statistics read the whole table, for engines that not everybody has.
    kinds: frozenset[TaskKind] = (
        frozenset(TaskKind) - DESTRUCTIVE - {TaskKind.FULL, TaskKind.STATISTICS}
    )
    caution: ConflictTolerance = ConflictTolerance.NORMAL
    index_columns: tuple[WantedIndex, ...] = ()  # file indexes that data files shall have
    advice: AdviceMode = AdviceMode.PROPOSE
    # In clear only where all tables of a query say so.
    query_constants: QueryConstants = QueryConstants.HIDDEN

    @property
    def min_interval(self) -> timedelta:
        """How long a table is left alone after it was rewritten, unless much has piled up."""
        return timedelta(minutes=self.min_interval_minutes)


DEFAULT = Policy()
FIELDS = tuple(field.name for field in fields(Policy))


class LevelKind(IntEnum):
    """Where settings stand, from the widest to the narrowest."""

    LAKE = 0
    DATABASES = 1
    TABLES = 2
    TABLE = 3


@dataclass(frozen=True, slots=True)
class Level:
    """The settings of one scope; `values` has only the fields that it names, already read."""

    scope: str
    values: Mapping[str, object]

    @property
    def kind(self) -> LevelKind:
        """Which level the scope is of."""
        return kind_of_scope(self.scope)

    @property
    def order(self) -> tuple[int, int, str]:
        """Its rank: whoever comes later wins."""
        return (self.kind, sum(letter not in "*?." for letter in self.scope), self.scope)

    def fits(self, db: str, table: str) -> bool:
        """Whether a table is under it."""
        if self.kind is LevelKind.LAKE:
            return True
        name = db if self.kind is LevelKind.DATABASES else f"{db}.{table}"
        return _compiled(self.scope).fullmatch(name.lower()) is not None


@dataclass(frozen=True, slots=True)
class Resolved:
    """The policy of one table, and for each field the scope that says so."""

    policy: Policy
    sources: Mapping[str, str]


@lru_cache(maxsize=4096)
def kind_of_scope(scope: str) -> LevelKind:
    """Say which level a scope is of.

    Raises:
        RuleViolation: `policy.scope` for what is neither a name nor a pattern.
    """
    if scope == "*":
        return LevelKind.LAKE
    if not _SCOPE.fullmatch(scope):
        raise RuleViolation(
            "policy.scope",
            f"'{scope}' is neither the lake (*), a database or pattern of them (etl*), nor a table "
            "or pattern of them (etl.events_*). Write one of these.",
            scope=scope,
        )
    if "." not in scope:
        return LevelKind.DATABASES
    return LevelKind.TABLES if "*" in scope or "?" in scope else LevelKind.TABLE


def resolve(levels: Iterable[Level], *, db: str, table: str) -> Resolved:
    """Put the levels that fit a table together; the narrowest that names a field wins.

    The outcome may contradict itself even where no level does: see `contradiction`.
    """
    values, sources = overlaid(levels, db=db, table=table)
    return Resolved(replace(DEFAULT, **values), {**dict.fromkeys(FIELDS, BUILT_IN), **sources})


def overlaid(
    levels: Iterable[Level], *, db: str, table: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Lay the levels that fit a table over each other: its settings, and whose each of them is."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for level in sorted((one for one in levels if one.fits(db, table)), key=lambda one: one.order):
        values.update(level.values)
        sources.update(dict.fromkeys(level.values, level.scope))
    return values, sources


def names_in(scope: str) -> tuple[str, str]:
    """Return the database and the name of a table that a scope just fits."""
    db, _, table = scope.partition(".")
    return _some(db), _some(table)


def check(policy: Policy) -> None:
    """Refuse a policy that cannot be meant: RuleViolation `policy.contradiction`."""
    refused = contradiction(policy)
    if refused is not None:
        raise refused


def contradiction(policy: Policy) -> RuleViolation | None:
    """Return the first thing in a policy that cannot be meant, with the fields that it lies in."""
    return first_broken(_rules(policy))


PolicyRule = tuple[tuple[str, ...], bool, str]
"""The settings that a rule is about, whether they break it, and what to do then."""


def working_rules(
    *, is_on: bool, quiet: BlackoutWindow | None, kinds: frozenset[StrEnum], budget: float | None
) -> Iterable[PolicyRule]:
    """Give the rules that hold for every kind of table: what is on must be able to do something."""
    left = MINUTES_A_DAY - (quiet.minutes if quiet else 0)
    yield (
        ("is_on", "quiet"),
        is_on and left < LEAST_WORKING_MINUTES,
        f"blackout window {quiet} leave {left} minutes of the day, in which nothing gets done; "
        f"leave {LEAST_WORKING_MINUTES} minutes, or switch it off.",
    )
    yield (
        ("is_on", "kinds"),
        is_on and not kinds,
        "it is on and may do nothing; allow a kind of work, or switch it off.",
    )
    yield (
        ("is_on", "budget_gb_hours"),
        is_on and budget is not None and budget <= 0,
        "it is on and may spend nothing; give it a budget, or switch it off.",
    )


def first_broken(rules: Iterable[PolicyRule]) -> RuleViolation | None:
    """Return the first rule that is broken as an error that names its settings."""
    for names, is_wrong, says in rules:
        if is_wrong:
            return RuleViolation(
                "policy.contradiction", f"{' and '.join(names)}: {says}", policy_fields=list(names)
            )
    return None


def _rules(policy: Policy) -> Iterable[PolicyRule]:
    yield from _ranges(policy)
    yield from working_rules(
        is_on=policy.is_on,
        quiet=policy.quiet,
        kinds=frozenset(policy.kinds),
        budget=policy.budget_gb_hours,
    )
    yield from _together(policy)


def _ranges(policy: Policy) -> Iterable[PolicyRule]:
    yield (
        ("target_bytes",),
        not LEAST_TARGET_BYTES <= policy.target_bytes <= MOST_TARGET_BYTES,
        f"files of {policy.target_bytes} bytes help nobody; take from 1 MiB to 64 GiB, "
        "512 MiB if you do not know.",
    )
    yield (
        ("orphan_days",),
        policy.orphan_days < LEAST_ORPHAN_DAYS,
        f"a file younger than {LEAST_ORPHAN_DAYS} days may belong to a commit that still runs; "
        f"take {LEAST_ORPHAN_DAYS} days or more.",
    )
    yield (
        ("quarantine_days",),
        not LEAST_QUARANTINE_DAYS <= policy.quarantine_days <= MOST_QUARANTINE_DAYS,
        f"nobody misses a file within hours; take {LEAST_QUARANTINE_DAYS} to "
        f"{MOST_QUARANTINE_DAYS} days.",
    )
    yield (
        ("keep_snapshots",),
        policy.keep_snapshots < 1,
        "a table without a snapshot has no data; keep at least 1.",
    )
    yield (
        ("expire_days",),
        policy.expire_days < 1,
        "readers that run still need their snapshots; expire after 1 day or more.",
    )
    yield (("manifests",), policy.manifests < 2, "one manifest cannot be fewer; take 2 or more.")
    yield (
        ("min_interval_minutes",),
        policy.min_interval_minutes < 1,
        "a table must be left alone for a while; take 1 minute or more.",
    )
    yield (
        ("full_days",),
        policy.full_days < 0,
        "take a number of days, or 0 for never.",
    )


def _together(policy: Policy) -> Iterable[PolicyRule]:
    yield (
        ("layout", "kinds"),
        bool(policy.layout) and TaskKind.CLUSTER not in policy.kinds,
        f"rows are to be sorted as {policy.layout} and CLUSTER is not allowed, so they never will; "
        "allow CLUSTER, or take the layout away.",
    )
    yield (
        ("layout", "kinds"),
        policy.is_on and policy.kinds == {TaskKind.CLUSTER} and not policy.layout,
        "only CLUSTER is allowed and there is no layout; write one, or allow other kinds.",
    )
    yield (
        ("index_columns", "kinds"),
        bool(policy.index_columns) and TaskKind.INDEX not in policy.kinds,
        "columns are to be indexed and INDEX is not allowed, so they never will; allow INDEX, or "
        "take index_columns away.",
    )
    yield (
        ("full_days", "kinds"),
        policy.full_days > 0 and TaskKind.FULL not in policy.kinds,
        f"a full rewrite is asked for every {policy.full_days} days and FULL is not allowed; "
        "allow it, or set full_days to 0.",
    )


def _some(pattern: str) -> str:
    """Return a name that just fits a pattern."""
    return pattern.replace("*", "").replace("?", "x") or "x"


def _minute(at: time) -> int:
    return at.hour * 60 + at.minute


@lru_cache(maxsize=4096)
def _compiled(scope: str) -> re.Pattern[str]:
    return re.compile(r"\.".join(map(_glob, scope.lower().split("."))))


def _glob(part: str) -> str:
    """Return one part of a scope as a pattern that never tries a star twice.

    Between two stars the first place that fits is as good as any later one, so it is final
    (an atomic group). With plain stars a name of many equal letters would be tried for hours.
    """
    first, *rest = ("".join(_letter(one) for one in piece) for piece in part.split("*"))
    if not rest:
        return first
    *between, last = rest
    middle = "".join(f"(?>[^.]*?{piece})" for piece in between)
    return f"{first}{middle}[^.]*{last}"


def _letter(one: str) -> str:
    return "[^.]" if one == "?" else re.escape(one)
