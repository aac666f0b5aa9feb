"""Which SQL a layer may have: one query whose result can be kept row by row.

Each row of the table that changes makes its rows of the result by itself: filters, projections,
generators, and joins with tables that do not change. Then the rows that a change removes are
computed from the row as it was before, and those that it adds from the row after it.
"""

from collections.abc import Collection, Iterator, Mapping

import sqlglot
from sqlglot import exp

from pipelines.commits.domain.moments import present_text
from portal.lake.errors import RuleViolation

_DIALECT = "spark"
_WRITES = (
    exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.DDL, exp.Drop, exp.Alter, exp.Command,
    exp.Into, exp.Use, exp.Set, exp.Transaction, exp.Commit, exp.Rollback, exp.Cache, exp.Refresh,
)  # fmt: skip
_NOT_BY_ROWS = "the rows that a change removes could not be computed from the row as it was"
_AGGREGATE = f"{_NOT_BY_ROWS}. Define a materialization"
_CLAUSES = {
    "distinct": ("DISTINCT", _AGGREGATE),
    "group": ("GROUP BY", _AGGREGATE),
    "having": ("HAVING", _AGGREGATE),
    "windows": ("WINDOW", _NOT_BY_ROWS),
    "qualify": ("QUALIFY", _NOT_BY_ROWS),
    "order": ("ORDER BY", "a table has no order"),
    "sort": ("SORT BY", "a table has no order"),
    "cluster": ("CLUSTER BY", "a table has no order"),
    "distribute": ("DISTRIBUTE BY", "a table has no order"),
    "limit": ("LIMIT", _NOT_BY_ROWS),
    "offset": ("OFFSET", _NOT_BY_ROWS),
    "sample": ("TABLESAMPLE", "another reading would take other rows"),
    "pivots": ("PIVOT", _AGGREGATE),
}
_AT_EACH_CALL = "it returns something else at each call, so a row could not be removed again"
_CHANGING = {
    **dict.fromkeys(("rand", "randn", "random", "uuid", "shuffle", "now", "curdate"), ""),
    **dict.fromkeys(("current_timestamp", "current_date", "current_time", "localtimestamp"), ""),
    **dict.fromkeys(("current_datetime", "current_user", "session_user", "user", "version"), ""),
    **dict.fromkeys(("monotonically_increasing_id", "spark_partition_id", "randstr"), ""),
    **dict.fromkeys(("input_file_name", "input_file_block_start", "input_file_block_length"), ""),
}
_FORBIDDEN = frozenset(
    {"reflect", "java_method", "try_reflect", "read_files", "from_avro", "to_avro", "sleep"}
)
"""What reads other than tables, or runs code of the class path."""
_SIDES = {"RIGHT", "FULL"}


def check_statement(text: str, *, changing: str, static: Collection[str] = ()) -> None:
    """Refuse what cannot be kept row by row from the changes of one table.

    `changing` and `static` are all tables that it may read, as `db.table`.

    Raises:
        RuleViolation: `layer.statement`; it names the clause and the reason.
    """
    tree = _parse(text)
    _check_functions(tree)
    checked = _Checked(changing.lower(), frozenset(one.lower() for one in static))
    if not checked.reads_changing(tree, {}):
        raise _refusal("FROM", f"it does not read {changing}, the source whose changes it follows")
    unread = checked.static - checked.seen
    if unread:
        raise _refusal("FROM", f"it does not read the source {min(unread)}; leave that out")
    _check_names(tree)


def carried(text: str) -> dict[str, str]:
    """Return under which names of the result columns of the changing table stand as they are.

    Only what the outermost SELECT takes directly from the first table; `*` is not expanded.
    """
    tree = _parse(text)
    if not isinstance(tree, exp.Select):
        return {}
    first = tree.args["from_"].this if tree.args.get("from_") else None
    if not isinstance(first, exp.Table) or not first.db:
        return {}
    own = {first.alias_or_name.lower()} | (set() if tree.args.get("joins") else {""})
    found = {}
    for one in tree.expressions:
        column = one.this if isinstance(one, exp.Alias) else one
        if isinstance(column, exp.Column) and column.table.lower() in own:
            found[column.name.lower()] = one.alias_or_name.lower()
    return found


