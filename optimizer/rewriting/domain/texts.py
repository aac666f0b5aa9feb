"""Writes a SELECT that is answered from a cube and from the files that the cube does not cover."""

from itertools import chain, combinations

import sqlglot
from sqlglot import exp

from optimizer.matching.domain.aggregates import Made, read_aggregate
from optimizer.matching.domain.matches import Match
from optimizer.matching.domain.rules import Rule, Unfit
from optimizer.matching.domain.views import ViewDimension
from optimizer.rewriting.domain.facts import CubeFacts
from optimizer.rewriting.domain.merging import ROWS, Merger, state_of
from optimizer.rewriting.domain.session import PATH_COLUMNS

STATES, STORED = "states", "stored"
MOST_STARS = 64
"""Above so many masks they are not listed: the list only helps to skip row groups."""


class Writer:
    """Writes one matched SELECT; `snapshots` are those that its tables are pinned to."""

    def __init__(
        self, match: Match, cube: CubeFacts, snapshots: dict[str, int], dialect: str, zone: str
    ) -> None:
        """Prepare; nothing is changed."""
        self.match, self.cube, self.snapshots = match, cube, snapshots
        self.dialect, self.zone = dialect, zone
        rows = cube.covered_rows + cube.uncovered_rows
        self.merger = Merger(dialect, cube, rows, STATES)

    def select(self) -> exp.Select:
        """Return the SELECT that stands for the query's own.

        Raises:
            Unfit: a result could differ from the engine's own.
        """
        block = self.match.block.select
        outer = block.copy()
        outer.set("expressions", [self._output(one) for one in block.expressions])
        for clause in ("group", "having", "order"):
            if (root := block.args.get(clause)) is not None:
                outer.set(clause, self._outer(root))
        for clause in ("joins", "where"):
            outer.set(clause, None)
        parts: exp.Query = self._stored()
        if self.cube.n_uncovered:
            parts = exp.union(parts, self._fresh(), distinct=False)
        outer.set("from_", exp.From(this=parts.subquery(STATES)))
        return outer

    def _output(self, node: exp.Expr) -> exp.Expr:
        written = self._outer(node)
        if isinstance(node, exp.Alias):
            return written
        if isinstance(node, exp.Column):
            return exp.alias_(written, node.this.copy(), copy=False)
        if self.dialect != "spark":
            # A column would bring a name where the query's expression has none.
            plain = isinstance(written, exp.Column)
            return exp.If(this=exp.true(), true=written) if plain else written
        # Spark calls such a column by its text, which is no longer the query's.
        name = _spark_name(node)
        if name is None:
            raise Unfit(Rule.SHAPE, f"{node.sql('spark')[:80]} has no name: write AS after it")
        return exp.alias_(written, exp.to_identifier(name, quoted=True), copy=False)

    def _outer(self, root: exp.Expr) -> exp.Expr:
        return self.match.expressions.replaced(
            root, self.zone, Rule.DIMENSION, self._key, self._merged
        )

    def _key(self, dimension: ViewDimension) -> exp.Expr:
        return exp.column(_quoted(dimension.name), table=STATES)

    def _merged(self, node: exp.Expr) -> exp.Expr:
        found = read_aggregate(node, self.match.expressions, self.zone)
        condition = None if found.condition is None else self._outer(found.condition)
        if found.made is Made.COUNT_KEYS:
            return self.merger.count_keys(self._outer(found.call.this), condition)
        if found.made is not Made.OF_KEYS:
            return self.merger.merged(found, condition)
        call = found.call.copy()
        call.set("this", self._outer(call.this))
        if condition is None:
            return call
        return exp.Filter(this=call, expression=exp.Where(this=condition))

    def _columns(self) -> list[tuple[str, str, exp.Expr | None]]:
        """Return the columns of states: name, function, and what it is of in the query."""
        found: dict[str, tuple[str, str, exp.Expr | None]] = {}
        for one in self.match.aggregates:
            if one.made in (Made.ROWS, Made.COUNT_KEYS):
                found[ROWS] = (ROWS, "count", None)
            for function in one.states:
                inner = one.call.this
                argument = inner.expressions[0] if isinstance(inner, exp.Distinct) else inner
                name = f"{one.measure.name if one.measure else ''}_{function}"
                found[name] = (name, function, argument)
        return list(found.values())

    def _stored(self) -> exp.Select:
        keys = sorted(self.match.keys)
        columns = [exp.alias_(self._stored_key(name), _quoted(name)) for name in keys]
        columns += [self._state(name) for name, _, _ in self._columns()]
        if not columns:
            columns = [exp.alias_(exp.Literal.number(1), _quoted("one"))]
        place = self.match.block.sources[self.match.fact].node
        db, _, name = self.cube.table.partition(".")
        table = exp.table_(
            _identifier(name),
            db=_identifier(db),
            catalog=place.args["catalog"].copy() if place.args.get("catalog") else None,
        )
        if self.cube.snapshot_id is not None:
            _pin(table, self.cube.snapshot_id)
        table.set("alias", exp.TableAlias(this=exp.to_identifier(STORED)))
        conditions = [*self._units(), *self._masks()]
        for one in self.match.filters:
            conditions.append(
                exp.paren(
                    self.match.expressions.replaced(
                        one, self.zone, Rule.FILTER, lambda found: self._stored_key(found.name)
                    ),
                    copy=False,
                )
            )
        found = exp.Select(expressions=columns).from_(table, copy=False)
        return found.where(*conditions, copy=False) if conditions else found

    def _state(self, name: str) -> exp.Expr:
        stored = self._stored_as(name)
        if isinstance(stored, exp.Column) and stored.name == name:
            return stored
        return exp.alias_(stored, _quoted(name), copy=False)

    def _stored_as(self, name: str) -> exp.Expr:
        if name not in self.cube.columns:
            return _stored_column(name)
        found = sqlglot.parse_one(self.cube.columns[name], dialect="spark")
        return found.transform(
            lambda one: _stored_column(one.name) if isinstance(one, exp.Column) else one
        )

    def _stored_key(self, name: str) -> exp.Expr:
        column = self._stored_as(name)
        dimension = self.match.view.dimension(name)
        if self.dialect == "trino" and self.match.expressions.is_number_of_date(dimension):
            return exp.cast(column, "BIGINT")
        return column

    def _units(self) -> list[exp.Expr]:
        if self.cube.units is None:
            return []
        unit = _stored_column("unit")
        ranges: list[exp.Expr] = []
        for low, high in self.cube.units:
            ends = exp.Literal.number(low), exp.Literal.number(high)
            if low == high:
                ranges.append(exp.EQ(this=unit.copy(), expression=ends[0]))
            else:
                ranges.append(exp.Between(this=unit.copy(), low=ends[0], high=ends[1]))
        return [exp.paren(exp.or_(*ranges)) if ranges else exp.false()]

    def _masks(self) -> list[exp.Expr]:
        """Choose the star rows that were aggregated over just what the query does not use."""
        if not self.cube.star:
            return []
        order = [one.name for one in self.match.view.dimensions]
        unused = sum(1 << n for n, name in enumerate(order) if name not in self.match.used)
        bits = [1 << n for n, name in enumerate(order) if name in self.cube.star]
        bits = [bit for bit in bits if bit & unused]
        star, has = _stored_column("star"), exp.column(_quoted("has"), table=STORED)
        masked: exp.Expr = exp.BitwiseAnd(this=has, expression=exp.Literal.number(unused))
        masked = masked if self.dialect == "trino" else exp.paren(masked, copy=False)
        found: list[exp.Expr] = [exp.EQ(this=masked, expression=star.copy())]
        if 2 ** len(bits) <= MOST_STARS:
            picked = chain.from_iterable(combinations(bits, n) for n in range(len(bits) + 1))
            masks = [exp.Literal.number(n) for n in sorted(sum(one) for one in picked)]
            found.append(exp.In(this=star, expressions=masks))
        return found

    def _fresh(self) -> exp.Select:
        block = self.match.block
        keys = sorted(self.match.keys)
        samples = self.match.expressions.samples
        columns: list[exp.Expr] = [exp.alias_(samples[name].copy(), _quoted(name)) for name in keys]
        for name, function, argument in self._columns():
            state = (
                exp.Count(this=exp.Star(), big_int=True)
                if argument is None
                else state_of(function, argument, self.dialect)
            )
            columns.append(exp.alias_(state, _quoted(name)))
        if not columns:
            columns = [exp.alias_(exp.Literal.number(1), _quoted("one"))]
        found = exp.Select(expressions=columns)
        for clause in ("from_", "joins", "where"):
            value = block.select.args.get(clause)
            if value:
                copies = [one.copy() for one in value] if isinstance(value, list) else value.copy()
                found.set(clause, copies)
        for table in found.find_all(exp.Table):
            alias = table.alias_or_name
            _pin(table, self.snapshots[block.sources[alias.lower()].table])
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
        path = exp.column(_quoted(PATH_COLUMNS[self.dialect]), table=_identifier(self.match.fact))
        files = [exp.Literal.string(one) for one in self.cube.uncovered]
        found.where(exp.In(this=path, expressions=files), copy=False)
        if keys:
            found.set("group", exp.Group(expressions=[samples[name].copy() for name in keys]))
        return found


def pin(table: exp.Table, snapshot: int) -> None:
    """Have a place of a query read one snapshot of its table."""
    _pin(table, snapshot)


def _pin(table: exp.Table, snapshot: int) -> None:
    number = exp.Literal.number(snapshot)
    table.set("version", exp.Version(this="VERSION", kind="AS OF", expression=number))


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _identifier(name: str) -> exp.Identifier:
    return exp.to_identifier(name)


def _stored_column(name: str) -> exp.Column:
    return exp.column(_quoted(name), table=STORED)


def _spark_name(node: exp.Expr) -> str | None:
    """Return how Spark calls a plain aggregate of a column that has no name."""
    plain = (exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg)
    if not isinstance(node, plain):
        return None
    inner = node.this
    if isinstance(inner, exp.Star):
        return "count(1)"
    word = "DISTINCT " if isinstance(inner, exp.Distinct) else ""
    arguments = inner.expressions if isinstance(inner, exp.Distinct) else [inner]
    if not all(isinstance(one, exp.Column) for one in arguments):
        return None
    names = ", ".join(one.name for one in arguments)
    return f"{node.sql_name().lower()}({word}{names})"
