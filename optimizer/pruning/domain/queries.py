"""Reads a query of Trino or Spark: what it asks of each table, and the same query over files.

A table is narrowed by wrapping its name, where it stands, into a SELECT of the files that are
left. Every other letter of the query stays as it was written, and the result is parsed again to
see that it differs in nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope

from optimizer.pruning.domain.conditions import text_literal, weaker
from optimizer.pruning.domain.uses import Found, Names, TableUse, uses_in
from portal.lake.errors import RuleViolation

DIALECTS = {"trino": "Trino", "spark": "Spark"}
PATH_COLUMNS = {"trino": '"$path"', "spark": "_file"}
WITHOUT_PATHS = {"starrocks": "StarRocks", "doris": "Doris"}
"""Engines that people ask for, in which no column says which data file a row is of."""
MOST_TEXT = 100_000
MOST_WRITTEN = 900_000
"""Trino takes a query of 1,000,000 characters unless it is configured otherwise."""
MOST_TABLES = 20
Types = Mapping[int, Mapping[str, str]]
"""The columns of each use by its number: lower-case name to Spark's type."""


@dataclass(frozen=True)
class Narrowed:
    """The data files that one use of a table is narrowed to, at a snapshot; None: all of them."""

    snapshot: int
    paths: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class EqualColumns:
    """A column of one use (by its number) that equals one of another use; names in lower case."""

    number: int
    column: str
    other: int
    other_column: str


class Query:
    """A parsed query. Nothing changes it."""

    def __init__(self, sql: str, dialect: str, names: Names | None = None) -> None:
        """Parse.

        Raises:
            RuleViolation: `prune.dialect`, `prune.long`, `prune.syntax`, `prune.no_select`,
                `prune.catalog`, `prune.tables`.
        """
        self.sql, self.dialect = sql, dialect
        self.tree = _parsed(sql, dialect)
        self._found = uses_in(self.tree, dialect, names or Names())
        self.uses = [one.use for one in self._found]
        if not self.uses:
            raise RuleViolation(
                "prune.tables",
                "The query reads no table of a database of the lake. Write names as "
                "catalog.database.table, or say which catalog and schema the session has.",
            )
        if len(self.uses) > MOST_TABLES:
            raise RuleViolation(
                "prune.tables",
                f"The query reads tables at {len(self.uses)} places; at most {MOST_TABLES} are "
                "narrowed. Ask for its parts.",
            )

    def condition(self, use: TableUse, types: Types) -> str:
        """Return what the query asks of one use, as a condition of Spark SQL; empty is nothing."""
        found = self._found[use.number]
        parts = [
            weaker(one, lambda column: self._type(column, found, types))
            for one in _conjuncts(found.scope)
        ]
        return " AND ".join(part for part in parts if part is not None)

    def equal_columns(self, types: Types) -> list[EqualColumns]:
        """Return which columns of two uses are equal in every row that counts, both ways round."""
        scopes = {id(one.scope): one.scope for one in self._found}.values()
        pairs = [
            pair
            for scope in scopes
            for one in _conjuncts(scope)
            for part in _ands(one)
            if isinstance(part, exp.EQ)
            for pair in self._equal(part, scope, types)
        ]
        return list(dict.fromkeys(pairs))

    def narrowed(self, answers: Mapping[int, Narrowed]) -> str:
        """Return the query pinned to snapshots and narrowed to files where a use has an answer.

        Raises:
            RuleViolation: `prune.syntax`, the places of the tables in the text are not sure, or
                `prune.long`, the result would be longer than engines take.
        """
        if not answers:
            return self.sql
        chosen = [one for one in self._found if one.use.number in answers]
        spans = {one.use.number: _span(self.sql, one.node, self.dialect) for one in chosen}
        written = {
            one.use.number: self._wrapped(one, spans[one.use.number][0], answers[one.use.number])
            for one in chosen
        }
        text, at = "", 0
        for number in sorted(spans, key=lambda n: spans[n][1]):
            _, start, end = spans[number]
            text, at = text + self.sql[at:start] + written[number], end
        text += self.sql[at:]
        if len(text) > MOST_WRITTEN:
            raise RuleViolation(
                "prune.long", f"The query would be {len(text):,} characters long with its files."
            )
        if not self._is_same_but(text, written):
            raise _unsure()
        return text

    # -- inside ----------------------------------------------------------------------------

    def _type(self, column: exp.Column, found: Found, types: Types) -> str | None:
        """Return the type of a column of one use, None where it is not the use's or not known."""
        if column.args.get("db") is not None:
            return None
        if column.table:
            is_ours = column.table.lower() == found.use.alias.lower()
        else:
            is_ours = self._is_alone(column.name.lower(), found, types)
        return types.get(found.use.number, {}).get(column.name.lower()) if is_ours else None

    def _equal(self, node: exp.EQ, scope: Scope, types: Types) -> list[EqualColumns]:
        left, right = node.left.unnest(), node.right.unnest()
        if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
            return []
        here = [one for one in self._found if one.scope is scope]
        owners = [
            [one for one in here if self._type(column, one, types) is not None]
            for column in (left, right)
        ]
        if [len(one) for one in owners] != [1, 1] or owners[0][0] is owners[1][0]:
            return []
        first = (owners[0][0].use.number, left.name.lower())
        second = (owners[1][0].use.number, right.name.lower())
        return [EqualColumns(*first, *second), EqualColumns(*second, *first)]

    def _is_alone(self, column: str, found: Found, types: Types) -> bool:
        """Whether a column without a table's name can only be this table's."""
        numbers = {id(one.node): one.use.number for one in self._found}
        for _, source in found.scope.selected_sources.values():
            if source is found.node:
                continue
            known = types.get(numbers.get(id(source), -1))
            if known is None or column in known:
                return False
        return True

    def _wrapped(self, one: Found, name: str, answer: Narrowed) -> str:
        word = "FOR VERSION AS OF" if self.dialect == "trino" else "VERSION AS OF"
        literal = _trino_literal if self.dialect == "trino" else text_literal
        words = ["SELECT * FROM", name, word, str(answer.snapshot)]
        if answer.paths is not None:
            listed = ", ".join(literal(path) for path in answer.paths)
            kept = f"{PATH_COLUMNS[self.dialect]} IN ({listed})" if listed else "FALSE"
            words += ["WHERE", kept]
        inner = " ".join(words)
        alias = "" if one.node.args.get("alias") else f" AS {_last_part(self.sql, one.node)}"
        return f"({inner}){alias}"

    def _is_same_but(self, text: str, written: Mapping[int, str]) -> bool:
        """Whether a text is this query with these tables in place of the plain ones."""
        expected = self.tree.copy()
        nodes = dict(zip(self.tree.walk(), expected.walk(), strict=True))
        for number, wrapped in written.items():
            node = nodes[self._found[number].node]
            alias = node.args.get("alias")
            given = f" AS {alias.this.sql(dialect=self.dialect)}" if alias else ""
            plain = " ".join(["SELECT * FROM", wrapped + given])
            select = sqlglot.parse_one(plain, dialect=self.dialect)
            node.replace(select.args["from_"].this)
        try:
            return sqlglot.parse_one(text, dialect=self.dialect) == expected
        except (SqlglotError, RecursionError, ValueError):
            return False


