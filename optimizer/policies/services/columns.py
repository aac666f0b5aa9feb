"""Checks the columns that a policy names: those of the table, and those of joined tables.

A column of a joined table is written `alias.column`; the alias is that of a join that a cube of the
table declares. Only tables that the person may see are looked into.
"""

from collections.abc import Iterable

from optimizer.cubes.domain.declared_joins import JoinedColumn, is_joined
from optimizer.iceberg.indexing.domain.joined_wanted import check_kind
from optimizer.iceberg.indexing.domain.wanted import WantedIndex
from optimizer.iceberg.rewrite.domain.layouts import Layout, refuse_columns
from optimizer.models import IcebergTable
from optimizer.policies.selectors.joins import declared_joins_of
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible, PortalError, RuleViolation


def check_layout(table: IcebergTable, layout: Layout, *, user: User) -> None:
    """Refuse a layout with columns that do not exist, or that have no order.

    Raises:
        RuleViolation: `layout.missing`, `layout.type`, `layout.join`.
        NotVisible: `layout.table`, a joined table that the person may not see.
    """
    types = dict(table.columns)
    texts = [one for one in layout.columns if is_joined(one, types)]
    if texts:
        joins = declared_joins_of(table)
        types |= {text: joined_type(table, joins.column(text), user=user) for text in texts}
    refuse_columns(layout, types)


def check_indexes(table: IcebergTable, wanted: Iterable[WantedIndex], *, user: User) -> None:
    """Refuse indexes on columns of joined tables that cannot be; others the index job checks.

    Raises:
        RuleViolation: `index.join`, `index.missing`, `index.kind`.
        NotVisible: `index.table`, a joined table that the person may not see.
    """
    joined = [one for one in wanted if is_joined(one.column, table.columns)]
    if not joined:
        return
    joins = declared_joins_of(table)
    for one in joined:
        try:
            column = joins.column(one.column)
            joined_type(table, column, user=user)
            check_kind(one, column)
        except PortalError as error:
            code = "index." + error.code.partition(".")[2]
            raise type(error)(code, error.message, policy_fields=["index_columns"]) from error


def joined_type(table: IcebergTable, column: JoinedColumn, *, user: User) -> str:
    """Return the Iceberg type of a column of a joined table; '' where it was not inspected yet.

    Raises:
        RuleViolation: `layout.missing`; NotVisible: `layout.table`.
    """
    db, _, name = column.table.partition(".")
    named = IcebergTable.objects.filter(
        visible_to(user), lake=table.lake, db=db, table=name, is_deleted=False
    )
    found = named.order_by("-pk").first()
    if found is None:
        raise NotVisible(
            "layout.table",
            f"{column.text}: there is no Iceberg table {column.table} for you in this lake; take "
            "a column of a table that you may see.",
        )
    types = {key.lower(): of for key, of in found.columns.items()}
    if types and column.column.lower() not in types:
        raise RuleViolation(
            "layout.missing",
            f"{column.text}: {column.table} has no column {column.column}. Write the name as that "
            "table's schema has it.",
            columns=[column.text],
        )
    return str(types.get(column.column.lower(), ""))
