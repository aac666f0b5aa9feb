"""Finds the dimensions of a stored aggregate in the expressions of a query."""

from collections.abc import Callable, Mapping, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from optimizer.matching.domain.dates import PARTS, dated, shared_form
from optimizer.matching.domain.functions import AGGREGATES
from optimizer.matching.domain.implied import FLOATS, Reader, rest_of
from optimizer.matching.domain.rules import Rule, Unfit
from optimizer.matching.domain.views import FACT, Schema, View, ViewDimension
from optimizer.matching.domain.whole_numbers import ARITHMETIC, Whole, never_overflows, whole_of

_UTC = {"UTC", "Z", "GMT", "Etc/UTC", "+00:00"}


class Expressions:
    """Compares expressions of a query with those of a view, whatever the tables are called.

    `names` gives the view's alias for each alias of the query.
    """

    def __init__(self, view: View, names: Mapping[str, str], schema: Schema, dialect: str) -> None:
        """Read the view's expressions."""
        self.view, self.names, self.schema, self.dialect = view, names, schema, dialect
        self.tables = {FACT: view.table, **{one.alias: one.table for one in view.joins}}
        self._equal = self._joined()
        own = {alias: alias for alias in self.tables}
        self._forms: dict[str, exp.Expr] = {}
        self.dimensions: dict[str, ViewDimension] = {}
        for one in view.dimensions:
            node = self._parsed(one.expression)
            self._forms[one.name] = node
            self.dimensions[self._key(node, own, "spark") or ""] = one
        self.measures = {
            self._key(self._parsed(one.expression), own, "spark") or "": one
            for one in view.measures
        }
        self.dimensions.pop("", None)
        self.measures.pop("", None)
        self.samples: dict[str, exp.Expr] = {}
        """How the query writes each dimension that was found in it."""
        self._roots = {type(node) for node in self._forms.values()} | {exp.Column}

    def key(self, node: exp.Expr) -> str | None:
        """Return the form in which an expression of the query is compared."""
        return self._key(node, self.names, self.dialect)

    def rest_of(self, asked: Sequence[exp.Expr], time_zone: str) -> list[exp.Expr]:
        """Return the conditions that the view's own do not already answer.

        Raises:
            Unfit: the view lacks rows that the query may need, or chose them in another zone, or
                by floats for another engine.
        """
        own = {alias: alias for alias in self.tables}
        wanted = [self._parsed(one) for one in self.view.filters]
        types = {self._type(one, own) for node in wanted for one in node.find_all(exp.Column)}
        if self.dialect != "spark" and not types.isdisjoint(FLOATS):
            raise Unfit(
                Rule.TYPE, f"the rows of {self.view.name} were chosen by a float or double, of "
                "which engines compare NaN each in their own way",
            )  # fmt: skip
        if "timestamp" in types:
            self._check_zone(f"the rows of {self.view.name} were chosen", time_zone)
        query = Reader(self.key, lambda node: self._compared_as(node, self.names))
        view = Reader(
            lambda node: self._key(node, own, "spark"), lambda node: self._compared_as(node, own)
        )
        return rest_of(wanted, view, asked, query)

    def dimension_of(self, node: exp.Expr, time_zone: str) -> ViewDimension | None:
        """Return the dimension that an expression of the query is.

        Raises:
            Unfit: it is one, but its values are not sure to be those of the query's engine.
        """
        if type(node) not in self._roots and dated(node) is None:
            return None
        key = self.key(node)
        found = self.dimensions.get(key) if key else None
        if found is None:
            return None
        if found.type in FLOATS:
            raise Unfit(
                Rule.TYPE, f"the dimension {found.name} is a {found.type}, of which engines group "
                "NaN and negative zeros each in their own way",
            )  # fmt: skip
        if self._needs_zone(found):
            self._check_zone(f"the dimension {found.name} was computed", time_zone)
        self.samples.setdefault(found.name, node.copy())
        return found

    def is_number_of_date(self, dimension: ViewDimension) -> bool:
        """Whether a dimension is a year, a month or the like, of which engines differ in width."""
        found = dated(self._forms[dimension.name])
        return found is not None and found[0] in PARTS

    def used_in(self, root: exp.Expr, time_zone: str, rule: Rule) -> set[str]:
        """Return the dimensions that an expression is made of.

        Raises:
            Unfit: it needs a column that is in none of them.
        """
        used: set[str] = set()

        def keep(dimension: ViewDimension) -> exp.Expr:
            used.add(dimension.name)
            return exp.column(dimension.name)

        self.replaced(root, time_zone, rule, keep)
        return used

    def replaced(
        self,
        root: exp.Expr,
        time_zone: str,
        rule: Rule,
        make: Callable[[ViewDimension], exp.Expr],
        make_aggregate: Callable[[exp.Expr], exp.Expr] | None = None,
    ) -> exp.Expr:
        """Return an expression with dimensions, and aggregates if asked, put in their place.

        Raises:
            Unfit: it needs a column that is in none of the dimensions.
        """

        def visit(node: exp.Expr) -> exp.Expr:
            aggregate = node.this if isinstance(node, exp.Filter) else node
            if make_aggregate is not None and isinstance(aggregate, AGGREGATES):
                return make_aggregate(node)
            if (found := self.dimension_of(node, time_zone)) is not None:
                return make(found)
            # A column without a table is a name of the output: the query keeps its own names.
            if isinstance(node, exp.Column) and node.table:
                raise Unfit(
                    rule, f"{node.sql()} is needed, which is no dimension and in none of them"
                )
            return node

        return root.transform(visit)

    def _joined(self) -> dict[str, str]:
        """Return for the columns that declared joins make equal one that stands for all of them."""
        found: dict[str, str] = {}
        for join in self.view.joins:
            for left, right in join.on:
                alias, _, column = left.partition(".")
                kind = self._known(alias, column)
                if kind is not None and kind == self._known(join.alias, right):
                    key = left.lower()
                    found[f"{join.alias}.{right.lower()}"] = found.get(key, key)
        return found

    def _known(self, alias: str, column: str) -> str | None:
        table = self.tables.get(alias, "")
        known = self.schema.knows(table)
        return self.schema.type_of(table, column.lower()) if known else None

    def _parsed(self, expression: str) -> exp.Expr:
        try:
            return sqlglot.parse_one(expression, dialect="spark").unnest()
        except SqlglotError:
            raise Unfit(Rule.SHAPE, f"its expression {expression[:80]} cannot be read") from None

    def _key(self, node: exp.Expr, names: Mapping[str, str], dialect: str) -> str | None:
        node = node.unnest()
        if isinstance(node, exp.Column):
            alias = names.get(node.table.lower())
            key = f"{alias}.{node.name.lower()}"
            return None if alias is None else self._equal.get(key, key)
        if (found := dated(node)) is not None:
            shared = shared_form(node, self._type(found[1], names), dialect)
            inner = None if shared is None else self._key(shared[1], names, dialect)
            if shared is not None and inner is not None:
                return f"{shared[0]}({inner})"
        if dialect != "spark" and not self._never_overflows(node, names):
            return None
        copy = node.copy()
        for column in list(copy.find_all(exp.Column)):
            alias = names.get(column.table.lower())
            if alias is None:
                return None
            name = exp.to_identifier(column.name.lower(), quoted=True)
            column.replace(exp.column(name, table=exp.to_identifier(alias)))
        return copy.sql(dialect="spark", comments=False)

    def _never_overflows(self, node: exp.Expr, names: Mapping[str, str]) -> bool:
        def whole(column: exp.Column) -> Whole | None:
            table = self.tables.get(names.get(column.table.lower(), ""), "")
            bounds = self.schema.bounds.get(table, {}).get(column.name.lower())
            return whole_of(self._type(column, names), bounds)

        return isinstance(node, ARITHMETIC) and never_overflows(node, whole)

    def _type(self, node: exp.Expr, names: Mapping[str, str]) -> str | None:
        if not isinstance(node, exp.Column):
            return None
        return self._known(names.get(node.table.lower(), ""), node.name)

    def _compared_as(self, node: exp.Expr, names: Mapping[str, str]) -> str | None:
        """Return the type of a column, or of a part of a date."""
        found = dated(node)
        if found is None:
            return self._type(node, names)
        return "int" if found[0] in PARTS else "date" if found[0] == "DATE" else None

    def _needs_zone(self, dimension: ViewDimension) -> bool:
        node = self._forms[dimension.name]
        if isinstance(node, exp.Column):
            return False
        own = {alias: alias for alias in self.tables}
        types = {self._type(column, own) for column in node.find_all(exp.Column)}
        return dimension.type == "timestamp" or not types <= {
            "date", "timestamp_ntz", "string", "int", "bigint", "boolean",
        }  # fmt: skip

    def _check_zone(self, what: str, time_zone: str) -> None:
        here = "UTC" if self.dialect == "trino" else time_zone
        is_utc = here in _UTC and self.view.time_zone in _UTC
        if not here or not (is_utc or here == self.view.time_zone):
            asked = "UTC, as Trino reads times" if self.dialect == "trino" else "of its session"
            raise Unfit(
                Rule.TYPE,
                f"{what} in the time zone {self.view.time_zone}; the query's is "
                f"{time_zone or asked}",
            )
