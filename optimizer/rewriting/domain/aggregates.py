"""Says whether a stored aggregate that is no cube can answer queries now, and how it is read.

It stands for whole commits of its sources: either it has the newest ones, or it is as much too old
as the query allows. It is read as it is, because its own table has no versions that engines name.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from optimizer.matching.domain.views import View, ViewDimension, ViewJoin, ViewMeasure
from optimizer.rewriting.domain.facts import HUDI, CubeFacts, TableFacts
from optimizer.rewriting.domain.hudi_readers import HudiReader
from optimizer.rewriting.domain.merging import ROWS
from portal.lake.aggregates import StoredAggregate
from portal.lake.errors import PortalError
from portal.lake.names import quoted
from portal.lake.paths import LakePath


def aggregate_facts(
    one: StoredAggregate,
    tables: Mapping[str, TableFacts],
    *,
    max_lag: timedelta | None,
    now: datetime,
    reader: HudiReader | None = None,
) -> CubeFacts:
    """Return an aggregate as queries are compared with it; `max_lag` None: its own limit counts.

    With a `reader` the tables must be such that it reads them as Spark does, that of the aggregate
    too, which must be among `tables` then.
    """
    allowed = one.max_lag if max_lag is None else max_lag
    joined = {
        join.alias: (facts.snapshot_id,)
        for join in one.joins
        if (facts := tables.get(join.table)) is not None and facts.snapshot_id is not None
    }
    return CubeFacts(
        View(
            one.name,
            one.source,
            tuple(ViewJoin(join.alias, join.table, join.on) for join in one.joins),
            tuple(ViewDimension(d.name, d.expression, d.type) for d in one.dimensions),
            tuple(
                ViewMeasure(m.name, m.expression, m.type, frozenset(m.states)) for m in one.measures
            ),
            one.time_zone,
            has_unsure_joins=True,
            filters=one.filters,
        ),
        one.table,
        snapshot_id=None,
        problem=one.problem
        or _unreadable(one, tables, reader)
        or _staleness(one, tables, allowed, now=now),
        n_rows=one.n_rows,
        covered_rows=one.source_rows,
        dimensions=joined,
        # Nobody looked whether a zero of them is negative.
        negative_zero=frozenset(m.name for m in one.measures if m.type in ("float", "double")),
        columns=_columns(one),
        format=one.format,
    )


def _columns(one: StoredAggregate) -> dict[str, str]:
    """Return of each dimension and state what it is of the stored columns."""
    found = {ROWS: quoted(one.rows_column)} | {d.name: quoted(d.column) for d in one.dimensions}
    for measure in one.measures:
        found |= {f"{measure.name}_{f}": of for f, of in measure.states.items()}
    return found


def _unreadable(
    one: StoredAggregate, tables: Mapping[str, TableFacts], reader: HudiReader | None
) -> str:
    """Say which table the engine does not read as Spark does; empty: none."""
    if reader is None:
        return ""
    for name in (one.table, one.source, *(join.table for join in one.joins)):
        facts = tables.get(name)
        problem = f"{name} is not known here" if facts is None else reader.problem(facts)
        if problem:
            return problem
    return ""


def _staleness(
    one: StoredAggregate, tables: Mapping[str, TableFacts], allowed: timedelta, *, now: datetime
) -> str:
    """Say why it is too old; empty: it is not."""
    if one.known_at is None:
        return "it has not been computed yet"
    behind = []
    for name in (one.source, *(join.table for join in one.joins)):
        facts, has = tables.get(name), one.commits.get(name)
        if facts is None:
            return f"{name} is not known here"
        if has is None or not _is_same(has.table_id, facts):
            return f"it was computed from another table of the name {name}"
        if not facts.can_be_pinned:
            return f"the columns of {name} changed after its last commit"
        if has.commit not in {str(facts.snapshot_id or ""), *map(str, facts.same_rows)}:
            behind.append(name)
    if not behind:
        return ""
    lag = now - one.known_at
    if allowed and lag <= allowed:
        return ""
    return (
        f"{behind[0]} was written to since it was computed {_words(lag)} ago, and "
        f"{_words(allowed)} is allowed"
    )


def _is_same(table_id: str, facts: TableFacts) -> bool:
    if table_id == facts.uuid or facts.format != HUDI:
        return table_id == facts.uuid
    try:  # one place may be written in several ways
        return LakePath.parse(table_id) == LakePath.parse(facts.uuid)
    except PortalError:
        return False


def _words(span: timedelta) -> str:
    seconds = max(0, round(span.total_seconds()))
    return f"{seconds:,} s" if seconds < 600 else f"{seconds // 60:,} min"
