"""Finds where a query reads tables of the lake, and which of these places must be read whole."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from portal.lake.errors import RuleViolation

HIDDEN = {
    "spark": {"_file", "_pos", "_partition", "_spec_id", "_deleted", "_row_id"},
    "trino": set[str](),
}
"""Hidden columns by name; in Trino every one begins with a dollar sign."""
_PLAIN = {"this", "db", "catalog", "alias", "version"}


@dataclass(frozen=True)
class Names:
    """What names of tables in a query mean.

    `catalog` is the engine's name of the lake (empty: whichever one the query names), `session`
    the session's catalog (None: the lake's), `schema` its schema (empty: it has none).
    """

    catalog: str = ""
    session: str | None = None
    schema: str = ""

    def place(self, table: exp.Table, ctes: frozenset[str]) -> tuple[str, str] | None:
        """Return database and table where the name is one of the lake's, else None."""
        name, db = table.name.lower(), table.db.lower()
        if not isinstance(table.this, exp.Identifier) or not name:
            return None
        if table.catalog:
            is_ours = not self.catalog or table.catalog.lower() == self.catalog.lower()
            return (db, name) if is_ours and db else None
        if self.session is not None and self.session.lower() != self.catalog.lower():
            return None
        if db:
            return db, name
        return (self.schema.lower(), name) if self.schema and name not in ctes else None


@dataclass(frozen=True)
class TableUse:
    """One place in the query where a table is read. `number` counts such places from 0."""

    number: int
    db: str
    table: str
    alias: str
    snapshot: int | None
    """The snapshot that the query itself names."""
    whole: str
    """Why the table must be read whole; empty where it may be narrowed."""

    @property
    def name(self) -> str:
        """The table's name in the lake."""
        return f"{self.db}.{self.table}"


@dataclass(frozen=True)
class Found:
    """A use, with where it stands in the tree."""

    use: TableUse
    node: exp.Table
    scope: Scope


def uses_in(tree: exp.Query, dialect: str, names: Names) -> list[Found]:
    """Return the uses of the lake's tables.

    Raises:
        RuleViolation: `prune.syntax`, names cannot be resolved; `prune.catalog`, which of several
            catalogs the lake is is not said.
    """
    everywhere = _hidden(tree, dialect)
    ctes = frozenset(one.alias.lower() for one in tree.find_all(exp.CTE))
    found: list[Found] = []
    catalogs: set[str] = set()
    for alias, node, scope in _sources(tree):
        if (place := names.place(node, ctes)) is None:
            continue
        if node.catalog:
            catalogs.add(node.catalog.lower())
        snapshot, whole = _pinned(node)
        whole = whole or everywhere or _unsafe(node, scope.expression)
        use = TableUse(len(found), *place, alias, snapshot, whole)
        found.append(Found(use, node, scope))
    if len(catalogs) > 1:
        raise RuleViolation(
            "prune.catalog",
            f"The query names several catalogs ({', '.join(sorted(catalogs))}). Say which of them "
            "is this lake (`catalog`).",
        )
    return found


def _sources(tree: exp.Query) -> Iterator[tuple[str, exp.Table, Scope]]:
    try:
        scopes = traverse_scope(tree)
        for scope in scopes:
            if isinstance(scope.expression, exp.Select):
                for alias, (_, source) in scope.selected_sources.items():
                    # A CTE is a scope of its own.
                    if isinstance(source, exp.Table):
                        yield alias, source, scope
    except (SqlglotError, RecursionError) as error:
        first = (str(error).splitlines() or [""])[0]
        raise RuleViolation(
            "prune.syntax", f"The names in the query cannot be resolved: {first[:300]}"
        ) from None


def _hidden(tree: exp.Query, dialect: str) -> str:
    """Return why no table of the query may be wrapped into a SELECT of its own."""
    for column in tree.find_all(exp.Column):
        if column.args.get("db") is not None:
            return "the query names a column with its database; write the table's alias alone"
        if column.name.startswith("$") or column.name.lower() in HIDDEN.get(dialect, ()):
            return f"the query itself asks for the hidden column {column.name}"
    return ""


def _pinned(table: exp.Table) -> tuple[int | None, str]:
    version = table.args.get("version")
    if version is None:
        return None, ""
    value = version.expression
    is_number = isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit()
    if version.name.upper() == "VERSION" and is_number:
        return int(value.this), ""
    return None, "it is read as of a time or a branch; name a snapshot"


def _unsafe(table: exp.Table, select: exp.Expr) -> str:
    """Return why rows that fail the conditions must be read all the same."""
    if table.args.get("sample") or table.find_ancestor(exp.TableSample) or table.args.get("pivots"):
        return "it is sampled or pivoted"
    if (alias := table.args.get("alias")) and alias.args.get("columns"):
        return "its columns are given other names where it is read"
    if strange := sorted(key for key, value in table.args.items() if value and key not in _PLAIN):
        return f"it is read in a way that is not understood ({', '.join(strange)})"
    joins: list[exp.Join] = select.args.get("joins") or []
    mine = next((n for n, one in enumerate(joins) if one.this is table), -1)
    if mine < 0 and (select.args.get("from_") is None or select.args["from_"].this is not table):
        return "it does not stand in FROM or JOIN by itself"
    outer = "nulls stand for its rows in an outer join"
    if mine >= 0:
        if joins[mine].side in ("LEFT", "FULL"):
            return outer
        if joins[mine].kind in ("SEMI", "ANTI"):
            return "it is only looked up by a semi or anti join"
    return outer if any(one.side in ("RIGHT", "FULL") for one in joins[mine + 1 :]) else ""
