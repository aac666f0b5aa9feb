"""Reads a query: its tables, what is asked of each, and the query narrowed to some files.

A table is narrowed only where leaving rows out cannot change the answer that its conditions already
leave them out of: not on the side of an outer join that is filled with nulls, not under a sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from optimizer.pruning.domain.conditions import weaker
from portal.lake.errors import RuleViolation

DIALECTS = {"trino": "Trino", "spark": "Spark"}
PATH_COLUMNS = {"trino": "$path", "spark": "_file"}
MOST_TEXT = 100_000
MOST_TABLES = 20


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
class Narrowed:
    """The data files that one use of a table is narrowed to, at a snapshot."""

    snapshot: int
    paths: Sequence[str]


class Query:
    """A parsed query. Nothing changes it: `narrowed` works on a copy."""

    def __init__(self, sql: str, dialect: str) -> None:
        """Parse.

        Raises:
            RuleViolation: `prune.dialect`, `prune.long`, `prune.syntax`, `prune.no_select`,
                `prune.tables`.
        """
        self.sql, self.dialect = sql, dialect
        self.tree = _parsed(sql, dialect)
        self.uses = [use for use, _, _ in _uses(self.tree)]
        if not self.uses:
            raise RuleViolation("prune.tables", "The query reads no table of a database.")
        if len(self.uses) > MOST_TABLES:
            raise RuleViolation(
                "prune.tables",
                f"The query reads tables at {len(self.uses)} places; at most {MOST_TABLES} are "
                "narrowed. Ask for its parts.",
            )

    def condition(self, use: TableUse, types: Mapping[str, Mapping[str, str]]) -> str:
        """Return what the query asks of one use, as a condition of Spark SQL; empty is nothing.

        `types` are the columns of every table by `<db>.<table>`: lower-case name to Spark's type.
        """
        _, table, scope = next(one for one in _uses(self.tree) if one[0].number == use.number)
        columns = types.get(use.name, {})

        def column_of(column: exp.Column) -> str | None:
            if column.args.get("db") is not None:
                return None
            if column.table:
                is_ours = column.table.lower() == use.alias.lower()
            else:
                is_ours = _is_alone(column.name.lower(), table, scope, types)
            return columns.get(column.name.lower()) if is_ours else None

        parts = [weaker(one, column_of) for one in _conjuncts(scope)]
        return " AND ".join(part for part in parts if part is not None)

    def narrowed(self, answers: Mapping[int, Narrowed]) -> str:
        """Return the query pinned to snapshots and narrowed to files where a use has an answer."""
        tree = self.tree.copy()
        for use, table, scope in list(_uses(tree)):
            if (answer := answers.get(use.number)) is None:
                continue
            table.set(
                "version",
                exp.Version(
                    this="VERSION", kind="AS OF", expression=exp.Literal.number(answer.snapshot)
                ),
            )
            column = exp.column(
                exp.to_identifier(PATH_COLUMNS[self.dialect], quoted=True),
                table=exp.to_identifier(use.alias, quoted=True),
            )
            paths = [exp.Literal.string(path) for path in answer.paths]
            found = exp.In(this=column, expressions=paths) if paths else exp.false()
            _selected(scope).where(found, copy=False)
        return tree.sql(dialect=self.dialect, pretty=True)


def _selected(scope: Scope) -> exp.Select:
    found = scope.expression
    if not isinstance(found, exp.Select):
        raise TypeError(f"a use of a table stands in a SELECT, not in {type(found).__name__}")
    return found


def _parsed(sql: str, dialect: str) -> exp.Query:
    if dialect not in DIALECTS:
        raise RuleViolation(
            "prune.dialect",
            f"{dialect!r} is no dialect that queries are narrowed for. Name one of: "
            f"{', '.join(DIALECTS)}.",
        )
    if len(sql) > MOST_TEXT:
        raise RuleViolation(
            "prune.long", f"The query has {len(sql):,} characters; at most {MOST_TEXT:,} are read."
        )
    try:
        trees = [one for one in sqlglot.parse(sql, dialect=dialect) if one is not None]
    except (SqlglotError, RecursionError, ValueError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise RuleViolation(
            "prune.syntax", f"The query cannot be read as {DIALECTS[dialect]}: {first[:300]}"
        ) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise RuleViolation("prune.no_select", "Give one SELECT; nothing else is narrowed.")
    return trees[0]


def _uses(tree: exp.Query) -> list[tuple[TableUse, exp.Table, Scope]]:
    found: list[tuple[TableUse, exp.Table, Scope]] = []
    for scope in traverse_scope(tree):
        if not isinstance(scope.expression, exp.Select):
            continue
        for alias, (_, source) in scope.selected_sources.items():
            # A CTE is a scope of its own, and a name without a database is not ours to know.
            if not isinstance(source, exp.Table) or not source.db:
                continue
            snapshot, whole = _pinned(source)
            use = TableUse(
                number=len(found),
                db=source.db.lower(),
                table=source.name.lower(),
                alias=alias,
                snapshot=snapshot,
                whole=whole or _unsafe(source, scope.expression),
            )
            found.append((use, source, scope))
    return found


def _pinned(table: exp.Table) -> tuple[int | None, str]:
    version = table.args.get("version")
    if version is None:
        return None, ""
    value = version.expression
    is_number = isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit()
    if version.name.upper() == "VERSION" and is_number:
        return int(value.this), ""
    return None, "it is read as of a time or a branch; name a snapshot"


def _unsafe(table: exp.Table, select: exp.Select) -> str:
    """Return why rows that fail the conditions must be read all the same."""
    if table.args.get("sample") or table.find_ancestor(exp.TableSample) or table.args.get("pivots"):
        return "it is sampled or pivoted"
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


def _conjuncts(scope: Scope) -> list[exp.Expr]:
    """Return what every row that counts must satisfy: WHERE, and ON of inner joins."""
    select = scope.expression
    found = [select.args["where"].this] if select.args.get("where") else []
    joins: list[exp.Join] = select.args.get("joins") or []
    if not any(one.side for one in joins):
        kinds = ("", "INNER")
        found += [one.args["on"] for one in joins if one.args.get("on") and one.kind in kinds]
    return found


def _is_alone(
    column: str, table: exp.Table, scope: Scope, types: Mapping[str, Mapping[str, str]]
) -> bool:
    """Whether a column without a table's name can only be this table's."""
    for _, source in scope.selected_sources.values():
        if source is table:
            continue
        if not isinstance(source, exp.Table):
            return False
        known = types.get(f"{source.db.lower()}.{source.name.lower()}")
        if known is None or column in known:
            return False
    return True
