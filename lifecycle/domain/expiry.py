"""Why is this expiring, or why not: the age rule for one table or partition.

Update time = max(metastore DDL time, newest mtime) + 1 ms; the creation time stands in where the
DDL time is absent. Due at that + TTL days. `judge` is the reference. The scan computes the same
in Spark columns and is tested against it; RULES lists the conditions in their order, the first
that holds decides.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

DAY_MS = 86_400_000
SOON_DAYS = 7
STILL_READ_DAYS = 30


class ExpiryClass(StrEnum):
    """What the age rule says of one table or partition."""

    CLEAN_NOW = "CLEAN_NOW"
    SOON = "SOON"
    NOT_NOW = "NOT_NOW"
    STILL_READ = "STILL_READ"
    HELD = "HELD"
    NOT_ENROLLED = "NOT_ENROLLED"
    UNSUPPORTED = "UNSUPPORTED"
    NONCONFORMING = "NONCONFORMING"
    UNREADY = "UNREADY"
    KEEP_FOREVER = "KEEP_FOREVER"
    MISSING_DIRECTORY = "MISSING_DIRECTORY"
    UNKNOWN = "UNKNOWN"


class Winner(StrEnum):
    """Which clock gave the update time; the metastore's wins a tie."""

    DDL = "DDL"
    MTIME = "MTIME"
    CREATE = "CREATE"


class Directory(StrEnum):
    """What the scan knows of the files: walked, not there, or spared because a clock settled it."""

    WALKED = "WALKED"
    MISSING = "MISSING"
    NOT_LOOKED = "NOT_LOOKED"


