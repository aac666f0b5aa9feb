"""Reads from a query's text what it groups and aggregates, within limits of time."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from optimizer.advice.domain.asked import Asked, asked_in, query_in
from optimizer.advice.domain.shapes import MOST_TEXT, shape_of
from optimizer.matching.domain.reading import check_size
from optimizer.pruning.domain.uses import Names
from optimizer.queries.domain.query_record import QueryRecord
from portal.lake.errors import RuleViolation

MOST_WORDS = 10_000
"""Of a text; so many take a second."""
MOST_SHAPE = 4_000
"""Characters of a shape that are kept."""


@dataclass(frozen=True, slots=True)
class ReadText:
    """What a text asks of known tables; `problem` says why nothing could be read."""

    asked: tuple[Asked, ...] = ()
    shape: str = ""
    tables: tuple[str, ...] = ()
    """Those that the shape names, as `db.table`."""
    problem: str = ""
    is_query: bool = True
    """Whether it reads by a SELECT; a DELETE has nothing that a cube could answer."""


def read_text(query: QueryRecord, columns: Mapping[str, Collection[str]]) -> ReadText:
    """Return what a query asks; `columns` has the known tables that it scanned, by `db.table`.

    The shape is kept only where it names no other table than these: it is shown to everybody who
    sees them.
    """
    if len(query.text) > MOST_TEXT:
        return ReadText(problem=f"It has more than {MOST_TEXT:,} characters.")
    dialect = query.engine.value
    names = Names(query.catalog, None, query.default_db)
    try:
        check_size(query.text, dialect, most_tokens=MOST_WORDS)
        tree = query_in(query.text, dialect)
        if tree is None:
            return ReadText(is_query=False)
        asked = asked_in(query.text, dialect, names, columns)
        tables = _tables_in(tree, names)
        is_shown = tables is not None and tables <= columns.keys()
        shape = _shape(query.text, dialect) if is_shown else ""
    except RuleViolation as error:
        return ReadText(problem=error.message)
    except (SqlglotError, RecursionError, ValueError):
        return ReadText(problem="The text cannot be read as SQL.")
    return ReadText(tuple(asked), shape, tuple(sorted(tables or ())) if shape else ())


def unnamed(asked: Collection[Asked], read: Mapping[str, int]) -> str:
    """Return why what was scanned most is not in the text; empty where it is.

    Where a view stands before a table, the text has the view's name.
    """
    most = max(read, key=lambda name: read[name], default="")
    if not most or any(one.table == most for one in asked):
        return ""
    return f"It reads {most} through a view."


def _shape(sql: str, dialect: str) -> str:
    found = shape_of(sql, dialect)
    return found.text[:MOST_SHAPE] if found.is_parsed and found.text.isprintable() else ""


def _tables_in(tree: exp.Query, names: Names) -> set[str] | None:
    """Return the lake's tables that a statement names anywhere; None where it names others too."""
    whole = tree.root()
    ctes = frozenset(one.alias.lower() for one in whole.find_all(exp.CTE))
    found = set()
    for one in whole.find_all(exp.Table):
        if not one.db and one.name.lower() in ctes:
            continue
        place = names.place(one, ctes)
        if place is None:
            return None
        found.add(".".join(place))
    return found
