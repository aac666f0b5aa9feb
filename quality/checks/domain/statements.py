"""Which SQL a rule may contain: a condition, or one query that reads and returns a number."""

from collections.abc import Collection, Mapping

import sqlglot
from sqlglot import exp

ROWS = "{rows}"
_ROWS_NAME = "checked_rows"
_DIALECT = "spark"
_FORBIDDEN = (
    exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.DDL, exp.Drop, exp.Alter, exp.Command,
    exp.Into, exp.Use, exp.Set, exp.Transaction, exp.Commit, exp.Rollback, exp.Cache, exp.Refresh,
)  # fmt: skip
# What reads other than tables, runs code of the class path, or puts values into errors, which are
# read by people who may see no rows.
_FORBIDDEN_FUNCTIONS = frozenset(
    {
        "reflect", "java_method", "try_reflect", "input_file_name", "read_files", "from_avro",
        "sleep", "raise_error", "assert_true",
    }
)  # fmt: skip


def check_filter(text: str) -> None:
    """Refuse what is not one condition over a row's columns.

    Raises:
        ValueError: What is wrong, in words.
    """
    try:
        tree = sqlglot.parse_one(text, read=_DIALECT, into=exp.Condition)
    except sqlglot.errors.SqlglotError as error:
        raise ValueError("it is not one condition that can be read as SQL") from error
    if tree.find(exp.Query):
        raise ValueError("a filter has no query in it; use custom_sql")
    if tree.find(exp.AggFunc) or tree.find(exp.Window):
        raise ValueError("a filter looks at one row; it has no aggregate")
    _check_functions(tree)


def check_query(text: str, *, databases: Collection[str] = ()) -> None:
    """Refuse what is not one query that only reads, of one column.

    With `databases`, tables of other ones are refused as well.

    Raises:
        ValueError: What is wrong, in words.
    """
    tree = _parse(text.replace(ROWS, _ROWS_NAME))
    select = tree.find(exp.Select)
    if select is None:
        raise ValueError("write a SELECT that returns one number")
    if len(select.expressions) != 1 or isinstance(select.expressions[0], exp.Star):
        raise ValueError("it returns several columns; select one number")
    local = {one.alias_or_name.lower() for one in tree.find_all(exp.CTE)} | {_ROWS_NAME}
    for table in tree.find_all(exp.Table):
        _check_table(table, local, databases)


def tables_of(text: str) -> tuple[str, ...]:
    """Return the tables that a checked query reads besides the window's rows: `db.table`."""
    tree = _parse(text.replace(ROWS, _ROWS_NAME))
    return tuple(sorted({f"{one.db}.{one.name}" for one in tree.find_all(exp.Table) if one.db}))


def _check_table(table: exp.Table, local: Collection[str], databases: Collection[str]) -> None:
    if table.catalog:
        raise ValueError(f"{table.sql()} is of another catalog; write db.table")
    if not table.db:
        if table.name.lower() not in local:
            raise ValueError(f"write db.table for {table.name!r}, or {ROWS} for the window's rows")
    elif databases and table.db.lower() not in databases:
        raise ValueError(f"the database {table.db} is not one that it may read")


def _parse(text: str) -> exp.Query:
    try:
        trees = sqlglot.parse(text, read=_DIALECT)
    except sqlglot.errors.SqlglotError as error:
        raise _unreadable(error) from error
    if len(trees) != 1:
        raise ValueError("write one statement, without a semicolon")
    match trees[0]:
        case exp.Query() as tree if not tree.find(*_FORBIDDEN):
            _check_functions(tree)
            return tree
        case _:
            raise ValueError("only SELECT is allowed; it must not write")


def _check_functions(tree: exp.Expr) -> None:
    for function in tree.find_all(exp.Func):
        name = function.name if isinstance(function, exp.Anonymous) else function.sql_name()
        if name.lower() in _FORBIDDEN_FUNCTIONS:
            raise ValueError(f"the function {name} is not allowed")


def _unreadable(error: sqlglot.errors.SqlglotError) -> ValueError:
    return ValueError(f"it cannot be read as SQL: {str(error).splitlines()[0].rstrip('.')}")


def rendered(text: str, *, rows: str, names: Mapping[str, str]) -> str:
    """Return a checked query as it is run: from what was parsed, with views for its tables.

    `names` has a view for each of `tables_of`.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        is_rows = node.name == _ROWS_NAME
        if not isinstance(node, exp.Table) or not (node.db or is_rows):
            return node  # a name of the query's own WITH stays
        name = rows if is_rows else names[f"{node.db}.{node.name}"]
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
        table = exp.Table(this=exp.to_identifier(name, quoted=True))
        table.set("alias", alias)
        return table

    return _parse(text.replace(ROWS, _ROWS_NAME)).transform(replaced).sql(dialect=_DIALECT)
