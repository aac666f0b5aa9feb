"""What a person opened last, as far as they may still see it."""

from portal.access.models import User
from portal.catalog.selectors import is_named, tables_visible
from portal.search.models import OpenedObject
from portal.search.registry import Hit, ObjectPage, object_page

SHOWN = 8


def opened_last(user: User, lake: str) -> list[Hit]:
    """Return the objects of a lake that a person opened last, the latest first."""
    rows = OpenedObject.objects.filter(user=user, lake=lake).order_by("-at")[:SHOWN]
    shown = [(row, page) for row in rows if (page := object_page(row.view))]
    seen = _visible(user, lake, [_title(row, page) for row, page in shown if page.is_table])
    hits = [(Hit(_title(row, page), row.url), page) for row, page in shown]
    return [hit for hit, page in hits if not page.is_table or hit.title in seen]


def _title(row: OpenedObject, page: ObjectPage) -> str:
    return page.title(row.key)


def _visible(user: User, lake: str, titles: list[str]) -> set[str]:
    names = []
    for title in titles:
        db, _, name = title.partition(".")
        names.append((db, name))
    if not names:
        return set()
    return {str(row) for row in tables_visible(lake, user).filter(is_named(names))}
