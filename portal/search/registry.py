"""Registry of what can be searched, and of pages of objects. Apps register in `ready()`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from portal.access.models import User


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found."""

    title: str
    url: str
    detail: str = ""


class Find(Protocol):
    """Finds what a person may see; a text that cannot mean anything of it finds nothing."""

    def __call__(self, user: User, lake: str, text: str, limit: int) -> Sequence[Hit]:
        """Return no more than `limit` hits, the best first."""
        ...


@dataclass(frozen=True, slots=True)
class SearchSource:
    """One kind of thing that can be searched."""

    key: str
    title: str
    order: int
    find: Find


Key = Mapping[str, Any]
"""What an address has of the object that its page shows."""


class Visible(Protocol):
    """Tells which objects a person may see, in a number of queries that does not grow with them."""

    def __call__(self, user: User, lake: str, keys: Sequence[Key]) -> Sequence[Key]:
        """Return those of the keys whose objects are there for the person."""
        ...


@dataclass(frozen=True, slots=True)
class ObjectPage:
    """A page that shows one object, for the list of what a person opened last."""

    view: str
    """The name of its address."""
    title: Callable[[Key], str]
    """Returns what the object is called, from what the address has of it."""
    visible: Visible
    """Asked each time that the list is shown."""


_sources: dict[str, SearchSource] = {}
_pages: dict[str, ObjectPage] = {}


def register_source(source: SearchSource) -> None:
    """Add a source; registering the same key again replaces it."""
    _sources[source.key] = source


def all_sources() -> list[SearchSource]:
    """Return every source, in order."""
    return sorted(_sources.values(), key=lambda source: (source.order, source.title))


def register_object_page(page: ObjectPage) -> None:
    """Add a page of objects; registering the same address again replaces it."""
    _pages[page.view] = page


def object_page(view: str) -> ObjectPage | None:
    """Return the page of objects with an address of this name, if it is one."""
    return _pages.get(view)
