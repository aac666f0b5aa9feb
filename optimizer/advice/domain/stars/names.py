"""Names the columns of a star by the N:1 joins that lead to them, whatever aliases a query gave.

A column of the fact is its name, and a form of it (`terms.py`) is written as SQL. One of a joined
table is told with its keys, so that the join can be declared:
`ssb.part.p_brand1 via fact.lo_partkey=ssb.part.p_key`; a chain has several keys in their order.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from optimizer.advice.domain.stars.terms import PLAIN, read_term, term_text
from optimizer.cubes.domain.definition import FACT

MOST_STEPS = 3
_NAME = re.compile(r"\w{1,128}", re.ASCII)
_TABLE = r"\w+\.\w+"
_KEY = re.compile(rf"({FACT}|{_TABLE})\.(\w+)=({_TABLE})\.(\w+)", re.ASCII)
_COLUMN = re.compile(rf"({_TABLE})\.(\w+)", re.ASCII)
_VIA, _AND = " via ", " and "


class Step(NamedTuple):
    """A join: from which table (`fact`, or `db.table`) to which, by pairs of their columns."""

    left: str
    table: str
    on: tuple[tuple[str, str], ...]


Path = tuple[Step, ...]


def is_plain(name: str) -> bool:
    """Whether a name can stand in a definition of a cube without quotes."""
    return _NAME.fullmatch(name) is not None


def path_text(path: Path) -> str:
    """Return the keys of a path; `read_path` gives it back."""
    return _AND.join(
        f"{one.left}.{left}={one.table}.{right}" for one in path for left, right in one.on
    )


def column_text(path: Path, column: str, form: str = PLAIN) -> str:
    """Return a form of a column at the end of a path; an empty path ends at the fact."""
    if not path:
        return term_text(form, column)
    return f"{term_text(form, f'{path[-1].table}.{column}')}{_VIA}{path_text(path)}"


def read_path(text: str) -> Path:
    """Return the path of `path_text`; ValueError for any other text."""
    steps: list[Step] = []
    for part in text.split(_AND):
        found = _KEY.fullmatch(part)
        if found is None:
            raise ValueError(f"{part[:80]!r} is no key of a join")
        left, column, table, key = found.groups()
        if steps and (steps[-1].left, steps[-1].table) == (left, table):
            steps[-1] = steps[-1]._replace(on=(*steps[-1].on, (column, key)))
        else:
            steps.append(Step(left, table, ((column, key),)))
    return tuple(steps)


def read_column(text: str) -> tuple[Path, str, str]:
    """Return path, name and form of `column_text`; ValueError for any other text."""
    named, _, keys = text.partition(_VIA)
    form, column = read_term(named)
    if not keys:
        return (), column, form
    found = _COLUMN.fullmatch(column)
    if found is None:
        raise ValueError(f"{text[:80]!r} is no column of a star")
    path = read_path(keys)
    if path[-1].table != found[1]:
        raise ValueError(f"{text[:80]!r} ends at another table")
    return path, found[2], form


@lru_cache(maxsize=4096)
def whole_of(text: str) -> str:
    """Return the column of which `column_text` has a form; of a column itself the same."""
    path, column, _ = read_column(text)
    return column_text(path, column)


def tables_in(joins: Iterable[str]) -> frozenset[str]:
    """Return the tables that paths lead to, as `db.table`."""
    return frozenset(step.table for text in joins for step in read_path(text))
