"""Writes the table of each column of a SELECT out, as engines resolve names.

ORDER BY sees the names of the output first; GROUP BY and HAVING the tables', and in Spark then the
output's. Where both could be meant and differ, the SELECT is refused.
"""

from collections.abc import Mapping

from sqlglot import exp

from optimizer.matching.domain.rules import Rule, Unfit
from optimizer.matching.domain.views import Schema

_NESTED = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple, exp.Paren)


def qualify(select: exp.Select, tables: Mapping[str, str], schema: Schema, dialect: str) -> None:
    """Give every column its table's alias, in place.

    Raises:
        Unfit: a name means no column of the tables, or more than one.
    """
    names = _Names(tables, schema, dialect)
    for one in select.expressions:
        names.place(one, "expressions")
    names.outputs = {one.alias_or_name.lower(): one.unalias() for one in select.expressions}
    names.outputs.pop("", None)
    group = select.args.get("group")
    if group is not None:
        for key in ("expressions", "rollup", "cube", "grouping_sets"):
            for one in list(group.args.get(key) or []):
                _ordinals(one, select)
    for join in select.args.get("joins") or []:
        if join.args.get("on") is not None:
            names.place(join.args["on"], "joins")
    for clause in ("where", "group", "having", "order"):
        if select.args.get(clause) is not None:
            names.place(select.args[clause], clause)


def _ordinals(node: exp.Expr, select: exp.Select) -> None:
    """Replace positions of GROUP BY by what stands there in the SELECT."""
    if isinstance(node, _NESTED):
        inner = [node.this] if isinstance(node, exp.Paren) else list(node.expressions)
        for one in inner:
            _ordinals(one, select)
    elif isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        number = int(node.this)
        if not 1 <= number <= len(select.expressions):
            raise Unfit(Rule.SHAPE, f"GROUP BY {number} names no column of the SELECT")
        node.replace(select.expressions[number - 1].unalias().copy())


class _Names:
    def __init__(self, tables: Mapping[str, str], schema: Schema, dialect: str) -> None:
        self.tables, self.schema, self.dialect = tables, schema, dialect
        self.outputs: dict[str, exp.Expr] = {}

    def place(self, root: exp.Expr, clause: str) -> None:
        """Resolve the columns of one clause."""
        for column in list(root.find_all(exp.Column)):
            self._place(column, clause)

    def _place(self, column: exp.Column, clause: str) -> None:
        if column.args.get("db") is not None or isinstance(column.this, exp.Star):
            raise Unfit(Rule.SHAPE, f"{column.sql()} is not written as a column of one table")
        name = column.name.lower()
        if column.table:
            owners = [column.table.lower()]
            table = self.tables.get(owners[0])
            if table is None or self.schema.type_of(table, name) is None:
                raise Unfit(Rule.TABLES, f"{column.sql()} is no column of its tables")
        else:
            owners = [
                alias
                for alias, table in self.tables.items()
                if self.schema.type_of(table, name) is not None
            ]
        if not column.table and name in self.outputs and self._is_output(column, clause, owners):
            return
        if len(owners) != 1:
            why = "more than one of its tables" if owners else "none of its tables"
            raise Unfit(Rule.TABLES, f"{column.sql()} is a column of {why}")
        column.set("table", exp.to_identifier(owners[0]))

    def _is_output(self, column: exp.Column, clause: str, owners: list[str]) -> bool:
        """Whether a bare name means a column of the output; then it is taken care of."""
        meant = self.outputs[column.name.lower()]
        is_same = (
            isinstance(meant, exp.Column)
            and meant.name.lower() == column.name.lower()
            and [meant.table] == owners
        )
        if clause == "order":
            parent = column.parent
            while isinstance(parent, exp.Paren):
                parent = parent.parent
            if isinstance(parent, exp.Ordered) or not owners:
                return True
        elif clause not in ("group", "having") or self.dialect == "trino":
            return False
        elif not owners:
            column.replace(meant.copy())
            return True
        elif clause == "group":
            return False
        if not is_same:
            raise Unfit(
                Rule.SHAPE, f"{column.name} is a column of a table and another one of the output"
            )
        return False
