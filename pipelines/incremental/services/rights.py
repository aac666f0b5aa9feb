"""Says by whose right a layer reads rows: a target shows the rows of its sources."""

from typing import Any

from pipelines.models import Layer
from portal.access.actors import Actor
from portal.access.models import User
from portal.access.visibility import check_rows
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotAllowed
from portal.lake.names import TableName

NO_ROWS = "layer.rows"
_AT_THE_SHELL = "shell"
"""Who has a shell of the portal's machine may do what admins may."""


def check_definer(by: Actor, name: TableName, struct: Any) -> None:
    """Refuse who may not see the rows of a source; `struct` None: its layer has not made it yet.

    Raises:
        NotAllowed: `layer.rows`.
    """
    if not by.is_admin:
        _check(_user(by.name), name, struct)


def check_owner(row: Layer, metastore: Metastore) -> None:
    """Refuse to advance a layer whose owner may not see the rows of its sources, or not any more.

    Raises:
        NotAllowed: `layer.rows`; it says who has to do what.
    """
    user = _user(row.owner)
    if row.owner == _AT_THE_SHELL if user is None else user.is_lake_admin_of(row.lake):
        return
    for edge in row.edges.order_by("pk"):
        name = TableName.parse(row.hive.lake, str(edge))
        try:
            _check(user, name, metastore.table_or_none(name))
        except NotAllowed as error:
            raise NotAllowed(
                NO_ROWS,
                f"{error.message} The layer waits until somebody who may see them edits and saves "
                f"it; {row.owner} defined it.",
                table=str(name),
            ) from error


def _user(name: str) -> User | None:
    return User.objects.filter(username=name, is_active=True).first()


def _check(user: User | None, name: TableName, struct: Any) -> None:
    owner = "" if struct is None else str(struct.owner or "")
    check_rows(user, name, owner=owner, code=NO_ROWS, use="A layer")
