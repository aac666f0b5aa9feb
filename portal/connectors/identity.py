"""What a log-in server says of a person, in one form whichever server said it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Identity:
    """Who somebody is: `subject` never changes, the rest may.

    `groups` is None where the server sent none at all, which is another mistake than no group.
    `authenticated_at` is when the server saw proof of who they are; None when it does not say.
    """

    subject: str
    username: str
    name: str = ""
    email: str = ""
    groups: frozenset[str] | None = None
    authenticated_at: datetime | None = None