def _parsed(sql: str, dialect: str) -> exp.Query:
    if dialect in WITHOUT_PATHS:
        raise RuleViolation(
            "prune.dialect",
            f"{WITHOUT_PATHS[dialect]} has no column that says which data file a row is of, so "
            "its queries cannot be narrowed to files. Give the query as Trino or Spark would run "
            "it, to see which files it needs.",
        )
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


def _conjuncts(scope: Scope) -> list[exp.Expr]:
    """Return what every row that counts must satisfy: WHERE, and ON of inner joins."""
    select = scope.expression
    found = [select.args["where"].this] if select.args.get("where") else []
    joins: list[exp.Join] = select.args.get("joins") or []
    if not any(one.side for one in joins):
        kinds = ("", "INNER")
        found += [one.args["on"] for one in joins if one.args.get("on") and one.kind in kinds]
    return found


def _ands(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of an AND, or the condition itself."""
    node = node.unnest()
    if isinstance(node, exp.And):
        return [*_ands(node.left), *_ands(node.right)]
    return [node]


def _trino_literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _span(sql: str, table: exp.Table, dialect: str) -> tuple[str, int, int]:
    """Return a table's name as it is written, and where name and version stand in the text.

    Raises:
        RuleViolation: `prune.syntax`, the parser's positions do not fit the text.
    """
    parts = [part for part in table.parts if isinstance(part, exp.Identifier)]
    try:
        places = [(int(part.meta["start"]), int(part.meta["end"]) + 1) for part in parts]
        name_end = end = places[-1][1]
        if version := table.args.get("version"):
            end = int(version.expression.meta["end"]) + 1
    except KeyError:
        raise _unsure() from None
    start = places[0][0]
    name = sql[start:name_end]
    again = exp.to_table(name, dialect=dialect)
    if [part.name for part in again.parts] != [part.name for part in parts]:
        raise _unsure()
    return name, start, end


def _last_part(sql: str, table: exp.Table) -> str:
    meta = table.this.meta
    return sql[int(meta["start"]) : int(meta["end"]) + 1]


def _unsure() -> RuleViolation:
    return RuleViolation(
        "prune.syntax", "Where the tables stand in the query is not sure; it is left as it is."
    )
