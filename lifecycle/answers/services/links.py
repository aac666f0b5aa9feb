"""Signs the answers that a notice offers as links, and reads such links.

A link says what would be answered, about which table, and to whom it was written. It opens a page
and does nothing by itself; what is done there is done by the right of who is signed in. The same
notice has the same links, so that a mail that is written again says the same.
"""

from datetime import date
from typing import Any

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from lifecycle.answers.domain import AnswerKind, MailLink
from portal.lake.errors import NotVisible

SALT = "lifecycle.answers.mail_link"


def link_path(link: MailLink) -> str:
    """Return the place of a link's page on the portal."""
    said = [
        *(link.lake, link.db, link.table, link.kind.value, link.days, link.username, link.notice),
        link.day.isoformat(),
    ]
    return reverse("lifecycle:answer-link", args=[Signer(salt=SALT).sign_object(said)])


def link_url(link: MailLink) -> str:
    """Return the whole address of a link, as a mail needs it."""
    return f"{settings.LAKEWARDEN_BASE_URL}{link_path(link)}"


def link_read(token: str) -> MailLink:
    """Read what a link says.

    Raises:
        NotVisible: `answers.link` for one that this portal did not write.
    """
    try:
        said: Any = Signer(salt=SALT).unsign_object(token)
        lake, db, table, kind, days, username, notice, day = said
        return MailLink(
            lake, db, table, AnswerKind(kind), int(days), username, notice, date.fromisoformat(day)
        )
    except (BadSignature, ValueError, TypeError):
        raise NotVisible(
            "answers.link",
            "This link was not written by this portal, or it was cut on its way. Copy the whole "
            "link from the mail, or answer on the table's page.",
        ) from None
