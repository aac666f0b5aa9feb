"""Selects the backups of a restore test, and decides when one is due and a proof is too old.

The choice is the same for everybody who makes it on that day, so that it can be made again; the
turn goes to what was proven longest ago.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from itertools import chain, islice, zip_longest
from typing import Any

# Everything of a restore test carries its run: databases and directories are found again by it.
DIRECTORY = "drills"
MARK = "lakewarden.drill"
_PREFIX = "lakewarden_drill_"
_DATABASE = re.compile(_PREFIX + r"([0-9a-f]{32})_(\d{1,6})\Z")
_NEVER = datetime.min.replace(tzinfo=UTC)
# Cannot be equal after a restore, or are the restore's own (journal: "How it is proven").
# The program beside a backup brings no column statistics back, and so calls none right.
_OWN = ("createTime", "lastAccessTime", "writeId", "privileges", "id")
_OWN_PARAMETERS = ("transient_lastDdlTime", "lakewarden.", "COLUMN_STATS_ACCURATE")


class RestoreTestState(StrEnum):
    """How a restore test went; INCOMPLETE proves nothing, for or against."""

    RUNNING = "RUNNING"
    PROVEN = "PROVEN"
    FAILED = "FAILED"
    INCOMPLETE = "INCOMPLETE"


class Compared(StrEnum):
    """What the restore of one item showed."""

    PROVEN = "PROVEN"
    DIFFERS = "DIFFERS"
    SKIPPED = "SKIPPED"


class VerificationStatus(StrEnum):
    """Where a database's proof stands."""

    PROVEN = "PROVEN"
    WAITING = "WAITING"
    OVERDUE = "OVERDUE"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True, order=True)
class BackedUp:
    """A table of which something lies in a backup."""

    db: str
    table: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What is known of a database: when its backups began, were proven, and were found wanting."""

    backed_up_since: date
    verified_at: datetime | None = None
    failed_at: datetime | None = None


def choose_tables(
    tables: Iterable[BackedUp],
    *,
    proven: Mapping[BackedUp, datetime],
    day: date,
    most: int,
) -> list[BackedUp]:
    """Choose at most so many tables: the database unproven longest first, each its turn.

    Within a database the table unproven longest comes first, so that in time every table has its
    turn, and with it every format, partitioned or not. Lots decide between equals.
    """
    of_db: dict[str, list[BackedUp]] = {}
    for one in sorted(set(tables)):
        of_db.setdefault(one.db, []).append(one)
    for rows in of_db.values():
        rows.sort(key=lambda one: (proven.get(one, _NEVER), lot(day, one.db, one.table)))
    newest = {
        db: max((proven[one] for one in rows if one in proven), default=_NEVER)
        for db, rows in of_db.items()
    }
    in_turn = sorted(of_db, key=lambda db: (newest[db], lot(day, db)))
    rounds = zip_longest(*(of_db[db] for db in in_turn))
    return list(islice((one for one in chain.from_iterable(rounds) if one is not None), most))


def choose_items(
    sizes: Mapping[str, int], *, day: date, most_items: int, most_bytes: int
) -> list[str]:
    """Choose by lot at most so many items of a batch, of at most so many bytes together."""
    chosen: list[str] = []
    for item in sorted(sizes, key=lambda name: lot(day, name)):
        if len(chosen) < most_items and sizes[item] <= most_bytes:
            chosen.append(item)
            most_bytes -= sizes[item]
    return chosen


def lot(day: date, *names: str) -> str:
    """Draw a lot: the same on that day for the same names, and another on every other day."""
    return hashlib.sha256("\0".join((day.isoformat(), *names)).encode()).hexdigest()


def is_due(last: datetime | None, *, now: datetime, every: timedelta) -> bool:
    """Whether the next restore test is due.

    A few hours early, so that it stays at its hour of the day.
    """
    return last is None or now - last >= every - timedelta(hours=6)


def verification_status(proof: Proof, *, now: datetime, lasts: timedelta) -> VerificationStatus:
    """Judge a database's proof: a failure stands until a later restore test proves the opposite."""
    if proof.failed_at is not None and proof.failed_at >= (proof.verified_at or _NEVER):
        return VerificationStatus.FAILED
    if proof.verified_at is not None:
        return (
            VerificationStatus.OVERDUE
            if now - proof.verified_at > lasts
            else VerificationStatus.PROVEN
        )
    is_old = now.date() - proof.backed_up_since > lasts
    return VerificationStatus.OVERDUE if is_old else VerificationStatus.WAITING


def restore_test_state(outcomes: Iterable[Compared], *, is_whole: bool) -> RestoreTestState:
    """Judge a restore test: one difference fails it.

    One that ended early or compared nothing is none.
    """
    found = set(outcomes)
    if Compared.DIFFERS in found:
        return RestoreTestState.FAILED
    return (
        RestoreTestState.PROVEN
        if is_whole and Compared.PROVEN in found
        else RestoreTestState.INCOMPLETE
    )


def scratch_database(run: str, epoch: int) -> str:
    """Name the scratch database of one epoch of a restore test's run."""
    return f"{_PREFIX}{run.replace('-', '')}_{epoch}"


def read_scratch(database: str) -> tuple[str, int] | None:
    """Read (run as 32 digits, epoch) from the name of a scratch database; None for any other."""
    match = _DATABASE.match(database)
    return (match[1], int(match[2])) if match else None


def mark_of(deployment: str, run: str, epoch: int) -> str:
    """Return the mark by which a restore test knows its own again."""
    return f"{deployment}/{run.replace('-', '')}/{epoch}"


def fact_differences(
    expected: Mapping[str, Mapping[str, object]], found: Mapping[str, Mapping[str, object]]
) -> list[str]:
    """Say what is missing, what nobody knows, and what of the rest is not as expected."""
    said = [f"{name} is missing" for name in sorted(expected.keys() - found.keys())]
    said += [f"{name} is not in the manifest" for name in sorted(found.keys() - expected.keys())]
    for name in sorted(expected.keys() & found.keys()):
        for fact, value in expected[name].items():
            if found[name].get(fact) != value:
                said.append(f"{name}: its {fact} was {value}, now it is {found[name].get(fact)}")
    return said


def struct_differences(expected: Any, found: Any, *, where: str = "") -> list[str]:
    """Say, field by field, what of a table's or partition's metadata is not as in the backup."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            text
            for name in sorted(expected.keys() | found.keys())
            if not _is_own(where, name)
            for text in struct_differences(
                expected.get(name), found.get(name), where=f"{where}.{name}" if where else name
            )
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [
            text
            for n, pair in enumerate(zip(expected, found, strict=True), start=1)
            for text in struct_differences(*pair, where=f"{where} {n}")
        ]
    if expected == found or (not expected and not found):
        return []
    return [f"{where or 'it'} was {expected!r}, came back as {found!r}"]


def _is_own(where: str, name: str) -> bool:
    if where == "parameters":
        return name.startswith(_OWN_PARAMETERS)
    return not where and name in _OWN


def shortened(texts: Sequence[str], *, most: int) -> list[str]:
    """Keep the first of many sentences, and say how many more there were."""
    if len(texts) <= most:
        return list(texts)
    return [*texts[:most], f"and {len(texts) - most} more"]
