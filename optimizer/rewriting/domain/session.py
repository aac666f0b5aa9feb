"""Says which table of the lake a name in a query means."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

VERSIONED = ("trino", "spark", "starrocks", "doris")
PATH_COLUMNS = {"trino": "$path", "spark": "_file"}


@dataclass(frozen=True)
class Session:
    """What a query's session stands for: its dialect, and what names without a database mean."""

    dialect: str = "trino"
    schema: str = ""
    catalog: str = ""
    catalogs: frozenset[str] = frozenset()
    """The engine's catalogs that are this lake; empty: whatever the query names."""
    time_zone: str = ""
    """The zone in which the session computes days of instants; empty: not known."""

    def name_of(self, table: exp.Table) -> str | None:
        """Return `<db>.<table>`, None for what is no table of this lake."""
        if not isinstance(table.this, exp.Identifier):
            return None
        catalog, db = (table.catalog or self.catalog).lower(), (table.db or self.schema).lower()
        if not db or (self.catalogs and catalog not in self.catalogs):
            return None
        return f"{db}.{table.name.lower()}"


def tables_of(tree: exp.Query, name_of: Callable[[exp.Table], str | None]) -> list[exp.Table]:
    """Return the places where a query reads tables of the lake, common tables of WITH left out."""
    found = []
    for scope in traverse_scope(tree):
        for source in scope.sources.values():
            if isinstance(source, exp.Table) and name_of(source) is not None:
                found.append(source)
    return found
