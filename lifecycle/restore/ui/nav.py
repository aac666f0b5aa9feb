"""Navigation and home cards of backups."""

from datetime import timedelta

from django.http import HttpRequest
from django.utils import timezone

from lifecycle.backup.selectors import RESTORABLE
from lifecycle.core.ui.links import list_url
from lifecycle.restore.selectors.backups import batches_for_user, restorable_totals
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.ui.frame.context import lake_or_none, person
from portal.ui.templatetags.lw import human_bytes

LAST_DAYS = timedelta(days=3)


def register_pages() -> None:
    """Add the navigation and the home cards."""
    register_page(Page("backups", "By day", "lifecycle:backups", 10))
    register_page(Page("backups", "Savings", "lifecycle:savings", 30))
    register_home_card(last_chance_card)
    register_home_card(backups_card)


def last_chance_card(request: HttpRequest) -> Card | None:
    """Tell an owner of backups that are purged soon."""
    lake, user = lake_or_none(request), person(request)
    if not lake or user.is_lake_staff_of(lake):
        return None
    soon = batches_for_user(lake, user).filter(
        state__in=RESTORABLE, purge_after__lte=timezone.now() + LAST_DAYS
    )
    n_batches = soon.count()
    if not n_batches:
        return None
    return Card(
        kind="waiting",
        title="Your backups are purged soon",
        value=f"{n_batches:,}",
        url=list_url("backups", lake),
        detail="After that the data is deleted permanently.",
        icon="trash-x",
        tone="bad",
        order=15,
    )


def backups_card(request: HttpRequest) -> Card | None:
    """Return how much lies in the backups and can come back."""
    lake = lake_or_none(request)
    if not lake:
        return None
    found = restorable_totals(lake, person(request))
    return Card(
        kind="number",
        title="Can be restored",
        value=human_bytes(found.n_bytes),
        url=list_url("backups", lake),
        detail=f"{found.n_items:,} dropped items in backup",
        icon="archive",
        order=13,
    )
