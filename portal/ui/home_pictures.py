"""Pictures of the home page. Areas register theirs; each is asked for apart from the page.

A picture reads rows that no number of the page needs, so the page does not wait for it, and one
that fails leaves the others standing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest

from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.ui.charts.figures import Chart


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture; `make` returns None where there is nothing to draw for the person yet."""

    key: str
    title: str
    order: int
    make: Callable[[HttpRequest], Chart | None]
    list_url: Callable[[HttpRequest], str]
    """Address of the list whose rows it counts."""
    roles: frozenset[str] = frozenset()


_pictures: dict[str, Picture] = {}


def register_picture(picture: Picture) -> None:
    """Add a picture to the home page; registering the same key again replaces it."""
    _pictures[picture.key] = picture


def pictures_for(user: User, lake: str) -> list[Picture]:
    """Return the pictures of a person on a lake, in order."""
    roles = user.roles_on(lake)
    mine = [one for one in _pictures.values() if not one.roles or one.roles & roles]
    return sorted(mine, key=lambda picture: (picture.order, picture.key))


def get_picture(key: str, user: User, lake: str) -> Picture:
    """Return one picture of a person.

    Raises:
        NotVisible: there is none of that name for them.
    """
    for picture in pictures_for(user, lake):
        if picture.key == key:
            return picture
    raise NotVisible("page.missing", "There is nothing at this address for you.")
