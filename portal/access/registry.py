"""Registry of the menu, its pages and home cards. Apps register theirs in `AppConfig.ready()`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from django.http import HttpRequest

from portal.access.models import User
from portal.access.roles.domain import ALL_LAKES

GEAR = "gear"
"""The entry of administration: its pages are links of a fold at the foot of the menu."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the main menu; its address is that of the first page that a person may see."""

    key: str
    title: str
    icon: str
    order: int
    count: Callable[[HttpRequest], int] | None = None
    """How much there waits for the person: the badge. Asked at every page, so it must be cheap."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an entry, shown as a tab; `roles` empty means everybody who is logged in."""

    entry: str
    title: str
    url_name: str
    order: int = 100
    roles: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    """URL names of other pages that belong to it; addresses below its own do anyway."""
    is_of_portal: bool = False
    """What it shows is of no lake, so that the roles have to be on all lakes."""

    def is_for(self, user: User, lake: str) -> bool:
        """Say whether the person may see the page in the menu of a lake."""
        on = ALL_LAKES if self.is_of_portal else lake
        return not self.roles or bool(self.roles & user.roles_on(on))


@dataclass(frozen=True, slots=True)
class Card:
    """One home card: something that waits for the person, or a number with its trend."""

    kind: Literal["waiting", "number"]
    title: str
    value: str
    url: str
    detail: str = ""
    icon: str = ""
    tone: str = ""
    order: int = 100
    trend: tuple[tuple[str, float], ...] = ()
    next_url: str = ""
    """Where several wait: the page of the one to answer first."""


CardMaker = Callable[[HttpRequest], "Card | None"]

_entries: dict[str, Entry] = {}
_pages: dict[str, Page] = {}
_cards: list[CardMaker] = []


def register_entry(entry: Entry) -> None:
    """Add an entry to the menu; registering the same key again replaces it."""
    _entries[entry.key] = entry


def register_page(page: Page) -> None:
    """Add a page to its entry; registering the same URL name again replaces it."""
    _pages[page.url_name] = page


def register_home_card(card: CardMaker) -> CardMaker:
    """Add a home card; it is asked at every visit and may answer None."""
    if card not in _cards:
        _cards.append(card)
    return card


def menu_for(user: User, lake: str) -> list[tuple[Entry, list[Page]]]:
    """Return the entries of a person on a lake with their pages, in order; none without a page."""
    pages: dict[str, list[Page]] = {}
    for page in sorted(_pages.values(), key=lambda page: (page.order, page.title)):
        if page.is_for(user, lake):
            pages.setdefault(page.entry, []).append(page)
    entries = sorted(_entries.values(), key=lambda entry: entry.order)
    return [(entry, pages[entry.key]) for entry in entries if entry.key in pages]


def pages_for(user: User, lake: str) -> list[Page]:
    """Return every page of the menu of a person on a lake, in the menu's order."""
    return [page for _, pages in menu_for(user, lake) for page in pages]


def cards_for(request: HttpRequest) -> list[Card]:
    """Return the home cards of the person asking: what waits for them first."""
    made = (maker(request) for maker in _cards)
    return sorted(
        (card for card in made if card is not None),
        key=lambda card: (card.kind != "waiting", card.order, card.title),
    )
