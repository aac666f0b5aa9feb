"""Sends each notification exactly once, and handles refusals by the mail server.

The row is claimed (SENDING) before the server is spoken to and closed after its answer. A crash in
between leaves SENDING; it is sent again with the same Message-ID, so a mail reader can tell.
"""

import smtplib
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from email.utils import parseaddr
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import IntegrityError, transaction
from django.db.models import F, Q

from portal.access.lakes import several_lakes
from portal.access.models import User
from portal.access.roles.domain import ALL_LAKES
from portal.audit.services import audit_record
from portal.lake.errors import (
    ExternalFailure,
    NotAllowed,
    NotVisible,
    PortalError,
    RuleViolation,
    StaleState,
)
from portal.notices.addresses import address_problem
from portal.notices.chat_messages import ChatMessage, chat_body
from portal.notices.models import Notice, NoticeState
from portal.notices.muting_links import one_click_headers
from portal.notices.webhook import has_webhook, webhook_post
from portal.reliability.claims import claim
from portal.reliability.retry import backoff
from portal.runs.outbox.services import outbox_add

NOTICE = "notice"
QUEUE = "mail"
WEBHOOK = "#webhook"  # in place of a user name, which cannot begin like this
MAX_ATTEMPTS = 5
STUCK_AFTER = timedelta(minutes=5)
_PREFIX = "[Lakewarden] "
_OF_THE_PORTAL = "audit."
"""Kinds of mail that speak of no lake; they lie with the first one's."""
_FIRST_RETRY = timedelta(minutes=1)
_LAST_RETRY = timedelta(hours=1)
_PER_CONNECTION = 100
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Mail:
    """What a room wants said; the HTML part is already escaped by its template."""

    subject: str
    text: str
    html: str = ""


def notice_queue(  # noqa: PLR0913 - the agreed interface names them all
    kind: str, *, lake: str, day: date, recipient: str, email: str, mail: Mail, now: datetime
) -> Notice:
    """Queue one mail; again for the same kind, day and person it gives the row that is there.

    An address that no mail can go to makes a FAILED row: it is shown, not lost.

    Raises:
        RuleViolation: a line break in the subject (a header could be smuggled in).
    """
    if any(mark in mail.subject for mark in "\r\n\0"):
        raise RuleViolation("notice.header", "A subject is one line; take the line break out.")
    known = Notice.objects.filter(lake=lake, kind=kind, day=day, recipient=recipient).first()
    if known is not None:
        return known
    problem = "" if recipient == WEBHOOK else address_problem(email)
    if several_lakes() and not kind.startswith(_OF_THE_PORTAL):
        mail = _with_lake(mail, lake)
    row_id = uuid4()
    notice = Notice(
        id=row_id,
        lake=lake,
        kind=kind,
        day=day,
        recipient=recipient,
        email="" if problem else email,
        subject=mail.subject[:250],
        text=mail.text,
        html=mail.html,
        message_id=f"<{row_id}@{_mail_domain()}>",
        state=NoticeState.FAILED if problem else NoticeState.QUEUED,
        error=problem,
        queued_at=now,
        not_before=now,
    )
    try:
        with transaction.atomic():
            notice.save(force_insert=True)
            if not problem:
                outbox_add(NOTICE, row_id=str(row_id), queue=QUEUE, now=now)
    except IntegrityError:
        return Notice.objects.get(lake=lake, kind=kind, day=day, recipient=recipient)
    return notice


def webhook_queue(kind: str, *, lake: str, day: date, text: str, now: datetime) -> Notice | None:
    """Queue one line to the team's chat, once a kind and day; None where no webhook is set."""
    if not has_webhook():
        return None
    mail = Mail(subject=text.partition("\n")[0][:250], text=text)
    return notice_queue(kind, lake=lake, day=day, recipient=WEBHOOK, email="", mail=mail, now=now)


def notices_send(*, now: datetime, today: date, lake: str | None = None) -> dict[str, int]:
    """Send what is due; gives counts `sent`, `failed`, `retry`. Safe to run twice at once."""
    counts = {"sent": 0, "failed": 0, "retry": 0}
    due = Notice.objects.filter(state=NoticeState.QUEUED, not_before__lte=now)
    if lake is not None:
        due = due.filter(lake=lake)
    ids = list(due.order_by("not_before", "id").values_list("id", flat=True)[:_BATCH])
    for start in range(0, len(ids), _PER_CONNECTION):
        connection = _open_connection()
        try:
            for row_id in ids[start : start + _PER_CONNECTION]:
                notice = _claim(row_id, now=now)
                if notice is not None:
                    counts[_send(notice, connection, now=now, today=today)] += 1
        finally:
            connection.close()
    return counts


