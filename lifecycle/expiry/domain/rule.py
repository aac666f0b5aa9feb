"""Why is this expiring, or why not: the age rule for one table or partition.

Update time = max(metastore DDL time, newest mtime) + 1 ms; the creation time stands in where the
DDL time is absent. Due at that + TTL days. `judge` is the reference. The scan computes the same
in Spark columns and is tested against it; RULES lists the conditions in their order, the first
that holds decides. What a rule says to people stands in `expiry_words`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

DAY_MS = 86_400_000
# 2100-01-01: a file's time beyond it is a mistake (microseconds for milliseconds), not a time.
LATEST_MS = 4_102_444_800_000
ABSURD = "a time of its files cannot be true"
SOON_DAYS = 7
RECENTLY_READ_DAYS = 30


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


class Rule(StrEnum):
    """Which rule decided. CHANGED is the scan's own: it was altered while the scan was reading."""

    UNSUPPORTED = "UNSUPPORTED"
    POLICY_PROBLEM = "POLICY_PROBLEM"
    KEEP_FOREVER = "KEEP_FOREVER"
    NO_POLICY = "NO_POLICY"
    NONCONFORMING = "NONCONFORMING"
    MISSING_DIRECTORY = "MISSING_DIRECTORY"
    UNREADY = "UNREADY"
    HELD = "HELD"
    NO_CLOCK = "NO_CLOCK"
    NOT_NOW = "NOT_NOW"
    NOT_LOOKED = "NOT_LOOKED"
    SOON = "SOON"
    READS_UNKNOWN = "READS_UNKNOWN"
    STILL_READ = "STILL_READ"
    CLEAN_NOW = "CLEAN_NOW"
    CHANGED = "CHANGED"


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
    unsupported: str = ""
    nonconforming: tuple[str, ...] = ()
    fs_error: str = ""
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
    """The class, the rule that decided with its detail, and the clocks (None where unknown).

    `detail` is what the rule alone knows: the unsupported kind, the problem, the broken path rules,
    the hold, or why the file system did not let anybody look; empty for the others.
    """

    cls: ExpiryClass
    rule: Rule
    detail: str
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
    still_read_days: int = RECENTLY_READ_DAYS

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
    facts = plausible(facts)
    case = _case(facts, terms)
    for rule, cls, holds in RULES:
        if holds(case):
            detail = DETAILS[rule](facts) if rule in DETAILS else ""
            return Judgement(
                cls, rule, detail, case.updated_ms, case.winner, case.due_ms, case.due_on
            )
    raise AssertionError("the last rule always holds")


def plausible(facts: ExpiryFacts) -> ExpiryFacts:
    """Return the facts without times of files that cannot be true, so that nothing is certain."""
    times = (facts.mtime_ms, facts.atime_ms)
    if all(time is None or 0 <= time <= LATEST_MS for time in times):
        return facts
    return replace(facts, mtime_ms=None, atime_ms=None, fs_error=facts.fs_error or ABSURD)


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


def _no_reads_known(case: _Case) -> bool:
    return case.facts.atime_ms is None and case.facts.n_files != 0


DETAILS: Mapping[Rule, Callable[[ExpiryFacts], str]] = {
    Rule.UNSUPPORTED: lambda facts: facts.unsupported,
    Rule.POLICY_PROBLEM: lambda facts: facts.policy_problem,
    Rule.NONCONFORMING: lambda facts: ", ".join(facts.nonconforming),
    Rule.HELD: lambda facts: facts.hold,
    Rule.NOT_LOOKED: lambda facts: facts.fs_error,
}

RULES: tuple[tuple[Rule, ExpiryClass, Callable[[_Case], bool]], ...] = (
    (Rule.UNSUPPORTED, ExpiryClass.UNSUPPORTED, lambda case: bool(case.facts.unsupported)),
    (Rule.POLICY_PROBLEM, ExpiryClass.NOT_ENROLLED, lambda case: bool(case.facts.policy_problem)),
    (Rule.KEEP_FOREVER, ExpiryClass.KEEP_FOREVER, lambda case: case.facts.level == 0),
    (
        Rule.NO_POLICY,
        ExpiryClass.NOT_ENROLLED,
        lambda case: case.facts.level is None or case.facts.ttl is None,
    ),
    (Rule.NONCONFORMING, ExpiryClass.NONCONFORMING, lambda case: bool(case.facts.nonconforming)),
    (
        Rule.MISSING_DIRECTORY,
        ExpiryClass.MISSING_DIRECTORY,
        lambda case: case.facts.directory is Directory.MISSING,
    ),
    (Rule.UNREADY, ExpiryClass.UNREADY, lambda case: not case.facts.ready),
    (Rule.HELD, ExpiryClass.HELD, lambda case: bool(case.facts.hold)),
    (Rule.NO_CLOCK, ExpiryClass.UNKNOWN, lambda case: case.updated_ms is None),
    (Rule.NOT_NOW, ExpiryClass.NOT_NOW, lambda case: not case.is_near),
    (
        Rule.NOT_LOOKED,
        ExpiryClass.UNKNOWN,
        lambda case: case.facts.directory is Directory.NOT_LOOKED or case.facts.mtime_ms is None,
    ),
    (Rule.SOON, ExpiryClass.SOON, lambda case: not case.is_due),
    (Rule.READS_UNKNOWN, ExpiryClass.UNKNOWN, _no_reads_known),
    (Rule.STILL_READ, ExpiryClass.STILL_READ, lambda case: case.was_read),
    (Rule.CLEAN_NOW, ExpiryClass.CLEAN_NOW, lambda _: True),
)
