"""Asks for a query to be narrowed to files."""

from datetime import datetime

from optimizer.iceberg.tables.selectors.tables import tables_named, tables_visible
from optimizer.pruning.domain import KIND
from optimizer.pruning.domain.queries import Query
from portal.access.models import User
from portal.lake.errors import NotVisible, RuleViolation
from portal.runs.models import Run
from portal.runs.requests.services import run_request

DEFAULT_FILES, MOST_FILES = 500, 2_000


def prune_request(
    lake: str, sql: str, dialect: str, *, max_files: int = DEFAULT_FILES, user: User, now: datetime
) -> Run:
    """Have a query narrowed by a short run; a person gets only what concerns tables they may see.

    Raises:
        RuleViolation: `prune.*`, the query cannot be narrowed as it stands, or the limit is wrong.
        NotVisible: `prune.table`, it names a table that is no Iceberg table of this person's.
    """
    if not 1 <= max_files <= MOST_FILES:
        raise RuleViolation(
            "prune.limit", f"Choose between 1 and {MOST_FILES:,} files a table.", field="max_files"
        )
    names = sorted({(use.db, use.table) for use in Query(sql, dialect).uses})
    known = tables_visible(lake, user).filter(pk__in=tables_named(lake, names).values("pk"))
    seen = {(one.db, one.table) for one in known}
    if missing := [f"{db}.{table}" for db, table in names if (db, table) not in seen]:
        raise NotVisible(
            "prune.table",
            f"There is no Iceberg table {', '.join(missing)} for you in this lake. Queries over "
            "other tables are not narrowed.",
        )
    return run_request(
        KIND,
        lake=lake,
        params={"sql": sql, "dialect": dialect, "max_files": max_files},
        requested_by=user.username,
        reason="A query was given to be narrowed to files.",
        now=now,
    )
