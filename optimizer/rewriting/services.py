"""Rewrites a query with what is known of its tables, and has that read where it is not.

What a run read is kept with the run and used again as long as the metastore names the same metadata
files for every table and every cube, so a dashboard starts no program for each of its queries.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from optimizer.iceberg.tables.selectors.tables import tables_named, tables_visible
from optimizer.rewriting.domain import KIND
from optimizer.rewriting.domain.answers import MOST_FILES, Answer, rewrite, tables_read
from optimizer.rewriting.domain.facts import TableFacts
from optimizer.rewriting.domain.session import Session
from optimizer.rewriting.selectors import SUBJECT, last_reading
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, NotVisible, PortalError
from portal.lake.names import TableName
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.services import run_request

MOST_FILES_LISTED, MOST_AGE_SECONDS = 2_000, 3_600
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
        NotVisible: `rewrite.table`, it reads no Iceberg table of this person's.
        ExternalFailure: the metastore does not say whether what is known still holds.
    """
    names = _visible(lake, tables_read(asked.sql, asked.session), user)
    last = last_reading(lake, subject_of(names))
    if last is not None and not last.is_final:
        return Rewriting(asked, run=last)
    if last is not None and last.state == RunState.DONE:
        known = _known(last)
        age = now - (last.finished_at or now)
        if age <= asked.max_age or _holds(lake, names, known):
            answer = rewrite(
                asked.sql, asked.session, known, readable=names, most_files=asked.max_files
            )
            return Rewriting(asked, answer, last)
    elif last is not None and last.finished_at and now - last.finished_at < FAILED_FOR:
        return Rewriting(asked, run=last)
    run = run_request(
        KIND,
        lake=lake,
        params={"tables": names},
        requested_by=user.username,
        reason="A query was given to be answered from cubes.",
        unique_key=f"{KIND}:{lake}:{subject_of(names)}:{'' if last is None else last.pk}",
        subject=(SUBJECT, subject_of(names)),
        now=now,
    )
    return Rewriting(asked, run=run)


def subject_of(names: Iterable[str]) -> str:
    """Return by what the readings of just these tables are found again."""
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:32]


def _visible(lake: str, names: Iterable[str], user: User) -> list[str]:
    pairs = [(db, table) for db, _, table in (name.partition(".") for name in names)]
    known = tables_visible(lake, user).filter(pk__in=tables_named(lake, pairs).values("pk"))
    seen = sorted({f"{one.db}.{one.table}".lower() for one in known})
    if not seen:
        raise NotVisible(
            "rewrite.table",
            f"There is no Iceberg table {', '.join(names)} for you in this lake. Queries over "
            "other tables are not rewritten.",
        )
    return seen


def _known(run: Run) -> dict[str, TableFacts]:
    found: Mapping[str, Any] = (run.result or {}).get("tables", {})
    return {name: TableFacts.from_json(one) for name, one in found.items()}


def _holds(lake: str, names: Iterable[str], known: Mapping[str, TableFacts]) -> bool:
    """Whether the metastore still names the metadata files that were read.

    Raises:
        ExternalFailure: it cannot be asked.
    """
    wanted = {name: one.metadata_location for name, one in known.items()}
    for one in known.values():
        wanted |= {cube.table: cube.metadata_location for cube in one.cubes}
    if not set(names) <= wanted.keys():
        return False
    config = get_lake(lake)
    with Metastore.connect(config) as metastore:
        for name, location in wanted.items():
            db, _, table = name.partition(".")
            try:
                found = metastore.table_or_none(TableName(config.lake, db, table))
            except ExternalFailure:
                raise
            except PortalError:
                return False
            place = "" if found is None else found.parameters.get("metadata_location", "")
            if place != location:
                return False
    return True
