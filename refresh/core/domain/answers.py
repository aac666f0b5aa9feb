"""Meaning of a front end's error, and the remedy for it.

Codes alone say little: 1064 stands for a dozen things, and 5502 for a table that is gone as well as
for a metastore that is down. So code and text are read together, by a list per dialect; the
metastore is asked before anything of doubt counts as permanent. Texts are those of facts/refresh.

A front end that took a refresh does it first; if that fails nobody else is asked. Then it asks
every registered one of another host, and error 5074 names who failed. That is a partial success,
nothing is rolled back.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from portal.lake.lines import one_line
from refresh.clusters.domain.frontends import FrontEnd
from refresh.core.domain.versions import Dialect

# One front end took it and did it; its text names those that failed.
PARTIAL = 5074
_PREFIX = "refresh external table failed"
_PIECE = re.compile(r"refresh fe (\S+) failed:")
_SHORT = 200


class ErrorKind(StrEnum):
    """What happened, as far as the answer tells."""

    PARTIAL = "PARTIAL"
    NAME_UNKNOWN = "NAME_UNKNOWN"
    PARTITION_UNKNOWN = "PARTITION_UNKNOWN"
    CATALOG_UNKNOWN = "CATALOG_UNKNOWN"
    UNLINKED = "UNLINKED"
    PLANNER_SLOW = "PLANNER_SLOW"
    METASTORE_SLOW = "METASTORE_SLOW"
    METASTORE_DOWN = "METASTORE_DOWN"
    LOAD_FAILED = "LOAD_FAILED"
    NO_RIGHT = "NO_RIGHT"
    BAD_LOGIN = "BAD_LOGIN"
    BAD_STATEMENT = "BAD_STATEMENT"
    UNSUPPORTED = "UNSUPPORTED"
    FE_REFUSED = "FE_REFUSED"
    FE_SILENT = "FE_SILENT"
    UNKNOWN = "UNKNOWN"


class RecoveryAction(StrEnum):
    """What is done next."""

    READ_OUTCOMES = "READ_OUTCOMES"
    ASK_METASTORE = "ASK_METASTORE"
    RETRY = "RETRY"
    READ_NAMES = "READ_NAMES"
    # Nothing more is sent to that front end until it lets us in.
    HOLD = "HOLD"
    # Somebody must act, and nobody will tell us: tried again for as long as it takes.
    RETRY_UNTIL_MENDED = "RETRY_UNTIL_MENDED"
    GIVE_UP = "GIVE_UP"


class FaultSource(StrEnum):
    """Whose circuit breaker counts this as a failure."""

    NOBODY = "NOBODY"
    METASTORE = "METASTORE"
    FRONT_END = "FRONT_END"


@dataclass(frozen=True, slots=True)
class Answer:
    """An error read: its meaning, the whole text for the log, one short line for the page."""

    code: int
    text: str
    meaning: ErrorKind

    @property
    def short(self) -> str:
        """The first line, cut; messages may hold whole Java stacks."""
        line = one_line(self.text.strip().splitlines()[0] if self.text.strip() else "")
        return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"

    @property
    def remedy(self) -> RecoveryAction:
        """What is done next."""
        return _REMEDIES[self.meaning]

    @property
    def suspect(self) -> FaultSource:
        """Whose breaker counts it."""
        return _SUSPECTS.get(self.meaning, FaultSource.NOBODY)


@dataclass(frozen=True, slots=True)
class _Rule:
    """A code (None = any) and words that must all stand in the text, in small letters."""

    code: int | None
    words: tuple[str, ...]
    meaning: ErrorKind

    def fits(self, code: int, text: str) -> bool:
        return self.code in (None, code) and all(word in text for word in self.words)


# PyMySQL's own codes: no connection, gone away, lost while waiting, packets out of order.
_CLIENT = (
    # Only a host that refuses says that no process is there; one that cannot be reached may live.
    _Rule(2003, ("refused",), ErrorKind.FE_REFUSED),
    _Rule(2003, (), ErrorKind.FE_SILENT),
    _Rule(2006, (), ErrorKind.FE_SILENT),
    _Rule(2013, (), ErrorKind.FE_SILENT),
    _Rule(2014, (), ErrorKind.FE_SILENT),
)
_BOTH = (
    *_CLIENT,
    _Rule(PARTIAL, (), ErrorKind.PARTIAL),
    _Rule(1045, (), ErrorKind.BAD_LOGIN),
    _Rule(1046, (), ErrorKind.BAD_STATEMENT),
    _Rule(None, ("getting syntax error",), ErrorKind.BAD_STATEMENT),
    _Rule(None, ("do not support refresh external table",), ErrorKind.UNSUPPORTED),
    _Rule(None, ("could not connect to meta store",), ErrorKind.METASTORE_DOWN),
    _Rule(1064, ("planner use long time",), ErrorKind.PLANNER_SLOW),
    _Rule(None, ("null value in entry",), ErrorKind.PARTITION_UNKNOWN),
    _Rule(None, ("nosuchobjectexception",), ErrorKind.NAME_UNKNOWN),
)
_AFTER_BOTH = (
    _Rule(1064, ("failed to get", "sockettimeoutexception"), ErrorKind.METASTORE_SLOW),
    _Rule(None, ("index: 0, size: 0",), ErrorKind.NAME_UNKNOWN),
)
_RULES = {
    Dialect.CATALOGS: (
        *_BOTH,
        _Rule(5078, (), ErrorKind.CATALOG_UNKNOWN),
        _Rule(5203, (), ErrorKind.NO_RIGHT),
        _Rule(5501, (), ErrorKind.NAME_UNKNOWN),
        _Rule(5502, (), ErrorKind.NAME_UNKNOWN),
        *_AFTER_BOTH,
        _Rule(1064, ("failed to get",), ErrorKind.LOAD_FAILED),
    ),
    Dialect.RESOURCES: (
        *_BOTH,
        _Rule(1049, (), ErrorKind.UNLINKED),
        _Rule(1051, (), ErrorKind.UNLINKED),
        _Rule(1142, (), ErrorKind.NO_RIGHT),
        _Rule(None, ("is not hive/hudi external table",), ErrorKind.UNLINKED),
        *_AFTER_BOTH,
        _Rule(None, ("cache failed:", "timed out"), ErrorKind.METASTORE_SLOW),
        _Rule(None, ("cached failed:", "timed out"), ErrorKind.METASTORE_SLOW),
        _Rule(None, ("refresh table cache failed:",), ErrorKind.LOAD_FAILED),
        _Rule(None, ("refresh partition cached failed:",), ErrorKind.LOAD_FAILED),
    ),
}
_REMEDIES = {
    ErrorKind.PARTIAL: RecoveryAction.READ_OUTCOMES,
    ErrorKind.NAME_UNKNOWN: RecoveryAction.ASK_METASTORE,
    ErrorKind.PARTITION_UNKNOWN: RecoveryAction.ASK_METASTORE,
    ErrorKind.LOAD_FAILED: RecoveryAction.ASK_METASTORE,
    ErrorKind.CATALOG_UNKNOWN: RecoveryAction.READ_NAMES,
    ErrorKind.UNLINKED: RecoveryAction.READ_NAMES,
    ErrorKind.PLANNER_SLOW: RecoveryAction.RETRY,
    ErrorKind.METASTORE_SLOW: RecoveryAction.RETRY,
    ErrorKind.METASTORE_DOWN: RecoveryAction.RETRY,
    ErrorKind.FE_REFUSED: RecoveryAction.RETRY,
    ErrorKind.FE_SILENT: RecoveryAction.RETRY,
    ErrorKind.UNKNOWN: RecoveryAction.RETRY,
    ErrorKind.NO_RIGHT: RecoveryAction.RETRY_UNTIL_MENDED,
    ErrorKind.BAD_LOGIN: RecoveryAction.HOLD,
    ErrorKind.BAD_STATEMENT: RecoveryAction.GIVE_UP,
    ErrorKind.UNSUPPORTED: RecoveryAction.GIVE_UP,
}
_SUSPECTS = {
    ErrorKind.METASTORE_SLOW: FaultSource.METASTORE,
    ErrorKind.METASTORE_DOWN: FaultSource.METASTORE,
    ErrorKind.FE_REFUSED: FaultSource.FRONT_END,
    ErrorKind.FE_SILENT: FaultSource.FRONT_END,
}


def read_answer(code: int, text: str, *, dialect: Dialect) -> Answer:
    """Sort an error by code and text; one that no rule knows is UNKNOWN, kept whole, retried."""
    low = text.lower()
    for rule in _RULES[dialect]:
        if rule.fits(code, low):
            return Answer(code, text, rule.meaning)
    return Answer(code, text, ErrorKind.UNKNOWN)


class MetastoreCheck(StrEnum):
    """What the metastore said when it was asked about the same names."""

    ALL_THERE = "ALL_THERE"
    TABLE_GONE = "TABLE_GONE"
    PARTITIONS_GONE = "PARTITIONS_GONE"
    NO_ANSWER = "NO_ANSWER"


class NextStep(StrEnum):
    """How a doubtful error ends once the metastore was asked."""

    RETRY = "RETRY"
    RETRY_WHEN_METASTORE_IS_BACK = "RETRY_WHEN_METASTORE_IS_BACK"
    PLAN_AGAIN = "PLAN_AGAIN"
    DROP_TABLE = "DROP_TABLE"


def settle(asked: MetastoreCheck) -> NextStep:
    """Settle a doubtful error: only the metastore's own word makes a table gone."""
    return {
        MetastoreCheck.ALL_THERE: NextStep.RETRY,
        MetastoreCheck.NO_ANSWER: NextStep.RETRY_WHEN_METASTORE_IS_BACK,
        MetastoreCheck.PARTITIONS_GONE: NextStep.PLAN_AGAIN,
        MetastoreCheck.TABLE_GONE: NextStep.DROP_TABLE,
    }[asked]