def notice_send(notice_id: UUID | str, *, now: datetime, today: date) -> str:
    """Send one notice if it is due; gives `sent`, `failed`, `retry`, or `` when nothing was to do.

    Called twice, at once too, the mail goes once.
    """
    notice = _claim(notice_id, now=now)
    if notice is None:
        return ""
    connection = _open_connection()
    try:
        return _send(notice, connection, now=now, today=today)
    finally:
        connection.close()


@transaction.atomic
def notice_retry(notice_id: UUID | str, *, user: User, email: str = "", now: datetime) -> Notice:
    """Queue a failed notice once more, to a repaired address where one is given.

    The row, its day and its Message-ID stay, so that nobody is written to twice of the same thing.
    Asked again before it is sent it is StaleState.

    Raises:
        NotAllowed: for anyone but an admin or operator.
        NotVisible: there is no notice of that id.
        RuleViolation: the address is none.
        StaleState: it has not failed, or somebody tried it again just now.
    """
    notice = Notice.objects.filter(pk=notice_id).first()
    # Before it is said whether there is one, so that a refusal tells nothing of other lakes.
    if not user.is_lake_staff_of(ALL_LAKES if notice is None else notice.lake):
        raise NotAllowed("notice.role", "Admins and operators have a mail sent again; ask one.")
    if notice is None:
        raise NotVisible("notice.unknown", "There is no mail of that id for you.")
    email = email.strip() or notice.email
    problem = "" if notice.recipient == WEBHOOK else address_problem(email)
    if problem:
        raise RuleViolation("notice.address", problem)
    failed = Notice.objects.filter(pk=notice.pk, state=NoticeState.FAILED)
    changes = {"state": NoticeState.QUEUED, "email": email, "attempts": 0, "error": ""}
    if not failed.update(**changes, not_before=now):
        raise StaleState("notice.not_failed", "It has not failed, or is tried again already.")
    outbox_add(NOTICE, row_id=str(notice.pk), queue=QUEUE, now=now)
    audit_record(
        "notice.retried",
        actor=user.username,
        lake=notice.lake,
        object_type="notice",
        object_id=str(notice.pk),
        data={"recipient": notice.recipient, "kind": notice.kind, "error": notice.error},
        now=now,
    )
    notice.refresh_from_db()
    return notice


def notices_unstick(now: datetime) -> int:
    """Queue again what a dead sender left in SENDING, and repeat messages that were lost."""
    stuck = Notice.objects.filter(state=NoticeState.SENDING, claimed_at__lte=now - STUCK_AFTER)
    n_stuck = 0
    # One at a time by key, as senders claim them: a search would lock them the other way round.
    for row_id, attempts in list(stuck.values_list("id", "attempts")):
        if attempts >= MAX_ATTEMPTS:
            error = "Its senders died; it is not tried again."
            stuck.filter(pk=row_id).update(state=NoticeState.FAILED, error=error)
        else:
            error = "Its sender died; sent again."
            n_stuck += stuck.filter(pk=row_id).update(
                state=NoticeState.QUEUED, not_before=now, error=error, n_repeats=F("n_repeats") + 1
            )
    lost = Notice.objects.filter(
        Q(state=NoticeState.QUEUED) & Q(not_before__lte=now - STUCK_AFTER)
    ).values_list("id", flat=True)[:_BATCH]
    for row_id in list(lost):
        with transaction.atomic():
            Notice.objects.filter(pk=row_id, state=NoticeState.QUEUED).update(not_before=now)
            outbox_add(NOTICE, row_id=str(row_id), queue=QUEUE, now=now)
    return n_stuck


def _with_lake(mail: Mail, lake: str) -> Mail:
    """Name the lake in the subject, and in a line for a chat, which is its own subject."""
    own = mail.subject.removeprefix(_PREFIX)
    subject = f"[Lakewarden {lake}] {own}" if own != mail.subject else f"{lake}: {own}"
    is_line = mail.text.startswith(mail.subject)
    text = f"{lake}: {mail.text}" if is_line else mail.text
    return replace(mail, subject=subject, text=text)