@dataclass(frozen=True, slots=True)
class ExpiryFacts:
    """All that is known of one table or partition when it is judged.

    `ddl_time` and `create_time` are epoch seconds; absent, unreadable and 0 alike are None or 0.
    `mtime_ms` is the newest of the directory, its sub-directories and files. `atime_ms` is the
    newest access time of its *files* (listing moves a directory's), None where it is switched off.
    """

    level: int | None
    ttl: int | None
    policy_problem: str = ""
    policy_source: str = "the table's own parameters"
    unsupported: str = ""
    nonconforming: tuple[str, ...] = ()
    ready: bool = True
    hold: str = ""
    directory: Directory = Directory.WALKED
    ddl_time: int | None = None
    create_time: int | None = None
    mtime_ms: int | None = None
    atime_ms: int | None = None
    n_files: int | None = None
    announced_on: date | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The class, why in words, and the clocks; times are None where no clock is known."""

    cls: ExpiryClass
    reason: str
    updated_ms: int | None
    winner: Winner | None
    due_ms: int | None
    due_on: date | None


@dataclass(frozen=True, slots=True)
class Terms:
    """What is the same for every item of a scan."""

    now: datetime
    zone: ZoneInfo
    soon_days: int = SOON_DAYS
    still_read_days: int = STILL_READ_DAYS

    @property
    def now_ms(self) -> int:
        """The instant of the judgement in epoch milliseconds."""
        return (self.now - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class _Case:
    """Facts, terms and the clocks worked out of them; what the rules look at."""

    facts: ExpiryFacts
    terms: Terms
    updated_ms: int | None
    winner: Winner | None
    due_ms: int | None
    due_on: date | None

    @property
    def is_due(self) -> bool:
        """Past the due instant, and not before a day that was announced to the owner."""
        if self.due_ms is None or self.due_on is None:
            return False
        today = self.terms.now.astimezone(self.terms.zone).date()
        return self.terms.now_ms >= self.due_ms and today >= self.due_on

    @property
    def is_near(self) -> bool:
        """Due, or due within the notice days."""
        return (
            self.due_ms is not None
            and self.terms.now_ms >= self.due_ms - self.terms.soon_days * DAY_MS
        )

    @property
    def was_read(self) -> bool:
        """Read since its newest write, and within the last days (a write sets both times)."""
        atime = self.facts.atime_ms
        if atime is None or atime <= (self.facts.mtime_ms or 0):
            return False
        return self.terms.now_ms - atime <= self.terms.still_read_days * DAY_MS


def update_time(
    *, ddl_time: int | None, create_time: int | None, mtime_ms: int | None
) -> tuple[int | None, Winner | None]:
    """Give the update time in epoch milliseconds and the clock that won; None if there is none."""
    metastore = (ddl_time, Winner.DDL) if ddl_time else (create_time, Winner.CREATE)
    metastore_ms = metastore[0] * 1000 if metastore[0] else None
    if mtime_ms is not None and (metastore_ms is None or mtime_ms > metastore_ms):
        return mtime_ms + 1, Winner.MTIME
    if metastore_ms is None:
        return None, None
    return metastore_ms + 1, metastore[1]


def judge(facts: ExpiryFacts, terms: Terms) -> Judgement:
    """Judge one item: the first of RULES that holds decides; the last always does."""
    case = _case(facts, terms)
    for cls, holds, say in RULES:
        if holds(case):
            return Judgement(cls, say(case), case.updated_ms, case.winner, case.due_ms, case.due_on)
    raise AssertionError("the last rule always holds")


def _case(facts: ExpiryFacts, terms: Terms) -> _Case:
    updated, winner = update_time(
        ddl_time=facts.ddl_time, create_time=facts.create_time, mtime_ms=facts.mtime_ms
    )
    if updated is None or facts.ttl is None:
        return _Case(facts, terms, updated, winner, None, None)
    due = updated + facts.ttl * DAY_MS
    due_on = _instant(due).astimezone(terms.zone).date()
    if facts.announced_on is not None:
        due_on = max(due_on, facts.announced_on)
    return _Case(facts, terms, updated, winner, due, due_on)


def _instant(milliseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def _minute(milliseconds: int | None, zone: ZoneInfo) -> str:
    if milliseconds is None:
        return "unknown"
    return _instant(milliseconds).astimezone(zone).strftime("%Y-%m-%d %H:%M")


def _clocks(case: _Case) -> str:
    """Say both clocks, which won, the TTL and where it comes from, and the day."""
    facts, zone = case.facts, case.terms.zone
    seconds = facts.ddl_time or facts.create_time
    metastore = _minute(seconds * 1000 if seconds else None, zone)
    label = "Metadata changed" if facts.ddl_time else "Created (no DDL time)"
    files = (
        "not looked at" if facts.mtime_ms is None else f"changed {_minute(facts.mtime_ms, zone)}"
    )
    wins = "files" if case.winner is Winner.MTIME else "metadata"
    return (
        f"{label} {metastore}, files {files}; the later counts ({wins}). "
        f"TTL {facts.ttl} days from {facts.policy_source}: due {case.due_on}."
    )


def _last_read(case: _Case) -> str:
    return _minute(case.facts.atime_ms, case.terms.zone)


def _no_reads_known(case: _Case) -> bool:
    return case.facts.atime_ms is None and case.facts.n_files != 0


_Rule = tuple[ExpiryClass, Callable[[_Case], bool], Callable[[_Case], str]]

RULES: tuple[_Rule, ...] = (
    (
        ExpiryClass.UNSUPPORTED,
        lambda case: bool(case.facts.unsupported),
        lambda case: case.facts.unsupported,
    ),
    (
        ExpiryClass.NOT_ENROLLED,
        lambda case: bool(case.facts.policy_problem),
        lambda case: case.facts.policy_problem,
    ),
    (
        ExpiryClass.KEEP_FOREVER,
        lambda case: case.facts.level == 0,
        lambda case: f"LEVEL 0 in {case.facts.policy_source}: kept for ever.",
    ),
    (
        ExpiryClass.NOT_ENROLLED,
        lambda case: case.facts.level is None or case.facts.ttl is None,
        lambda _: "The table has no LEVEL and TTL of its own, so it takes no part in lifecycle.",
    ),
    (
        ExpiryClass.NONCONFORMING,
        lambda case: bool(case.facts.nonconforming),
        lambda case: f"Path rules are broken: {', '.join(case.facts.nonconforming)}.",
    ),
    (
        ExpiryClass.MISSING_DIRECTORY,
        lambda case: case.facts.directory is Directory.MISSING,
        lambda _: "The metastore names a directory that does not exist.",
    ),
    (
        ExpiryClass.UNREADY,
        lambda case: not case.facts.ready,
        lambda _: "commit=false: its data is not complete yet.",
    ),
    (
        ExpiryClass.HELD,
        lambda case: bool(case.facts.hold),
        lambda case: f"Held: {case.facts.hold}",
    ),
    (
        ExpiryClass.UNKNOWN,
        lambda case: case.updated_ms is None,
        lambda _: "Neither the metastore nor the file system gives a time.",
    ),
    (
        ExpiryClass.NOT_NOW,
        lambda case: not case.is_near,
        _clocks,
    ),
    (
        ExpiryClass.UNKNOWN,
        lambda case: case.facts.directory is Directory.NOT_LOOKED or case.facts.mtime_ms is None,
        lambda case: f"{_clocks(case)} The files were not looked at, so it may be younger.",
    ),
    (
        ExpiryClass.SOON,
        lambda case: not case.is_due,
        _clocks,
    ),
    (
        ExpiryClass.UNKNOWN,
        _no_reads_known,
        lambda case: f"{_clocks(case)} Access time is off here, so nobody can say it is unread.",
    ),
    (
        ExpiryClass.STILL_READ,
        lambda case: case.was_read,
        lambda case: f"{_clocks(case)} But it was last read {_last_read(case)}.",
    ),
    (
        ExpiryClass.CLEAN_NOW,
        lambda _: True,
        lambda case: f"{_clocks(case)} Last read {_last_read(case)}.",
    ),
)
