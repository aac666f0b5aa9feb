"""What a materialization is of: one SELECT of dimensions and aggregates, read and checked.

Only what changed rows can keep up to date is accepted; what is refused names its clause.
"""

import re

import msgspec
import sqlglot
from sqlglot import exp

from pipelines.materialized.domain.aggregates import Measure, read_measure
from pipelines.materialized.domain.functions import check_functions
from pipelines.materialized.domain.kept_columns import OWN
from pipelines.materialized.domain.refusals import Refused
from pipelines.materialized.domain.tables import Join, Table, read_tables

DIALECT = "spark"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,126}\Z")
_RESERVED = "_hoodie_"
_READ = frozenset({"expressions", "from_", "joins", "where", "group", "kind", "hint"})
_CLAUSES = {
    "with_": ("WITH", "write the tables into FROM"),
    "having": ("HAVING", "filter groups when you read the table"),
    "order": ("ORDER BY", "sort when you read the table"),
    "sort": ("SORT BY", "sort when you read the table"),
    "cluster": ("CLUSTER BY", "sort when you read the table"),
    "distribute": ("DISTRIBUTE BY", "sort when you read the table"),
    "limit": ("LIMIT", "all groups are kept"),
    "offset": ("OFFSET", "all groups are kept"),
    "distinct": ("SELECT DISTINCT", "use GROUP BY"),
    "qualify": ("QUALIFY", "a window looks at more than a group"),
    "windows": ("WINDOW", "a window looks at more than a group"),
    "laterals": ("LATERAL VIEW", "a row counts once"),
    "sample": ("TABLESAMPLE", "all rows are counted"),
    "into": ("INTO", "the target is named apart"),
    "pivots": ("PIVOT", "pivot when you read the table"),
}


class Key(msgspec.Struct, frozen=True):
    """A dimension: a column of the table, and the expression that it is of."""

    name: str
    sql: str


class Definition(msgspec.Struct, frozen=True):
    """A checked definition; expressions are SQL of Spark over the aliases of the tables."""

    fact: Table
    joins: tuple[Join, ...]
    where: str
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    arguments: tuple[str, ...]
    names: tuple[str, ...]
    """All columns in the order of the SELECT."""
    by_alias: tuple[str, ...] = ()
    """Names in GROUP BY that mean a dimension only if no table has such a column."""
    columns: tuple[str, ...] = ()
    """Every column's name that occurs, in lower case."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The table of facts, then those joined to it."""
        return (self.fact, *(one.table for one in self.joins))

    def asks(self, argument: int, *kinds: str) -> bool:
        """Whether an argument is of an aggregate of some kinds."""
        return any(one.argument == argument and one.kind in kinds for one in self.measures)

    @property
    def distinct(self) -> tuple[int, ...]:
        """The arguments whose distinct values are counted."""
        return tuple(n for n in range(len(self.arguments)) if self.asks(n, "count_distinct"))


def read_definition(text: str) -> Definition:
    """Read and check the SQL of a materialization.

    Raises:
        Refused: The clause and the reason.
    """
    select = _parse(text)
    _check_clauses(select)
    fact, joins = read_tables(select)
    where = select.args.get("where")
    condition = "" if where is None else _sql(where.this)
    if where is not None and where.find(exp.AggFunc):
        raise Refused("WHERE", "it looks at one row and has no aggregate")
    items = [_named(one) for one in select.expressions]
    keys = tuple(Key(name, _sql(one)) for name, one in items if not _is_aggregate(one))
    by_alias = _check_group(select, keys)
    arguments: list[str] = []
    measures = tuple(
        read_measure(name, one, arguments) for name, one in items if _is_aggregate(one)
    )
    if not measures:
        raise Refused("SELECT", "it has no aggregate; count(*) AS n is the least")
    names = tuple(name for name, _ in items)
    _check_names(names)
    columns = {one.name.lower() for one in select.find_all(exp.Column)}
    return Definition(
        fact, joins, condition, keys, measures, tuple(arguments), names, by_alias,
        tuple(sorted(columns)),
    )  # fmt: skip


