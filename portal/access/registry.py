"""Registry of the portal's pages and home cards. Apps register theirs in `AppConfig.ready()`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from django.http import HttpRequest

from portal.access.models import User


@dataclass(frozen=True, slots=True)
class Page:
    """One entry of the navigation; `roles` empty means everybody who is logged in."""

    section: str
    title: str
    url_name: str
    icon: str = "file"
    order: int = 100
    roles: frozenset[str] = frozenset()

    def is_for(self, user: User) -> bool:
        """Say whether the person may see the entry."""
        return not self.roles or bool(self.roles & user.roles)


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


CardMaker = Callable[[HttpRequest], "Card | None"]

_pages: dict[str, Page] = {}
_cards: list[CardMaker] = []


def register_page(page: Page) -> None:
    """Add a page to the navigation; registering the same URL name again replaces it."""
    _pages[page.url_name] = page


def register_home_card(card: CardMaker) -> CardMaker:
    """Add a home card; it is asked at every visit and may answer None."""
    if card not in _cards:
        _cards.append(card)
    return card


def pages_for(user: User) -> list[Page]:
    """Return the navigation of a person, in order of section and page."""
    return sorted(
        (page for page in _pages.values() if page.is_for(user)),
        key=lambda page: (page.order, page.section, page.title),
    )


def cards_for(request: HttpRequest) -> list[Card]:
    """Return the home cards of the person asking: what waits for them first."""
    made = (maker(request) for maker in _cards)
    return sorted(
        (card for card in made if card is not None),
        key=lambda card: (card.kind != "waiting", card.order, card.title),
    )
