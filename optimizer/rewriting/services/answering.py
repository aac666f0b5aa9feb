"""Rewrites a query with what is known of its tables, and has that read where it is not.

What a run read is kept with the run and used again as long as every table and every cube has the
same newest commit, so a dashboard starts no program for each of its queries. Aggregates that other
areas keep are asked for each query.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from optimizer.hudi.tables.selectors.tables import hudi_named, hudi_of
from optimizer.iceberg.tables.selectors.tables import tables_named, tables_visible
from optimizer.models import HudiTable, IcebergTable
from optimizer.rewriting.domain import KIND
from optimizer.rewriting.domain.aggregates import aggregate_facts
from optimizer.rewriting.domain.answers import MOST_FILES, Answer, rewrite, tables_read
from optimizer.rewriting.domain.facts import TableFacts
from optimizer.rewriting.domain.session import Session
from optimizer.rewriting.selectors import SUBJECT, last_reading
from optimizer.rewriting.services.known_commits import holds
from portal.access.models import User
from portal.catalog.selectors import is_named
from portal.catalog.selectors import tables_visible as tables_visible_in_catalog
from portal.catalog.services.stored_aggregates import aggregate_answered, aggregates_of
from portal.lake.aggregates import StoredAggregate
from portal.lake.errors import NotVisible
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.services import run_request

MOST_FILES_LISTED, MOST_AGE_SECONDS = 2_000, 3_600
MOST_LAG_SECONDS = 7 * 86_400
FAILED_FOR = timedelta(minutes=1)
"""After a reading failed, so long its error is answered before the next one is tried."""


@dataclass(frozen=True)
class Asked:
    """A query, and how it is to be answered."""

    sql: str
    session: Session
    max_files: int = MOST_FILES
    """A cube that does not cover more files is not used."""
    max_age: timedelta = timedelta(0)
    """So old may what was read be; the metastore is then not asked."""
    max_lag: timedelta | None = None
    """So much older than its tables may an aggregate be; None: what was said of the aggregate."""

    @classmethod
    def of(
        cls, sql: str, session: Session, *, max_files: int, max_age: int, max_lag: int | None
    ) -> "Asked":
        """Take ages in seconds, as page and API are given them."""
        lag = None if max_lag is None else timedelta(seconds=max_lag)
        return cls(sql, session, max_files, timedelta(seconds=max_age), lag)


@dataclass(frozen=True)
class Rewriting:
    """A query rewritten, or the run that must end first."""

    asked: Asked
    answer: Answer | None = None
    run: Run | None = None

    @property
    def state(self) -> str:
        """DONE, WAITING, or FAILED with the run's error."""
        if self.answer is not None:
            return "DONE"
        is_failed = self.run is not None and self.run.is_final
        return "FAILED" if is_failed else "WAITING"


def rewrite_query(lake: str, asked: Asked, *, user: User, now: datetime) -> Rewriting:
    """Return a query answered from cubes of tables that the person may see, or what it waits for.

    Raises:
        RuleViolation: `rewrite.*`, the query cannot be read.
        NotVisible: `rewrite.table`, it reads no Iceberg or Hudi table of this person's.
        ExternalFailure: the metastore does not say whether what is known still holds.
    """
    visible = _visible(lake, tables_read(asked.sql, asked.session), user)
    kept = _readable(lake, aggregates_of(lake, sorted(visible)), user)
    known_places = visible | _joined(lake, kept, visible, user)
    kept = [one for one in kept if all(join.table in known_places for join in one.joins)]
    names = sorted(known_places)
    last = last_reading(lake, subject_of(names))
    if last is not None and not last.is_final:
        return Rewriting(asked, run=last)
    if last is not None and last.state == RunState.DONE:
        known = _known(last)
        age = now - (last.finished_at or now)
        if age <= asked.max_age or holds(lake, names, known):
            known = _with_aggregates(known, kept, asked, now=now)
            answer = rewrite(
                asked.sql, asked.session, known, readable=visible, most_files=asked.max_files
            )
            for table in _used(answer, kept):
                aggregate_answered(lake, table, now=now)
            return Rewriting(asked, answer, last)
    elif last is not None and last.finished_at and now - last.finished_at < FAILED_FOR:
        return Rewriting(asked, run=last)
    run = run_request(
        KIND,
        lake=lake,
        params=_params(known_places),
        requested_by=user.username,
        reason="A query was given to be answered from cubes.",
        unique_key=f"{KIND}:{lake}:{subject_of(names)}:{'' if last is None else last.pk}",
        subject=(SUBJECT, subject_of(names)),
        now=now,
    )
    return Rewriting(asked, run=run)


