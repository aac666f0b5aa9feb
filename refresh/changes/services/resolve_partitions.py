"""Resolves the table and partitions that a scheduler means, by the metastore.

Names that no refresh could ever be sent for are refused here, in words, before anything is noted.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.access.visibility import may_see
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, NotVisible, PortalError, TooMuch
from portal.lake.lines import fitted
from portal.lake.names import TableName
from portal.lake.partition_specs import expand, full_names
from refresh.changes.models import OWNER_LENGTH
from refresh.core.services.rate_limit import metastore_answered, metastore_charged
from refresh.models import WatchedTable

MOST_PARTITIONS = 100_000
# Callers wait for the answer, and know what to do without it.
_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Found:
    """A table as the metastore has it."""

    hive: TableName
    owner: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResolvedPartitions:
    """Full names that the metastore has, those that it has not, and what stands for nothing."""

    there: tuple[str, ...]
    gone: tuple[str, ...]
    unmatched: tuple[str, ...]


def table_named(lake: str, table: str) -> TableName:
    """Read `db.table` of a governed lake.

    Raises:
        NotVisible: `lake.unknown`.
        RuleViolation: `name.table`, `name.grammar`.
    """
    return TableName.parse(get_lake(lake).lake, table)


def look_up(hive: TableName, *, user: User | None, now: datetime) -> Found:
    """Ask the metastore for a table that `user` may see; None is somebody at the portal's shell.

    Raises:
        NotVisible: `refresh.table`: there is none, or not for this person.
        ExternalFailure: the metastore does not answer, or its circuit breaker is open.
    """
    with _asked(hive, now=now) as metastore:
        raw = metastore.table_or_none(hive)
    if raw is None or (user is not None and not may_see(user, hive, owner=raw.owner or "")):
        raise _unseen(hive)
    keys = tuple(str(key.name) for key in raw.partitionKeys or ())
    return Found(hive, fitted(str(raw.owner or ""), OWNER_LENGTH), keys)


def check_seen(hive: TableName, *, user: User | None, otherwise: ExternalFailure) -> None:
    """Judge by what was known of a table's owner while the metastore does not answer.

    Raises:
        NotVisible: `refresh.table`, this person may not see it.
        ExternalFailure: nothing is known of it.
    """
    rows = WatchedTable.objects.filter(lake=str(hive.lake), db=hive.db, table=hive.table)
    owner = rows.values_list("owner", flat=True).first() or ""
    if user is not None and not may_see(user, hive, owner=owner):
        raise _unseen(hive) if owner else otherwise


def partitions_meant(found: Found, specs: Sequence[str], *, now: datetime) -> ResolvedPartitions:
    """Find the partitions that names, or parts of names, stand for.

    Raises:
        RuleViolation: one is no partition name of this table.
        TooMuch: `refresh.too_many`.
        ExternalFailure: the metastore does not answer.
    """
    check_amount(specs)
    if not specs:
        return ResolvedPartitions((), (), ())
    meant = expand(specs, keys=found.keys, names=_names(found, now=now))
    check_amount(meant.names)
    gone = full_names(meant.unmatched, keys=found.keys)
    return ResolvedPartitions(meant.names, gone, meant.unmatched)


def check_amount(names: Sequence[str]) -> None:
    """Refuse more partitions than are taken in at once."""
    if len(names) > MOST_PARTITIONS:
        raise TooMuch(
            "refresh.too_many",
            f"{len(names)} partitions were named; {MOST_PARTITIONS} are taken in at once. Name "
            "those that were written, in several calls, or the table without partitions.",
            n_partitions=len(names),
        )


def _names(found: Found, *, now: datetime) -> Iterator[str]:
    """Ask for the names only when somebody begins to read them: wrong ones are refused before."""
    with _asked(found.hive, now=now) as metastore:
        names = metastore.partition_names(found.hive)
    yield from names


@contextmanager
def _asked(hive: TableName, *, now: datetime) -> Iterator[Metastore]:
    """Ask a lake's metastore one thing, as its breaker allows, and tell both what came of it."""
    lake = str(hive.lake)
    config = get_lake(lake)
    if not metastore_charged(lake, now=now):
        raise ExternalFailure(
            "refresh.metastore_rests",
            f"The metastore of the lake {lake} failed several times in a row; its circuit "
            "breaker is open. "
            "Send it again in a minute or two.",
            service="metastore",
            retryable=True,
        )
    try:
        with Metastore.connect(config, timeout_seconds=_PATIENCE_SECONDS) as metastore:
            yield metastore
    except ExternalFailure:
        metastore_answered(lake, is_well=False, now=now)
        raise
    except PortalError:  # an answer, if not the one that was hoped for
        metastore_answered(lake, is_well=True, now=now)
        raise
    metastore_answered(lake, is_well=True, now=now)


def _unseen(hive: TableName) -> NotVisible:
    return NotVisible(
        "refresh.table",
        f"The lake {hive.lake} has no table {hive} that you may see. Check its name (db.table).",
        table=str(hive),
    )
