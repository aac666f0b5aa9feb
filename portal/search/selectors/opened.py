"""What a person opened last, as far as they may still see it."""

from collections import defaultdict

from portal.access.models import User
from portal.search.models import OpenedObject
from portal.search.registry import Hit, Key, object_page

SHOWN = 8


def opened_last(user: User, lake: str) -> list[Hit]:
    """Return the objects of a lake that a person opened last, the latest first.

    Each kind of page among them is asked once which of its objects the person may see now.
    """
    rows = OpenedObject.objects.filter(user=user, lake=lake).order_by("-at")[:SHOWN]
    shown = [(row, page) for row in rows if (page := object_page(row.view))]
    asked: defaultdict[str, list[Key]] = defaultdict(list)
    for row, page in shown:
        asked[page.view].append(row.key)
    seen = {page.view: page.visible for _, page in shown}
    kept = {view: visible(user, lake, asked[view]) for view, visible in seen.items()}
    return [Hit(page.title(row.key), row.url) for row, page in shown if row.key in kept[page.view]]
