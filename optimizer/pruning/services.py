"""Asks for a query to be narrowed to files."""

from dataclasses import asdict, dataclass
from datetime import datetime

from optimizer.iceberg.tables.selectors.tables import tables_named, tables_visible
from optimizer.pruning.domain import KIND
from optimizer.pruning.domain.queries import Query
from optimizer.pruning.domain.uses import Names
from portal.access.models import User
from portal.lake.errors import NotVisible, RuleViolation
from portal.runs.models import Run
from portal.runs.requests.services import run_request

DEFAULT_FILES, MOST_FILES = 500, 2_000


@dataclass(frozen=True)
class PruneRequest:
    """A query, and how it is to be narrowed."""

    sql: str
    dialect: str
    max_files: int = DEFAULT_FILES
    catalog: str = ""
    """The engine's name of this lake; tables of other catalogs are read as before."""
    schema: str = ""
    """The session's schema, for names without a database."""


def prune_request(lake: str, wanted: PruneRequest, *, user: User, now: datetime) -> Run:
    """Have a query narrowed by a short run; a person gets only what concerns tables they may see.

    Raises:
        RuleViolation: `prune.*`, the query cannot be narrowed as it stands, or the limit is wrong.
        NotVisible: `prune.table`, it names no table that is an Iceberg table of this person's.
    """
    if not 1 <= wanted.max_files <= MOST_FILES:
        raise RuleViolation(
            "prune.limit", f"Choose between 1 and {MOST_FILES:,} files a table.", field="max_files"
        )
    names = Names(catalog=wanted.catalog, schema=wanted.schema)
    uses = Query(wanted.sql, wanted.dialect, names).uses
    named = sorted({(use.db, use.table) for use in uses})
    found = tables_visible(lake, user).filter(pk__in=tables_named(lake, named).values("pk"))
    known = sorted({f"{one.db}.{one.table}" for one in found} & {use.name for use in uses})
    if not known:
        raise NotVisible(
            "prune.table",
            f"There is no Iceberg table {', '.join(f'{db}.{table}' for db, table in named)} for "
            "you in this lake. Queries over other tables are not narrowed.",
        )
    return run_request(
        KIND,
        lake=lake,
        params={**asdict(wanted), "tables": known},
        requested_by=user.username,
        reason="A query was given to be narrowed to files.",
        now=now,
    )