def _mail_domain() -> str:
    return urlsplit(settings.LAKEWARDEN_BASE_URL).hostname or "lakewarden"


def _open_connection() -> BaseEmailBackend:
    connection: BaseEmailBackend = get_connection(fail_silently=False)
    return connection


def _claim(notice_id: UUID | str, *, now: datetime) -> Notice | None:
    free = Notice.objects.filter(pk=notice_id, state=NoticeState.QUEUED, not_before__lte=now)
    if not claim(free, state=NoticeState.SENDING, claimed_at=now, attempts=F("attempts") + 1):
        return None
    return Notice.objects.get(pk=notice_id)


def _send(notice: Notice, connection: BaseEmailBackend, *, now: datetime, today: date) -> str:
    is_handed_over = False
    try:
        if notice.recipient == WEBHOOK:
            said = ChatMessage(notice.lake, notice.kind, notice.day.isoformat(), notice.text)
            webhook_post(chat_body(said, settings.LAKEWARDEN_WEBHOOK_SHAPE))
        else:
            connection.open()
            message = _message(notice, connection)
            is_handed_over = True
            message.send(fail_silently=False)
    except PortalError as error:
        return _refused(notice, error, is_unsure=_is_broken_off(error), now=now)
    except (smtplib.SMTPException, OSError, ValueError) as error:
        connection.close()  # the next mail of the batch begins on a line that is known to work
        return _refused(notice, error, is_unsure=is_handed_over and _is_broken_off(error), now=now)
    Notice.objects.filter(pk=notice.pk).update(
        state=NoticeState.SENT, sent_at=now, sent_on=today, error=""
    )
    return "sent"


def _message(notice: Notice, connection: BaseEmailBackend) -> EmailMultiAlternatives:
    message = EmailMultiAlternatives(
        subject=notice.subject,
        body=notice.text,
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[parseaddr(notice.email)[1]],
        headers={
            "Message-ID": notice.message_id,
            "Auto-Submitted": "auto-generated",
            **one_click_headers(notice),
        },
        connection=connection,
    )
    if notice.html:
        message.attach_alternative(notice.html, "text/html")
    return message


def _refused(notice: Notice, error: Exception, *, is_unsure: bool, now: datetime) -> str:
    """A refusal for good ends it and is shown; anything else is tried again, each time later.

    `is_unsure`: the server may have taken it and its answer was lost, so the next try may be a
    repeat; it is counted as one.
    """
    is_final = _is_permanent(error) or notice.attempts >= MAX_ATTEMPTS
    again = now + backoff(notice.attempts, first=_FIRST_RETRY, longest=_LAST_RETRY)
    Notice.objects.filter(pk=notice.pk).update(
        state=NoticeState.FAILED if is_final else NoticeState.QUEUED,
        not_before=again,
        error=_words(error)[:500],
        n_repeats=F("n_repeats") + int(is_unsure and not is_final),
    )
    if not is_final:
        outbox_add(NOTICE, row_id=str(notice.pk), queue=QUEUE, now=now, not_before=again)
    return "failed" if is_final else "retry"


def _is_broken_off(error: Exception) -> bool:
    """Whether the line went in the middle, so that nobody knows what the server did."""
    if isinstance(error, PortalError):
        return error.code == "webhook.lost"
    if isinstance(error, smtplib.SMTPException):
        return isinstance(error, smtplib.SMTPServerDisconnected)
    return isinstance(error, OSError)


def _is_permanent(error: Exception) -> bool:
    if isinstance(error, PortalError):
        return not (isinstance(error, ExternalFailure) and error.retryable)
    if isinstance(error, ValueError):
        return True  # the mail itself cannot be written, however often it is tried
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, smtplib.SMTPResponseException) and 550 <= error.smtp_code < 560


def _words(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, said = next(iter(error.recipients.values()))
        return f"The mail server refused the address: {code} {said.decode(errors='replace')}"
    if isinstance(error, smtplib.SMTPResponseException):
        answer = error.smtp_error
        text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
        return f"The mail server refused the mail: {error.smtp_code} {text}"
    if isinstance(error, PortalError):
        return error.message
    if isinstance(error, ValueError):
        return f"The mail cannot be written: {error}"
    return f"The mail server did not answer: {error}"
