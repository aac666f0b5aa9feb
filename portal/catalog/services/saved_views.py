"""Keeps the views of the list of tables that people give names."""

from datetime import datetime

from django.db import transaction

from portal.access.models import User
from portal.catalog.models import VIEW_NAME_CHARS, VIEW_QUERY_CHARS, SavedView
from portal.lake.errors import NotVisible, RuleViolation
from portal.lake.reasons import check_text

MOST_VIEWS = 30


def view_save(lake: str, *, user: User, name: str, query: str, now: datetime) -> SavedView:
    """Keep a filter under a name; the same name again replaces it.

    Raises:
        RuleViolation: no name, one that is too long, or too many views.
    """
    name = name.strip()
    check_text(name)
    if not name or len(name) > VIEW_NAME_CHARS:
        raise RuleViolation(
            "view.name", f"Enter a name of at most {VIEW_NAME_CHARS} characters.", field="name"
        )
    if len(query) > VIEW_QUERY_CHARS:
        raise RuleViolation("view.query", "This filter is too long to be kept. Shorten its words.")
    with transaction.atomic():
        mine = SavedView.objects.filter(lake=lake, username=user.username)
        if not mine.filter(name=name).exists() and mine.count() >= MOST_VIEWS:
            raise RuleViolation(
                "view.too_many", f"At most {MOST_VIEWS} views are kept. Delete one first."
            )
        saved, _ = SavedView.objects.update_or_create(
            lake=lake,
            username=user.username,
            name=name,
            defaults={"query": query, "saved_at": now},
        )
    return saved


def view_delete(view_id: int, *, user: User) -> SavedView:
    """Delete a view of the person's own.

    Raises:
        NotVisible: they have none of that number.
    """
    found = SavedView.objects.filter(pk=view_id, username=user.username).first()
    if found is None:
        raise NotVisible("view.missing", "You have no such view (any more). Reload the page.")
    SavedView.objects.filter(pk=found.pk).delete()
    return found
