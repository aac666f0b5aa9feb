"""What an owner may answer about a table that is due, and what came of it, in words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any

DAYS_OFFERED = (30, 60, 90)
MOST_TABLES = 5_000
NAMED = 10
LINK_DAYS = 14


class AnswerKind(StrEnum):
    """The answers: keep for some days, keep for ever, let it go, hand over to somebody else."""

    KEEP = "KEEP"
    KEEP_FOREVER = "KEEP_FOREVER"
    LET_GO = "LET_GO"
    HAND_OVER = "HAND_OVER"


class Outcome(StrEnum):
    """What came of an answer for one table."""

    DONE = "DONE"
    WAITING = "WAITING"
    REFUSED = "REFUSED"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer for all chosen tables; `days` for KEEP, `to` (a user name) for HAND_OVER."""

    kind: AnswerKind
    reason: str
    days: int = 0
    to: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the answer as a run keeps it."""
        return {"kind": self.kind.value, "reason": self.reason, "days": self.days, "to": self.to}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> "Answer":
        """Read an answer that a run kept."""
        return cls(AnswerKind(said["kind"]), said["reason"], said["days"], said["to"])


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """What came of the answer for one table: done, waiting for somebody, or refused with `code`."""

    db: str
    table: str
    outcome: Outcome
    message: str = ""
    code: str = ""
    until: date | None = None
    request: str = ""
    partition: str = ""

    @property
    def name(self) -> str:
        """The table's name, or the partition's."""
        return self.partition or f"{self.db}.{self.table}"


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that somebody gave about a table already; `kind` is None for another TTL."""

    kind: AnswerKind | None
    by: str
    words: str
    outcome: Outcome = Outcome.DONE
    days: int = 0
    to: str = ""
    until: date | None = None
    request: str = ""
    at: datetime | None = None

    def is_of(self, answer: Answer, *, username: str) -> bool:
        """Whether it is this very answer by this person, given before."""
        return (self.kind, self.by, self.days, self.to) == (
            answer.kind,
            username,
            answer.days,
            answer.to,
        )


@dataclass(frozen=True, slots=True)
class MailLink:
    """What a link in a notice says: the answer, the table, and the notice's day and person."""

    lake: str
    db: str
    table: str
    kind: AnswerKind
    days: int
    username: str
    notice: str
    day: date

    @property
    def last_day(self) -> date:
        """The last day on which the link opens."""
        return self.day + timedelta(days=LINK_DAYS)

    @property
    def name(self) -> str:
        """The table's name."""
        return f"{self.db}.{self.table}"

    @property
    def button(self) -> str:
        """The answer in the words of its button."""
        return "Let it go" if self.kind is AnswerKind.LET_GO else f"Keep {self.days} days"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one answer for many tables, or for many partitions of one."""

    answer: Answer
    tables: Sequence[TableAnswer] = field(default_factory=tuple)
    noun: str = "table"

    def of(self, outcome: Outcome) -> list[TableAnswer]:
        """Return the tables with this outcome."""
        return [one for one in self.tables if one.outcome is outcome]

    @property
    def n_done(self) -> int:
        """How many tables are answered."""
        return len(self.of(Outcome.DONE))

    @property
    def n_waiting(self) -> int:
        """How many wait for somebody's yes."""
        return len(self.of(Outcome.WAITING))

    @property
    def n_refused(self) -> int:
        """How many could not be answered."""
        return len(self.of(Outcome.REFUSED))

    @property
    def words(self) -> str:
        """The result in sentences: how many, until when, and what was not done."""
        sentences = [self._done()] if self.n_done else []
        if waiting := self.of(Outcome.WAITING):
            verb = "waits" if len(waiting) == 1 else "wait"
            sentences.append(f"{len(waiting):,} {verb} for a yes: {_named(waiting)}")
        if refused := self.of(Outcome.REFUSED):
            sentences.append(f"{len(refused):,} could not be answered: {_named(refused)}")
        return ". ".join(sentences) + "." if sentences else f"No {self.noun} was chosen."

    def _done(self) -> str:
        n, n_all = self.n_done, len(self.tables)
        how_many = f"{n:,}" if n == n_all else f"{n:,} of {n_all:,}"
        tables = f"{how_many} {self.noun}{'' if n_all == 1 else 's'}"
        if self.answer.kind is AnswerKind.KEEP:
            days = sorted({one.until for one in self.of(Outcome.DONE) if one.until})
            span = f"{days[0]}" if len(days) == 1 else f"{days[0]} to {days[-1]}" if days else ""
            return f"Kept {tables} until {span}" if span else f"Kept {tables}"
        if self.answer.kind is AnswerKind.KEEP_FOREVER:
            return f"{tables} will be kept for ever: it is being written to the metastore"
        if self.answer.kind is AnswerKind.LET_GO:
            return (
                f"Let {tables} go: an admin may plan what is due, and two people approve the plan"
            )
        return f"Offered {tables} to {self.answer.to}"


def _named(tables: Sequence[TableAnswer]) -> str:
    shown = "; ".join(f"{one.name}: {one.message.rstrip('.')}" for one in tables[:NAMED])
    n_more = len(tables) - NAMED
    return f"{shown}; and {n_more:,} more" if n_more > 0 else shown
