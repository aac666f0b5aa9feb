"""The tables of a definition: one of facts, and dimensions joined to it by inner joins."""

import msgspec
from sqlglot import exp

from pipelines.materialized.domain.refusals import Refused

_DIALECT = "spark"


class Table(msgspec.Struct, frozen=True):
    """A table by its name, and how the definition calls it."""

    db: str
    table: str
    alias: str

    @property
    def name(self) -> str:
        """The name as people write it."""
        return f"{self.db}.{self.table}"


class Join(msgspec.Struct, frozen=True):
    """A dimension, and the condition by which it is joined."""

    table: Table
    on: str


def read_tables(select: exp.Select) -> tuple[Table, tuple[Join, ...]]:
    """Return the table of facts and the joins.

    Raises:
        Refused: The clause and the reason.
    """
    start = select.args.get("from_")
    if start is None:
        raise Refused("FROM", "name a table as db.table")
    fact = _table(start.this)
    joins = tuple(_join(one) for one in select.args.get("joins") or ())
    tables = [fact, *(one.table for one in joins)]
    names, aliases = [one.name for one in tables], [one.alias for one in tables]
    if len(set(names)) < len(names):
        raise Refused("JOIN", "a table is joined to itself, so one change changes two sides")
    if len(set(aliases)) < len(aliases):
        raise Refused("FROM", "two tables have the same name; give them aliases")
    return fact, joins


def _join(join: exp.Join) -> Join:
    side, kind = str(join.side or "").upper(), str(join.kind or "").upper()
    if side or kind == "OUTER":
        word = f"{side or 'FULL'} JOIN"
        raise Refused(word, "only inner joins: a row without a match would appear and vanish")
    if kind not in {"", "INNER"} or join.args.get("method"):
        word = f"{join.args.get('method') or kind} JOIN".upper()
        raise Refused(word, "write JOIN ... ON ...")
    if join.args.get("using"):
        raise Refused("USING", "write the condition with ON")
    on = join.args.get("on")
    if on is None:
        raise Refused("JOIN", "give its condition with ON")
    return Join(_table(join.this), on.sql(dialect=_DIALECT))


def _table(item: exp.Expression) -> Table:
    if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier):
        raise Refused("FROM", "name tables as db.table")
    if item.args.get("catalog") or not item.db:
        raise Refused("FROM", f"write {item.name or item.sql(dialect=_DIALECT)} as db.table")
    for name, value in item.args.items():
        if value and name not in {"this", "db", "alias"}:
            raise Refused("FROM", f"{item.sql(dialect=_DIALECT)}: write the table's name alone")
    alias = item.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise Refused("FROM", "an alias has no list of columns")
    return Table(item.db.lower(), item.name.lower(), item.alias_or_name.lower())