def _parse(text: str) -> exp.Select:
    try:
        trees = sqlglot.parse(text, read=DIALECT)
    except sqlglot.errors.SqlglotError as error:
        first = str(error).splitlines()[0].rstrip(".")
        raise Refused("SELECT", f"it cannot be read as SQL: {first}") from error
    if len(trees) != 1:
        raise Refused("SELECT", "write one statement, without a semicolon")
    match trees[0]:
        case exp.Select() as select:
            pass
        case exp.SetOperation():
            raise Refused("UNION", "a materialization is of one SELECT")
        case _:
            raise Refused("SELECT", "only a SELECT is allowed; it must not write")
    if any(one is not select for one in select.find_all(exp.Query)):
        raise Refused("subquery", "changes of its rows cannot be told")
    if select.find(exp.Window):
        raise Refused("OVER", "a window looks at more than a group")
    check_functions(select)
    return select


def _check_clauses(select: exp.Select) -> None:
    for name, value in select.args.items():
        if value and name not in _READ:
            clause, reason = _CLAUSES.get(name, (name.strip("_").upper(), "it is not supported"))
            raise Refused(clause, reason)
    if select.args.get("kind") or select.args.get("hint"):
        raise Refused("SELECT", "write plain columns and aggregates, without AS STRUCT or a hint")


def _named(item: exp.Expr) -> tuple[str, exp.Expr]:
    if item.find(exp.Star) and not isinstance(item.unalias(), exp.Count):
        raise Refused("SELECT", "name each column; * changes with the table")
    inner = item.unalias()
    name = item.alias_or_name.lower()
    if not name or not (isinstance(item, exp.Alias) or isinstance(inner, exp.Column)):
        raise Refused("SELECT", f"give {_sql(item)} a name with AS")
    return name, inner


def _is_aggregate(item: exp.Expr) -> bool:
    return item.find(exp.AggFunc) is not None


def _check_names(names: tuple[str, ...]) -> None:
    for name in names:
        if not _NAME.match(name) or name.startswith((OWN, _RESERVED)):
            raise Refused("SELECT", f"{name!r} is no name of a column: a-z, 0-9 and _")
        if names.count(name) > 1:
            raise Refused("SELECT", f"two columns are named {name}")


def _check_group(select: exp.Select, keys: tuple[Key, ...]) -> tuple[str, ...]:
    """Check that groups are told apart by what is selected; returns what is named by its alias."""
    group = select.args.get("group")
    if group is None:
        raise Refused("GROUP BY", "name at least one dimension")
    for name, value in group.args.items():
        if value and name != "expressions":
            raise Refused("GROUP BY", f"{name.upper().replace('_', ' ')} is not supported")
    by_alias: list[str] = []
    found = {_grouped(one, select, keys, by_alias) for one in group.expressions}
    missing = [one.name for one in keys if one.sql not in found]
    if missing:
        raise Refused("GROUP BY", f"{missing[0]} is neither grouped by nor an aggregate")
    if not keys:
        raise Refused("GROUP BY", "name at least one dimension")
    return tuple(by_alias)


def _grouped(
    item: exp.Expression, select: exp.Select, keys: tuple[Key, ...], by_alias: list[str]
) -> str:
    if isinstance(item, exp.Literal) and item.is_int:
        at = int(item.name)
        if not 1 <= at <= len(select.expressions):
            raise Refused("GROUP BY", f"there is no column {at}")
        return _sql(select.expressions[at - 1].unalias())
    if isinstance(item, exp.Cube | exp.Rollup | exp.GroupingSets):
        raise Refused("GROUP BY", f"{item.key.upper()} is not supported")
    text = _sql(item)
    for one in keys:
        if one.sql == text:
            return text
    for one in keys:
        if isinstance(item, exp.Column) and not item.table and item.name.lower() == one.name:
            by_alias.append(one.name)
            return one.sql
    raise Refused("GROUP BY", f"select {text} as well, so that its groups can be told apart")


def _sql(item: exp.Expr) -> str:
    return item.sql(dialect=DIALECT)
