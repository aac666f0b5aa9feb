"""Tells which of the objects that a person opened before the person may still see.

Each asks the database once for all of them, with the condition of the object's own page.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import Model, QuerySet

from portal.access.models import User
from portal.catalog.selectors import is_named, tables_visible
from portal.search.registry import Key
from portal.ui.selectors import runs_visible


def tables_seen(user: User, lake: str, keys: Sequence[Key]) -> list[Key]:
    """Return the keys of living tables that the person may see."""
    named = is_named((key["db"], key["table"]) for key in keys)
    found = set(tables_visible(lake, user).filter(named).values_list("db", "name"))
    return [key for key in keys if (key["db"], key["table"]) in found]


def databases_seen(user: User, lake: str, keys: Sequence[Key]) -> list[Key]:
    """Return the keys of databases with a table that the person may see."""
    rows = tables_visible(lake, user).filter(db__in={key["db"] for key in keys})
    found = set(rows.order_by().values_list("db", flat=True).distinct())
    return [key for key in keys if key["db"] in found]


def runs_seen(user: User, lake: str, keys: Sequence[Key]) -> list[Key]:
    """Return the keys of runs that the person may see, whatever their lake, as their page does."""
    del lake
    return with_ids_of(runs_visible(user), keys)


def with_ids_of(rows: QuerySet[Model], keys: Sequence[Key]) -> list[Key]:
    """Return the keys whose only value is the id of one of the rows."""
    ids = {one for key in keys if (one := _id(key.values()))}
    found = set(rows.filter(pk__in=ids).values_list("pk", flat=True))
    return [key for key in keys if _id(key.values()) in found]


def _id(values: Iterable[object]) -> UUID | None:
    try:
        return UUID(str(next(iter(values))))
    except ValueError:
        return None
