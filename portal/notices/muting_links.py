"""Links by which a mail of a kind that may be turned off is turned off (RFC 8058, ADR 0043).

A mail has two. The one in its headers is for the mail program, which posts to it without signing
in; it names the mail and works once. The one in its text is for the person: it opens a filled-in
page, needs their sign-in, and so does nothing in the hands of whom the mail was forwarded to.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.urls import reverse

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from portal.notices.kinds import MailKind, mail_kind_of
from portal.notices.models import Notice
from portal.notices.muting import mail_kind_mute, muted_by

GOOD_FOR = timedelta(days=60)
ONE_CLICK = ("List-Unsubscribe", "One-Click")
_PERSON, _PROGRAM = "notices.muting.person", "notices.muting.program"


@dataclass(frozen=True, slots=True)
class MutingLink:
    """What the link in a mail's text says: whose mails of which kind, and the day of the mail."""

    username: str
    kind: str
    day: date

    @property
    def last_day(self) -> date:
        """The last day on which the link is good."""
        return self.day + GOOD_FOR


def muting_path(link: MutingLink) -> str:
    """Return the place of the page that turns a kind off."""
    said = [link.username, link.kind, link.day.isoformat()]
    return reverse("ui:mail-off", args=[Signer(salt=_PERSON).sign_object(said)])


def muting_url(link: MutingLink) -> str:
    """Return the whole address of that page, as a mail needs it."""
    return f"{settings.LAKEWARDEN_BASE_URL}{muting_path(link)}"


def muting_link_read(token: str, *, user: User, today: date) -> tuple[MutingLink, MailKind]:
    """Read the link of a mail's text for who is signed in.

    Raises:
        NotVisible: `mail.link`, this portal did not write it.
        NotAllowed: `mail.not_yours`, the mail was written to somebody else.
        RuleViolation: `mail.link_expired` or `mail.kind`.
    """
    said = _unsigned(token, salt=_PERSON)
    try:
        link = MutingLink(said[0], said[1], date.fromisoformat(said[2]))
    except (ValueError, TypeError, IndexError):
        raise _not_ours() from None
    if link.username != user.username:
        raise NotAllowed(
            "mail.not_yours",
            f"This link is from a mail to {link.username}; you are signed in as {user.username}, "
            "so nothing was changed. What is mailed to you is chosen on your own profile.",
        )
    return link, _mutable(link.kind, link.day, today=today)


def one_click_headers(notice: Notice) -> dict[str, str]:
    """Return the headers of a mail that a program can turn off; none where it must be sent.

    A program may post to HTTPS addresses only, so others are offered for opening alone.
    """
    kind = mail_kind_of(notice.kind)
    if kind is None or not kind.may_be_muted:
        return {}
    token = Signer(salt=_PROGRAM).sign_object([str(notice.pk)])
    url = f"{settings.LAKEWARDEN_BASE_URL}{reverse('ui:mail-one-click', args=[token])}"
    headers = {"List-Unsubscribe": f"<{url}>"}
    if url.startswith("https://"):
        headers["List-Unsubscribe-Post"] = "=".join(ONE_CLICK)
    return headers


def one_click_page(token: str) -> str:
    """Return the page that a person is shown who opens a link meant for programs.

    Raises:
        NotVisible: `mail.link`, this portal did not write it, or the mail is not known any more.
    """
    notice = _notice(token)
    kind = mail_kind_of(notice.kind)
    name = kind.name if kind is not None else notice.kind
    return muting_path(MutingLink(notice.recipient, name, notice.day))


def one_click_mute(token: str, *, now: datetime) -> MailKind:
    """Turn off the kind of a mail for its recipient; again it changes nothing.

    Raises:
        NotVisible: `mail.link`, or its recipient has left.
        RuleViolation: `mail.link_expired` or `mail.kind`.
        StaleState: `mail.link_used`, the person turned the kind on again after the link was used.
    """
    notice = _notice(token)
    kind = _mutable(notice.kind, notice.day, today=day_of(now, get_lake(notice.lake).zone))
    user = User.objects.filter(username=notice.recipient, is_active=True).first()
    if user is None:
        raise _not_ours()
    with transaction.atomic():
        if not Notice.objects.filter(pk=notice.pk, muted_at=None).update(muted_at=now):
            if kind.name in muted_by(user):
                return kind
            raise StaleState(
                "mail.link_used",
                f"This link was used before, and '{kind.title}' was turned on again since. Use the "
                "link of a newer mail, or the profile.",
            )
        if mail_kind_mute(user, kind.name):
            audit_record(
                "mail.muted",
                actor=user.username,
                lake=notice.lake,
                object_type="notice",
                object_id=str(notice.pk),
                data={"kind": kind.name, "by": "one-click link"},
                now=now,
            )
    return kind


# -- inside ----------------------------------------------------------------------------------


def _mutable(name: str, day: date, *, today: date) -> MailKind:
    kind = mail_kind_of(name)
    if kind is None or not kind.may_be_muted:
        title = kind.title if kind is not None else name
        raise RuleViolation("mail.kind", f"Mails of the kind '{title}' cannot be turned off.")
    last = day + GOOD_FOR
    if today > last:
        raise RuleViolation(
            "mail.link_expired",
            f"This link of {day} was good until {last}. Use the link of a newer mail, or the "
            "profile.",
        )
    return kind


def _notice(token: str) -> Notice:
    said = _unsigned(token, salt=_PROGRAM)
    try:
        key = UUID(said[0])
    except (ValueError, TypeError, AttributeError, IndexError):
        raise _not_ours() from None
    notice = Notice.objects.defer("text", "html").filter(pk=key).first()
    if notice is None:
        raise _not_ours()
    return notice


def _unsigned(token: str, *, salt: str) -> list[Any]:
    try:
        said: Any = Signer(salt=salt).unsign_object(token)
    except (BadSignature, ValueError):
        raise _not_ours() from None
    if not isinstance(said, list):
        raise _not_ours()
    return said


def _not_ours() -> NotVisible:
    return NotVisible(
        "mail.link",
        "This link was not written by this portal, was cut on its way, or its mail is not known "
        "any more. Copy the whole link from the mail, or choose your mails on your profile.",
    )
