"""Navigation entries and home cards of findings."""

from collections.abc import Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from django.http import HttpRequest
from django.utils import timezone

from lifecycle.core.ui.badges import register_state_badges
from lifecycle.core.ui.links import list_url
from lifecycle.inventory.selectors.due import NeedsAnswer, needs_answer
from lifecycle.inventory.selectors.findings import (
    Totals,
    current_generation,
    tables_visible,
    totals_for,
    trend,
)
from lifecycle.models import ScanSnapshot
from portal.access.models import User
from portal.access.registry import Card, Page, register_home_card, register_page
from portal.ui.frame.context import lake_or_none, person
from portal.ui.selectors import register_owned_tables
from portal.ui.templatetags.lw import human_bytes


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the cards of one request show: the lake, its picture and the person's numbers."""

    lake: str
    generation: ScanSnapshot
    totals: Totals


_read: WeakKeyDictionary[HttpRequest, _Seen] = WeakKeyDictionary()


def register_pages() -> None:
    """Add the navigation, the home cards and the words of findings."""
    register_state_badges()
    of_tables = frozenset({"lifecycle:table", "lifecycle:why", "lifecycle:policy"})
    register_page(Page("lifecycle", "Expiring data", "lifecycle:expiring", 10, also=of_tables))
    register_page(Page("paths", "Violations", "lifecycle:paths", 10))
    register_page(Page("lifecycle", "Databases", "lifecycle:databases", 40))
    register_page(Page("lifecycle", "Holds", "lifecycle:holds", 30))
    register_home_card(waiting_card)
    register_home_card(paths_card)
    register_home_card(due_card)
    register_home_card(soon_card)
    register_owned_tables(owned_tables)


def owned_tables(user: User, lake: str) -> Iterator[str]:
    """Name the tables whose audit events the person may read."""
    for db, table in tables_visible(lake, user).values_list("db", "table").iterator():
        yield f"{db}.{table}"


def waiting_card(request: HttpRequest) -> Card | None:
    """Tell an owner how much of theirs waits for an answer."""
    user, seen = person(request), _seen(request)
    if seen is None or user.is_lake_staff_of(seen.lake):
        return None
    found = needs_answer(seen.generation, user, now=timezone.now())
    if not found.waiting.n_items:
        return None
    return Card(
        kind="waiting",
        title="Your expiring data needs an answer",
        value=f"{found.waiting.n_items:,}",
        url=list_url("expiring", seen.lake, show="week", person=user.username),
        detail=_waiting_words(found),
        icon="calendar-due",
        tone="warn",
        order=20,
    )


def _waiting_words(found: NeedsAnswer) -> str:
    words = f"{human_bytes(found.waiting.n_bytes)}: {found.waiting.parts}"
    for n, one, many in (
        (found.kept.n_items, "is on hold since", "are on hold since"),
        (found.dropped.n_items, "was dropped since", "were dropped since"),
    ):
        if n:
            words += f". {n:,} more {one if n == 1 else many} the last scan"
    if n := found.answered.n_items:
        words += f". {n:,} more {'is' if n == 1 else 'are'} answered and now with others"
    if n := found.observed.n_items:
        where = "is in a database in" if n == 1 else "are in databases in"
        words += f". {n:,} more {where} Monitor only"
    return words


def paths_card(request: HttpRequest) -> Card | None:
    """Return the number of nonconforming paths."""
    seen = _seen(request)
    if seen is None:
        return None
    return Card(
        kind="number",
        title="Path rule violations",
        value=f"{seen.totals.n_paths:,}",
        url=list_url("paths", seen.lake),
        icon="route-off",
        tone="bad" if seen.totals.n_paths else "good",
        order=10,
        trend=_trend(seen, person(request), "paths.nonconforming"),
    )


def due_card(request: HttpRequest) -> Card | None:
    """Return how much is due now."""
    return _expiry_card(request, "CLEAN_NOW", title="Due", icon="calendar-x", order=11)


def soon_card(request: HttpRequest) -> Card | None:
    """Return how much is due within the notice days."""
    title = "Due soon"
    return _expiry_card(request, "SOON", title=title, icon="calendar-due", order=12)


def _expiry_card(
    request: HttpRequest, cls: str, *, title: str, icon: str, order: int
) -> Card | None:
    seen = _seen(request)
    if seen is None:
        return None
    return Card(
        kind="number",
        title=title,
        value=human_bytes(getattr(seen.totals, f"bytes_{cls.lower()}")),
        url=list_url("expiring", seen.lake, show=cls),
        detail=f"{getattr(seen.totals, f'n_{cls.lower()}'):,} partitions and tables",
        icon=icon,
        order=order,
        trend=_trend(seen, person(request), f"class.{cls}.bytes"),
    )


def _seen(request: HttpRequest) -> _Seen | None:
    """Return what the cards show, read once a request; None before a scan."""
    if request not in _read:
        lake = lake_or_none(request)
        if lake is None:
            return None
        generation = current_generation(lake)
        if generation is None:
            return None
        _read[request] = _Seen(lake, generation, totals_for(lake, person(request)))
    return _read[request]


def _trend(seen: _Seen, user: User, metric: str) -> tuple[tuple[str, float], ...]:
    """Return the lake's own trend to who sees the whole lake; parts of it are not recorded."""
    if not user.is_lake_staff_of(seen.lake):
        return ()
    points = trend(seen.lake, [metric], today=seen.generation.day)[metric]
    return tuple((day.isoformat(), float(value)) for day, value in points)
