"""Navigation of one request: menu entries, the tabs of the current one, and where the page is."""

from dataclasses import dataclass
from typing import Literal

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from portal.access.models import User
from portal.access.registry import GEAR, Entry, Page, menu_for
from portal.ui.frame.lakes import shown_lake, with_lake

Current = Literal["", "page", "true"]
"""The value of `aria-current`: this page, something above this page, or neither."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One page of an entry."""

    title: str
    url: str
    current: Current


@dataclass(frozen=True, slots=True)
class EntryShown:
    """One entry of the menu, with its address and its badge."""

    title: str
    icon: str
    url: str
    current: Current
    count: int
    tabs: tuple[Tab, ...]

    @property
    def current_tab(self) -> Tab | None:
        """The tab that the page is, or lies under."""
        return next((tab for tab in self.tabs if tab.current), None)


@dataclass(frozen=True, slots=True)
class Menu:
    """What every page shows of the site's structure."""

    entries: tuple[EntryShown, ...] = ()
    gear: EntryShown | None = None

    @property
    def current(self) -> EntryShown | None:
        """The entry that the page belongs to."""
        every = (*self.entries, self.gear) if self.gear else self.entries
        return next((entry for entry in every if entry.current), None)

    @property
    def tabs(self) -> tuple[Tab, ...]:
        """The tabs of the page's entry, where it has more than one; the fold shows the gear's."""
        current = self.current
        if current is None or current is self.gear or len(current.tabs) < 2:
            return ()
        return current.tabs

    @property
    def has_crumb(self) -> bool:
        """Whether the breadcrumbs begin with the entry: not where it would lead to this page."""
        current = self.current
        if current is None or current is self.gear:
            return current is not None
        tab = current.current_tab
        is_here = tab is not None and tab.current == "page" and tab.url == current.url
        return len(current.tabs) > 1 and not is_here

    @property
    def list_above(self) -> Tab | None:
        """The tab that the page lies under; None on the tab itself."""
        tab = self.current.current_tab if self.current else None
        return None if tab is None or tab.current == "page" else tab


def menu_of(request: HttpRequest, user: User) -> Menu:
    """Return the menu of a person as it is on the page that is asked for."""
    found = [(entry, _with_urls(pages)) for entry, pages in menu_for(user, shown_lake(request))]
    current = _current_page(request, [pair for _, pages in found for pair in pages])
    shown = {
        entry.key: _shown(request, entry, pages, current=current) for entry, pages in found if pages
    }
    gear = shown.pop(GEAR, None)
    return Menu(tuple(shown.values()), gear)


def _with_urls(pages: list[Page]) -> list[tuple[Page, str]]:
    """Return pages with their addresses, without those that this site does not serve."""
    found = []
    for page in pages:
        try:
            found.append((page, reverse(page.url_name)))
        except NoReverseMatch:
            continue
    return found


def _current_page(request: HttpRequest, pages: list[tuple[Page, str]]) -> str:
    """Return the address of the page that the request belongs to, nothing where it is unknown."""
    name = request.resolver_match.view_name if request.resolver_match else ""
    for page, url in pages:
        if name and name in page.also:
            return url
    fitting = [
        url
        for _, url in pages
        if request.path == url or (url != "/" and request.path.startswith(url))
    ]
    return max(fitting, key=len, default="")


def _shown(
    request: HttpRequest, entry: Entry, pages: list[tuple[Page, str]], *, current: str
) -> EntryShown:
    here: Current = "page" if request.path == current else "true"
    lake = shown_lake(request)
    tabs = tuple(
        Tab(page.title, with_lake(url, lake), here if url == current else "") for page, url in pages
    )
    return EntryShown(
        title=entry.title,
        icon=entry.icon,
        url=tabs[0].url,
        current=next((tab.current for tab in tabs if tab.current), ""),
        count=entry.count(request) if entry.count else 0,
        tabs=tabs,
    )
