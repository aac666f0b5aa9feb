"""The guided tour of the demo: five cards on Home, each done once somebody has done it.

It is shown where LAKEWARDEN_TOUR_SINCE says since when; the demo sets it, a real portal does not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from portal.audit.selectors import happened_since
from portal.ui.frame.context import lake_or_none, person

HIDDEN_COOKIE = "lw_tour"


@dataclass(frozen=True, slots=True)
class TourStep:
    """One thing to try; done once one of `actions` stands in the audit log.

    `who` says in words who does it, `users` by their user names, who begins first.
    """

    key: str
    title: str
    text: str
    who: str
    users: tuple[str, ...]
    order: int
    url: Callable[[str], str]
    """The page of a lake where it begins."""
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step as Home shows it; `sign_in_as` names another person, who begins it."""

    step: TourStep
    url: str
    is_done: bool
    sign_in_as: str = ""

    @property
    def log_in_url(self) -> str:
        """The log-in page, from which the step goes on."""
        return f"{reverse('ui:login')}?{urlencode({'next': self.url})}"


_steps: dict[str, TourStep] = {}


def register_tour_step(step: TourStep) -> None:
    """Add a step; registering the same key again replaces it."""
    _steps[step.key] = step


def tour_steps(request: HttpRequest) -> list[ShownStep]:
    """Return the tour's steps in order; none outside the demo, or once a person has hidden it."""
    since, lake = settings.LAKEWARDEN_TOUR_SINCE, lake_or_none(request)
    if not since or lake is None or HIDDEN_COOKIE in request.COOKIES:
        return []
    began = datetime.fromisoformat(since)
    steps = sorted(_steps.values(), key=lambda step: step.order)
    done = happened_since(lake, [action for step in steps for action in step.actions], began)
    user = person(request).username
    return [
        ShownStep(
            step,
            step.url(lake),
            is_done=not done.isdisjoint(step.actions),
            sign_in_as="" if user in step.users else step.users[0],
        )
        for step in steps
    ]
