"""Says what a query groups and filters a fact table by, over the N:1 joins to its dimensions.

Each SELECT is read by itself. Its fact is the table of which it read most; whether the keys of the
others are unique is left to the estimate of a cube.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from optimizer.advice.domain.asked import Aggregate, Asked
from optimizer.advice.domain.filters import FilterKind
from optimizer.advice.domain.stars.names import MOST_STEPS, Path, Step, column_text, is_plain
from optimizer.advice.domain.stars.names import path_text as text_of_path
from optimizer.advice.domain.stars.terms import PLAIN, read_term
from optimizer.cubes.domain.definition import FACT, MAX_DIMENSIONS, MAX_JOINS, MAX_MEASURES

ALL_ROWS = Aggregate("count", "*")
DISTINCT = "count distinct"
SKETCHED = "approxdistinct"
FUNCTIONS = frozenset({"count", "sum", "min", "max", "avg", DISTINCT, SKETCHED})
"""Aggregates that a cube can answer."""
MOST_EXPRESSION = 200
"""Characters of arithmetic that is kept."""
OF_VALUES = frozenset({"min", "max", "count", DISTINCT})
"""Aggregates that follow from the values of a dimension."""
_OF_FACT = {FilterKind.EQUAL, FilterKind.IN, FilterKind.RANGE, FilterKind.NULL}


@dataclass(frozen=True, slots=True)
class StarGrouping:
    """What one SELECT asked of a fact; `refused` says why no cube could answer it."""

    table: str
    dimensions: frozenset[str] = frozenset()
    measures: frozenset[Aggregate] = frozenset()
    joins: frozenset[str] = frozenset()
    """The keys of each path to a joined table."""
    refused: str = ""


def star_groupings(asked: Sequence[Asked], weights: Mapping[str, int]) -> list[StarGrouping]:
    """Return the grouping of each SELECT that aggregates.

    `weights` has what was read of each table that was scanned, by `db.table`. A SELECT that scanned
    none of them has no grouping.
    """
    selects: defaultdict[int, list[Asked]] = defaultdict(list)
    for one in asked:
        selects[one.select].append(one)
    found = []
    for number in sorted(selects):
        here = selects[number]
        read = [place for place, one in enumerate(here) if one.table in weights]
        if read and any(one.aggregates for one in here):
            fact = max(read, key=lambda place: (weights[here[place].table], -place))
            found.append(_Star(here, fact).grouping())
    return found


class _RefusedError(Exception):
    """No cube could answer the SELECT; the text says why."""


@dataclass
class _Star:
    """One SELECT around its fact."""

    asked: Sequence[Asked]
    fact: int
    paths: dict[int, Path] = field(default_factory=dict)
    dimensions: set[str] = field(default_factory=set)
    measures: set[Aggregate] = field(default_factory=set)

    def grouping(self) -> StarGrouping:
        refused = ""
        try:
            self._read()
        except _RefusedError as error:
            refused = str(error)
        return StarGrouping(
            self.asked[self.fact].table,
            frozenset(self.dimensions),
            frozenset(self.measures),
            frozenset(text_of_path(path) for path in self.paths.values() if path),
            refused,
        )

    def _read(self) -> None:
        for one in self.asked:
            if one.unfit:
                raise _RefusedError(f"the SELECT {one.unfit}")
        self._reach()
        for place, one in enumerate(self.asked):
            for group in one.groups:
                form, name = read_term(group)
                self._dimension(place, name, form)
            for each in one.filters:
                self._dimension(place, each.column)
            for each in one.filters:
                self._check_filter(each.column, each.kind, is_joined=place != self.fact)
            for aggregate in one.aggregates:
                self._measure(place, aggregate)
        for n, most, what in (
            (len(self.dimensions), MAX_DIMENSIONS, "dimensions"),
            (len(self.measures), MAX_MEASURES, "measures"),
            (len(self.asked) - 1, MAX_JOINS, "joined tables"),
        ):
            if n > most:
                raise _RefusedError(f"it has more than {most} {what}")

    def _reach(self) -> None:
        """Find the path to each table; one that is joined in no way, or in two, has none."""
        self.paths[self.fact] = ()
        waiting = [place for place in range(len(self.asked)) if place != self.fact]
        while waiting:
            for place in waiting:
                if (path := self._path_to(place)) is not None:
                    self.paths[place] = path
                    break
            else:
                name = self.asked[waiting[0]].table
                raise _RefusedError(f"{name} is joined by no equal columns")
            waiting.remove(place)
        n_keys = sum(len(one.joins) for one in self.asked)
        if n_keys != 2 * sum(len(path[-1].on) for path in self.paths.values() if path):
            raise _RefusedError("joined tables are joined with each other besides")

    def _path_to(self, place: int) -> Path | None:
        one = self.asked[place]
        for before, path in self.paths.items():
            left = self.asked[before]
            pairs = sorted(
                (key.column, key.other_column)
                for key in left.joins
                if key.other_table == one.table
                and (key.other_column, left.table, key.column) in one.joins
            )
            if not pairs:
                continue
            names = [one.table, *(name for pair in pairs for name in pair)]
            if not all(is_plain(name) for text in names for name in text.split(".")):
                raise _RefusedError(f"{one.table} is joined by names that need quotes")
            if one.table in {self.asked[self.fact].table, *(step.table for step in path)}:
                raise _RefusedError(f"{one.table} is joined with itself")
            if len(path) == MOST_STEPS:
                raise _RefusedError(f"{one.table} is joined over more than {MOST_STEPS} tables")
            step = Step(left.table if path else FACT, one.table, tuple(pairs))
            return (*path, step)
        return None

    def _dimension(self, place: int, name: str, form: str = PLAIN) -> None:
        if not is_plain(name):
            raise _RefusedError(f"the name {name[:80]} needs quotes")
        self.dimensions.add(column_text(self.paths[place], name, form))

    @staticmethod
    def _check_filter(column: str, kind: FilterKind, *, is_joined: bool) -> None:
        if kind is FilterKind.DYNAMIC:
            raise _RefusedError(f"{column} is compared with what a subquery gives")
        if not is_joined and kind not in _OF_FACT:
            raise _RefusedError(f"{column} is filtered by more than values and ranges")

    def _measure(self, place: int, one: Aggregate) -> None:
        if one.function not in FUNCTIONS or (one.column == "*" and one != ALL_ROWS):
            raise _RefusedError(f"no cube holds a state of {one.function}")
        if one == ALL_ROWS:
            self.measures.add(one)
        elif not one.column or len(one.column) > MOST_EXPRESSION:
            raise _RefusedError(f"{one.function} is of an expression")
        elif place == self.fact:
            if is_plain(one.column) or " " in one.column:
                self.measures.add(one)
            else:
                raise _RefusedError(f"the name {one.column[:80]} needs quotes")
        elif one.function in OF_VALUES:
            self._dimension(place, one.column)
        else:
            raise _RefusedError(f"{one.function} is of a column of {self.asked[place].table}")
