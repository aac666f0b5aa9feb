"""Explains the age rule to people. Each rule gets one sentence or two, clocks included."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from lifecycle.expiry.domain.rule import Rule, Winner
from portal.lake.counts import count_words


@dataclass(frozen=True, slots=True)
class Judged:
    """What the words need of a judged item; times as in `ExpiryFacts` and `Judgement`."""

    rule: Rule
    detail: str
    zone: ZoneInfo
    policy_source: str
    ttl: int | None
    ddl_time: int | None
    create_time: int | None
    mtime_ms: int | None
    atime_ms: int | None
    winner: Winner | None
    due_on: date | None
    is_walked: bool = True
    """Whether files were looked at; else `mtime_ms` is the directory's own."""


def explain(judged: Judged) -> str:
    """Say why an item has its class."""
    return _WORDS[judged.rule](judged)


def explain_row(row: Mapping[str, Any], zone: ZoneInfo) -> str:
    """Say why a row of a scan's items (or its examples) has its class."""
    return explain(
        Judged(
            rule=Rule(row["rule"]),
            detail=row["detail"] or "",
            zone=zone,
            policy_source=row["policy_source"] or "",
            ttl=row["ttl"],
            ddl_time=row["ddl_time"],
            create_time=row["create_time"],
            mtime_ms=row["mtime_ms"],
            atime_ms=row["atime_ms"],
            winner=Winner(row["winner"]) if row["winner"] else None,
            due_on=row["due_on"],
            is_walked=row["n_files"] is not None,
        )
    )


def _minute(milliseconds: int | None, zone: ZoneInfo) -> str:
    if milliseconds is None:
        return "unknown"
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    return instant.astimezone(zone).strftime("%Y-%m-%d %H:%M")


def _clocks(judged: Judged) -> str:
    """Say both clocks, which won, the TTL and where it comes from, and the day."""
    seconds = judged.ddl_time or judged.create_time
    metastore = _minute(seconds * 1000 if seconds else None, judged.zone)
    label = "Metadata changed" if judged.ddl_time else "Created (no DDL time)"
    files = _files(judged)
    wins = "files" if judged.winner is Winner.MTIME else "metadata"
    return (
        f"{label} {metastore}, files {files}; the later counts ({wins}). "
        f"TTL {_days(judged.ttl)} from {judged.policy_source}: due {judged.due_on}."
    )


def _days(ttl: int | None) -> str:
    return "unknown" if ttl is None else count_words(ttl, "day")


def _files(judged: Judged) -> str:
    if judged.mtime_ms is None:
        return "not checked"
    changed = f"changed {_minute(judged.mtime_ms, judged.zone)}"
    return changed if judged.is_walked else f"not read (their directory {changed})"


def _last_read(judged: Judged) -> str:
    return _minute(judged.atime_ms, judged.zone)


def _not_looked(judged: Judged) -> str:
    if not judged.detail:
        return "The files were not read, so it may be younger."
    return f"The file system did not let the scan look: {judged.detail}. It may be younger."


def _always(words: str) -> Callable[[Judged], str]:
    return lambda _: words


_WORDS: Mapping[Rule, Callable[[Judged], str]] = {
    Rule.UNSUPPORTED: lambda judged: judged.detail,
    Rule.POLICY_PROBLEM: lambda judged: judged.detail,
    Rule.KEEP_FOREVER: lambda judged: f"LEVEL 0 in {judged.policy_source}: kept for ever.",
    Rule.NO_POLICY: _always(
        "The table has no LEVEL and TTL of its own, so it takes no part in lifecycle."
    ),
    Rule.NONCONFORMING: lambda judged: f"Path rules are broken: {judged.detail}.",
    Rule.MISSING_DIRECTORY: _always("The metastore names a directory that does not exist."),
    Rule.UNREADY: _always("commit=false: its data is not complete yet."),
    Rule.HELD: lambda judged: f"Held: {judged.detail}",
    Rule.NO_CLOCK: _always("Neither the metastore nor the file system gives a time."),
    Rule.NOT_NOW: _clocks,
    Rule.NOT_LOOKED: lambda judged: f"{_clocks(judged)} {_not_looked(judged)}",
    Rule.SOON: _clocks,
    Rule.READS_UNKNOWN: lambda judged: (
        f"{_clocks(judged)} Access time is off here, so nobody can say it is unread."
    ),
    Rule.STILL_READ: lambda judged: f"{_clocks(judged)} But it was last read {_last_read(judged)}.",
    Rule.CLEAN_NOW: lambda judged: f"{_clocks(judged)} Last read {_last_read(judged)}.",
    Rule.CHANGED: lambda judged: (
        f"Changed while the scan was reading (metastore event {judged.detail}); "
        "the next scan judges it."
    ),
}