class Outcome(StrEnum):
    """What is known of a refresh on one front end."""

    DONE = "DONE"
    FAILED = "FAILED"
    NOT_ASKED = "NOT_ASKED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class FeOutcome:
    """The outcome on one front end, and its own words where it failed."""

    outcome: Outcome
    reason: str = ""


def read_failures(text: str) -> dict[str, str]:
    """Return the words of failure by host; empty if the text names nobody.

    A host that is named inside another one's words counts as failed too: rather once too often
    called stale than once fresh.
    """
    pieces = list(_PIECE.finditer(text))
    found: dict[str, str] = {}
    for number, piece in enumerate(pieces):
        end = pieces[number + 1].start() if number + 1 < len(pieces) else len(text)
        found.setdefault(piece[1], text[piece.end() : end].strip().removesuffix(";"))
    return found


def outcomes(
    text: str | None, *, coordinator: FrontEnd, every: Sequence[FrontEnd]
) -> Mapping[str, FeOutcome]:
    """Say by name what a refresh came to that `taker` answered with OK (None) or with 5074.

    Front ends on the taker's host are skipped by it. Of several on another host one answer is
    kept, so nothing is known of them, unless that one failed.
    """
    failures = read_failures(text) if text is not None else {}
    is_readable = text is None or (_PREFIX in text.lower() and bool(failures))
    n_on_host = Counter(fe.host for fe in every)
    return {
        fe.name: FeOutcome(Outcome.UNKNOWN, text or "")
        if not is_readable
        else _outcome(fe, coordinator=coordinator, failures=failures, n_on_host=n_on_host[fe.host])
        for fe in every
    }


def _outcome(
    fe: FrontEnd, *, coordinator: FrontEnd, failures: Mapping[str, str], n_on_host: int
) -> FeOutcome:
    if fe.name == coordinator.name:
        return FeOutcome(Outcome.DONE)
    if fe.host == coordinator.host:
        return FeOutcome(Outcome.NOT_ASKED, "It shares its host with the one that took it.")
    if fe.host in failures:
        return FeOutcome(Outcome.FAILED, failures[fe.host])
    if n_on_host > 1:
        return FeOutcome(Outcome.UNKNOWN, "It shares its host with another front end.")
    return FeOutcome(Outcome.DONE)