def _used(answer: Answer, kept: Iterable[StoredAggregate]) -> set[str]:
    """Return the tables of the aggregates that a query now reads; cubes tell of themselves."""
    used = {one.used for one in answer.blocks} if answer.is_rewritten else set[str]()
    return used & {one.table for one in kept}


def _params(places: Mapping[str, str]) -> dict[str, Any]:
    hudi = {name: place for name, place in sorted(places.items()) if place}
    return {"tables": sorted(places)} | ({"hudi": hudi} if hudi else {})


def _with_aggregates(
    known: Mapping[str, TableFacts],
    kept: Iterable[StoredAggregate],
    asked: Asked,
    *,
    now: datetime,
) -> dict[str, TableFacts]:
    found = dict(known)
    for one in kept:
        facts = found.get(one.source)
        if facts is not None:
            cube = aggregate_facts(one, known, max_lag=asked.max_lag, now=now)
            found[one.source] = replace(facts, cubes=(*facts.cubes, cube))
    return found


def subject_of(names: Iterable[str]) -> str:
    """Return by what the readings of just these tables are found again."""
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:32]


def _visible(lake: str, names: Iterable[str], user: User) -> dict[str, str]:
    """Return the tables of the names that a person may see; of Hudi's with their places."""
    seen = _seen(lake, names, user)
    if not seen:
        raise NotVisible(
            "rewrite.table",
            f"There is no Iceberg or Hudi table {', '.join(names)} for you in this lake. Queries "
            "over other tables are not rewritten.",
        )
    return seen


def _seen(lake: str, names: Iterable[str], user: User) -> dict[str, str]:
    pairs = _pairs(names)
    iceberg = tables_visible(lake, user).filter(pk__in=tables_named(lake, pairs).values("pk"))
    hudi = hudi_of(lake, user).filter(pk__in=hudi_named(lake, pairs).values("pk"))
    return _places(iceberg, hudi)


def _readable(lake: str, kept: Iterable[StoredAggregate], user: User) -> list[StoredAggregate]:
    """Keep those whose own table and joined tables the person may see, as the catalog has them.

    Only queries that join alike are answered from them, and why one is not names these tables.
    """
    needed = [(one, {one.table, *(join.table for join in one.joins)}) for one in kept]
    named = is_named(_pairs({name for _, names in needed for name in names}))
    rows = tables_visible_in_catalog(lake, user).filter(named)
    seen = {f"{db}.{name}".lower() for db, name in rows.values_list("db", "name")}
    return [one for one, names in needed if names <= seen]


def _joined(
    lake: str, kept: Iterable[StoredAggregate], visible: Mapping[str, str], user: User
) -> dict[str, str]:
    """Return the tables besides the query's that aggregates join, whose commits must be known."""
    names = {join.table for one in kept for join in one.joins} - visible.keys()
    if not names:
        return {}
    return _seen(lake, names, user)


def _places(iceberg: Iterable[IcebergTable], hudi: Iterable[HudiTable]) -> dict[str, str]:
    found = {f"{one.db}.{one.table}".lower(): "" for one in iceberg}
    return found | {f"{one.db}.{one.table}".lower(): one.location for one in hudi}


def _pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(db, table) for db, _, table in (name.partition(".") for name in names)]


def _known(run: Run) -> dict[str, TableFacts]:
    found: Mapping[str, Any] = (run.result or {}).get("tables", {})
    return {name: TableFacts.from_json(one) for name, one in found.items()}
