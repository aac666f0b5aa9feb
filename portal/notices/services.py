"""How is a person told exactly once, and what happens when the mail server says no?"""

from dataclasses import dataclass
from datetime import date, datetime

from portal.notices.models import Notice


@dataclass(frozen=True, slots=True)
class Mail:
    """What a room wants said; the HTML part is already escaped by its template."""

    subject: str
    text: str
    html: str = ""


def notice_queue(  # noqa: PLR0913 - the agreed interface names them all
    kind: str, *, lake: str, day: date, recipient: str, email: str, mail: Mail, now: datetime
) -> Notice:
    """Queue one mail; again for the same kind, day and person it gives the row that is there."""
    raise NotImplementedError


def notices_send(*, now: datetime, today: date) -> dict[str, int]:
    """Send what is due; gives counts `sent`, `failed`, `retry`. Safe to run twice at once."""
    raise NotImplementedError
