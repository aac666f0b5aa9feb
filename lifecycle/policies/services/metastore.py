"""Reads and writes LEVEL, TTL and owner in the metastore, so that nothing else changes.

For workers only. Each write reads again first: what is as wanted already is left, what is neither
as wanted nor as it was seen is StaleState. The DDL time is kept, so that a change of ours never
counts as the user's update; a second call changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lifecycle.backup.engine.facts import DDL_TIME
from lifecycle.core.domain.enrollment import read_policy
from lifecycle.policies.domain.policy import Values, put_back, raw_policy, written
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, StaleState
from portal.lake.names import TableName


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands on a table or database; `raw` are its LEVEL and TTL parameters as they are."""

    values: Values
    problem: str
    owner: str
    raw: Mapping[str, str]

    @classmethod
    def of(cls, struct: Any, owner: str | None) -> "Standing":
        """Read a Thrift structure's parameters."""
        parameters = dict(struct.parameters or {})
        policy = read_policy(parameters)
        values = Values(policy.level, policy.ttl)
        return cls(values, policy.problem, owner or "", raw_policy(parameters))


def database_standing(metastore: Metastore, db: str) -> Standing:
    """Read what new tables of a database get."""
    database = metastore.database(db)
    return Standing.of(database, database.ownerName)


def table_standing(metastore: Metastore, name: TableName) -> Standing:
    """Read what stands on a table."""
    table = metastore.table(name)
    return Standing.of(table, table.owner)


def database_set(metastore: Metastore, db: str, *, seen: Values, wanted: Values) -> Standing:
    """Set what new tables of a database get; returns what stood there.

    Raises:
        StaleState: `policy.stale`, others changed it since it was seen.
        ExternalFailure: the metastore is away, refuses, or holds something else afterwards.
    """
    database = metastore.database(db)
    before = Standing.of(database, database.ownerName)
    if before.values != wanted or before.problem:
        _check_seen(db, before.values, seen)
        database.parameters = written(database.parameters or {}, wanted)
        metastore.alter_database(db, database)
        _check_written(db, database_standing(metastore, db).values, wanted)
    return before


def table_set(metastore: Metastore, name: TableName, *, seen: Values, wanted: Values) -> Standing:
    """Set LEVEL and TTL of a table, keeping its DDL time; returns what stood there.

    Raises:
        StaleState: `policy.stale`, others changed it since it was seen.
        ExternalFailure: the metastore is away, refuses, or holds something else afterwards.
    """
    table = metastore.table(name)
    before = Standing.of(table, table.owner)
    if before.values != wanted or before.problem:
        _check_seen(str(name), before.values, seen)
        _alter(metastore, name, table, lambda params: written(params, wanted))
        _check_written(str(name), table_standing(metastore, name).values, wanted)
    return before


def table_put_back(
    metastore: Metastore, name: TableName, *, ours: Values, raw: Mapping[str, str]
) -> None:
    """Put a table's LEVEL and TTL parameters back as they were, where they are still ours.

    Raises:
        StaleState: `policy.stale`, others changed it since we set it.
    """
    table = metastore.table(name)
    standing = Standing.of(table, table.owner)
    if dict(standing.raw) == dict(raw):
        return
    _check_seen(str(name), standing.values, ours)
    _alter(metastore, name, table, lambda params: put_back(params, raw))
    after = table_standing(metastore, name)
    if dict(after.raw) != dict(raw):
        raise _not_written(str(name), after.values)


def table_give(metastore: Metastore, name: TableName, *, seen: str, owner: str) -> None:
    """Give a table to another owner, keeping its DDL time.

    Raises:
        StaleState: `policy.stale`, it belongs to somebody else by now.
    """
    table = metastore.table(name)
    if table.owner == owner:
        return
    if (table.owner or "") != seen:
        raise StaleState(
            "policy.stale",
            f"{name} belongs to {table.owner or 'nobody'} by now, not to {seen or 'nobody'}. "
            "Nothing was changed; open the table's page again.",
        )
    table.owner = owner
    _alter(metastore, name, table, dict)
    after = metastore.table(name).owner
    if after != owner:
        raise _not_written(str(name), after)


def _alter(
    metastore: Metastore,
    name: TableName,
    table: Any,
    change: Callable[[Mapping[str, str]], dict[str, str]],
) -> None:
    """Change a table's parameters and keep its clocks.

    Where there is no DDL time the metastore would set one to now, and the table would look fresh;
    the creation time, which the age rule takes in its place, is written instead.
    """
    table.parameters = change(table.parameters or {})
    if not _is_time(table.parameters.get(DDL_TIME)) and table.createTime:
        table.parameters[DDL_TIME] = str(table.createTime)
    metastore.alter_table_keeping_times(name, table)


def _is_time(text: str | None) -> bool:
    return bool(text and text.isascii() and text.isdigit() and int(text))


def _check_seen(name: str, standing: Values, seen: Values) -> None:
    if standing != seen:
        raise StaleState(
            "policy.stale",
            f"{name} is {standing} by now; when this was asked for it was {seen}. "
            "Nothing was changed; open its page again.",
            name=name,
        )


def _check_written(name: str, standing: Values, wanted: Values) -> None:
    if standing != wanted:
        raise _not_written(name, standing)


def _not_written(name: str, found: object) -> ExternalFailure:
    return ExternalFailure(
        "policy.not_written",
        f"The metastore took the change of {name} but holds {found} now: something between the "
        "portal and its database changes it back. Ask the metastore's operators.",
        service="metastore",
        retryable=False,
    )