def has_star(text: str) -> bool:
    """Return whether the outermost SELECT takes all columns of a table."""
    return any(one.is_star for one in _parse(text).selects)


def rendered(text: str, names: Mapping[str, str]) -> str:
    """Return a checked statement as it is run: from what was parsed, reading views.

    `names` has a view for each table that it may read, by `db.table` in lower case.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Table) or not node.db:
            return node
        table = exp.Table(this=exp.to_identifier(names[_name(node)], quoted=True))
        table.set("alias", node.args.get("alias") or exp.TableAlias(this=node.this.copy()))
        if node.args.get("joins"):
            table.set("joins", node.args["joins"])
        return table

    return _parse(text).transform(replaced).sql(dialect=_DIALECT)


class _Checked:
    def __init__(self, changing: str, static: frozenset[str]) -> None:
        self.changing = changing
        self.static = static
        self.seen: set[str] = set()

    def reads_changing(self, query: exp.Expr, known: Mapping[str, bool]) -> bool:
        """Return whether a query reads the changing table; refuse what is not by rows then."""
        if isinstance(query, exp.Subquery):
            return self.reads_changing(query.this, known)
        known = self._with_ctes(query, known)
        if isinstance(query, exp.SetOperation):
            if any(self.reads_changing(one, known) for one in (query.left, query.right)):
                raise _refusal(query.key.upper(), f"{_NOT_BY_ROWS}. Define a layer for each part")
            return False
        if not isinstance(query, exp.Select):
            raise _refusal(query.key.upper(), "a layer is one SELECT")
        items = [self._item(one, known) for one in _items(query)]
        for one in _nested(query):
            if self.reads_changing(one, known):
                raise _refusal("subquery", f"it reads {self.changing} again: {_NOT_BY_ROWS}")
        if not any(items):
            return False
        if items[0] is False:
            raise _refusal("FROM", f"name the source that changes, {self.changing}, first")
        if sum(items) > 1:
            raise _refusal("JOIN", f"{self.changing} is joined with itself: {_NOT_BY_ROWS}")
        self._check_clauses(query)
        return True

    def _with_ctes(self, query: exp.Expr, known: Mapping[str, bool]) -> Mapping[str, bool]:
        found = query.args.get("with_")
        if found is None:
            return known
        if found.args.get("recursive"):
            raise _refusal("WITH RECURSIVE", _NOT_BY_ROWS)
        known = dict(known)
        for one in found.expressions:
            known[one.alias.lower()] = self.reads_changing(one.this, known)
        return known

    def _item(self, item: exp.Expr, known: Mapping[str, bool]) -> bool:
        match item:
            case exp.Table() if isinstance(item.this, exp.Identifier):
                return self._table(item, known)
            case exp.Subquery(this=exp.Query()):
                return self.reads_changing(item.this, known)
            case exp.Lateral() | exp.Unnest() | exp.Values() if not item.find(exp.Query):
                return False
            case exp.Lateral() | exp.Unnest() | exp.Values():
                raise _refusal(
                    "LATERAL", "a lateral subquery is not supported; join a static table"
                )
            case _:
                raise _refusal("FROM", f"{item.sql(dialect=_DIALECT)} is no table or generator")

    def _table(self, table: exp.Table, known: Mapping[str, bool]) -> bool:
        if not table.db and not table.catalog and table.name.lower() in known:
            return known[table.name.lower()]
        name = _name(table)
        for key in ("when", "version"):
            if table.args.get(key):
                raise _refusal("time travel", "a layer reads the tables as they are")
        if table.catalog or (name != self.changing and name not in self.static):
            raise _refusal("FROM", f"{table.sql(dialect=_DIALECT)} is none of the declared sources")
        self.seen.add(name)
        return name == self.changing

    def _check_clauses(self, query: exp.Select) -> None:
        places = [query, *_items(query)]
        for key, (clause, reason) in _CLAUSES.items():
            if any(one.args.get(key) for one in places):
                raise _refusal(clause, reason)
        for join in query.args.get("joins") or ():
            if join.side.upper() in _SIDES:
                raise _refusal(
                    f"{join.side.upper()} JOIN",
                    f"a row without a match in {self.changing} would come and go with other rows. "
                    "Use an inner or a left join",
                )
        for node in _own_nodes(query):
            if isinstance(node, exp.Window):
                raise _refusal(node.sql(dialect=_DIALECT), f"a window function: {_NOT_BY_ROWS}")
            if isinstance(node, exp.AggFunc):
                raise _refusal(node.sql(dialect=_DIALECT), f"an aggregate: {_AGGREGATE}")


def _items(query: exp.Expr) -> list[exp.Expr]:
    """Return what a SELECT reads, in order."""
    first = query.args.get("from_")
    joins = query.args.get("joins") or ()
    laterals = query.args.get("laterals") or ()
    return [*([first.this] if first else []), *(one.this for one in joins), *laterals]


def _own_nodes(query: exp.Expr) -> Iterator[exp.Expr]:
    """Return the nodes of a SELECT but those of the queries within it."""
    yield from query.walk(prune=lambda node: isinstance(node, exp.Query) and node is not query)


def _nested(query: exp.Expr) -> Iterator[exp.Expr]:
    """Return queries in expressions of a SELECT; not those that it reads or names."""
    read = {id(one) for one in _items(query)}
    for node in _own_nodes(query):
        is_inner = isinstance(node, exp.Query) and node is not query and id(node) not in read
        if is_inner and not isinstance(node.parent, exp.CTE):
            yield node


def _parse(text: str) -> exp.Query:
    try:
        trees = sqlglot.parse(text, read=_DIALECT)
    except sqlglot.errors.SqlglotError as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise RuleViolation(
            "layer.statement", f"It cannot be read as SQL: {said}.", field="sql", clause=""
        ) from error
    if len(trees) != 1:
        raise _refusal("", "write one statement, without a semicolon")
    match trees[0]:
        case exp.Query() as tree if not tree.find(*_WRITES):
            return tree
        case _:
            raise _refusal("", "only SELECT is allowed; it must not write")


def _check_functions(tree: exp.Expr) -> None:
    text = present_text(tree)
    if text:
        raise _refusal(f"'{text}'", "it means the present moment where a date is meant")
    for function in tree.find_all(exp.Func):
        name = function.name if isinstance(function, exp.Anonymous) else function.sql_name()
        if name.lower() in _FORBIDDEN:
            raise _refusal(f"{name}()", "the function is not allowed")
        if name.lower() in _CHANGING or _is_now(function):
            raise _refusal(f"{name}()", _AT_EACH_CALL)


def _is_now(function: exp.Func) -> bool:
    # `unix_timestamp()` without arguments is the present moment.
    return isinstance(function, exp.StrToUnix) and function.this is None


def _check_names(tree: exp.Query) -> None:
    """Refuse results without a name, or with one that the programs use."""
    names = [one.alias_or_name.lower() for one in tree.selects if not one.is_star]
    for one, name in zip([s for s in tree.selects if not s.is_star], names, strict=True):
        if not name or (not one.alias and not isinstance(one, exp.Column)):
            raise _refusal(one.sql(dialect=_DIALECT), "give it a name with AS")
        if name.startswith(("_hoodie_", "_lw_")) or name == "_weight":
            raise _refusal(name, "names of this kind belong to the programs; choose another")
        if names.count(name) > 1:
            raise _refusal(name, "two columns of the result have the name")


def _name(table: exp.Table) -> str:
    return f"{table.db}.{table.name}".lower()


def _refusal(clause: str, reason: str) -> RuleViolation:
    text = f"{clause}: {reason}." if clause else f"{reason[:1].upper()}{reason[1:]}."
    return RuleViolation("layer.statement", text, field="sql", clause=clause)
