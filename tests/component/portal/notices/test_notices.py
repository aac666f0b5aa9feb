"""Mails by a real SMTP server: once a person and day, refusals shown, nothing smuggled in."""

import threading
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.audit.models import AuditEvent
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.notices.models import Notice, NoticeState
from portal.notices.selectors import notices_for_user
from portal.notices.services import (
    MAX_ATTEMPTS,
    Mail,
    notice_queue,
    notice_retry,
    notice_send,
    notices_send,
    notices_unstick,
)
from portal.runs.models import Outbox
from tests.component.conftest import LAKE, People
from tests.support.mailbox import Mailbox, mail_server

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 20)


@pytest.fixture
def box(settings: Any) -> Iterator[Mailbox]:
    """A mail server that the portal sends to."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with mail_server() as (mailbox, host, port):
        settings.EMAIL_HOST, settings.EMAIL_PORT = host, port
        yield mailbox


def queue(now: datetime, *, to: str = "olga", email: str = "", **mail: str) -> Notice:
    return notice_queue(
        "week-ahead",
        lake=LAKE,
        day=TODAY,
        recipient=to,
        email=email or f"{to}@example.org",
        mail=Mail(**{"subject": "Data expires", "text": "Look.", "html": "<p>Look.</p>", **mail}),
        now=now,
    )


def test_a_notice_is_really_sent_once(now: datetime, box: Mailbox) -> None:
    notice = queue(now)
    assert queue(now).pk == notice.pk
    assert Outbox.objects.get(topic="notice").row_id == str(notice.pk)
    assert notices_send(now=now, today=TODAY) == {"sent": 1, "failed": 0, "retry": 0}
    assert notices_send(now=now, today=TODAY) == {"sent": 0, "failed": 0, "retry": 0}
    assert notice_send(notice.pk, now=now, today=TODAY) == ""
    notice.refresh_from_db()
    assert (notice.state, notice.sent_on, notice.attempts) == (NoticeState.SENT, TODAY, 1)
    (message,) = box.to("olga@example.org")
    assert message["Message-ID"] == notice.message_id
    assert message["Subject"] == "Data expires"
    assert [part.get_content_type() for part in message.walk()] == [
        "multipart/alternative",
        "text/plain",
        "text/html",
    ]


def test_days_kinds_and_people_each_get_their_own(now: datetime, box: Mailbox) -> None:
    queue(now)
    queue(now, to="dora")
    assert notices_send(now=now, today=TODAY)["sent"] == 2


def test_a_refused_address_is_shown_and_can_be_mended(
    now: datetime, box: Mailbox, people: People
) -> None:
    box.refuse = {"olga@example.org": "550 No such user"}
    notice = queue(now)
    queue(now, to="dora")
    assert notices_send(now=now, today=TODAY) == {"sent": 1, "failed": 1, "retry": 0}
    assert list(Notice.objects.filter(lake=LAKE, state=NoticeState.FAILED)) == [notice]
    notice.refresh_from_db()
    assert "550 No such user" in notice.error
    said: dict[str, Any] = {"user": people.operator, "email": "olga@new.example.org", "now": now}
    with pytest.raises(NotAllowed):
        notice_retry(notice.pk, **(said | {"user": people.owner}))
    with pytest.raises(RuleViolation):
        notice_retry(notice.pk, **(said | {"email": "olga@example.org\r\nBcc: eve@example.org"}))
    notice_retry(notice.pk, **said)
    assert AuditEvent.objects.get(action="notice.retried").actor == "otto"
    assert notices_send(now=now, today=TODAY)["sent"] == 1
    assert box.kept[-1]["Message-ID"] == notice.message_id
    assert queue(now).pk == notice.pk, "still one mail of this kind, day and person"
    with pytest.raises(StaleState):
        notice_retry(notice.pk, **said)


def test_a_server_that_is_busy_is_tried_later_with_the_same_message_id(
    now: datetime, box: Mailbox
) -> None:
    box.answer = "451 Try later"
    notice = queue(now)
    assert notices_send(now=now, today=TODAY) == {"sent": 0, "failed": 0, "retry": 1}
    assert notices_send(now=now, today=TODAY)["retry"] == 0
    box.answer = "250 Kept"
    later = now + timedelta(hours=1)
    assert notices_send(now=later, today=TODAY)["sent"] == 1
    assert [message["Message-ID"] for message in box.kept] == [notice.message_id]


def test_a_server_that_is_gone_fails_in_the_end_and_says_why(now: datetime, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    notice = queue(now)
    results = [
        notices_send(now=now + timedelta(days=n), today=TODAY) for n in range(MAX_ATTEMPTS + 1)
    ]
    assert [result["retry"] for result in results] == [1] * (MAX_ATTEMPTS - 1) + [0, 0]
    notice.refresh_from_db()
    assert notice.state == NoticeState.FAILED
    assert "did not answer" in notice.error


@pytest.mark.parametrize("email", ["", "no address", "a@b@c", "x@y.example\r\nBcc: eve@z.example"])
def test_who_has_no_address_is_shown_not_lost(now: datetime, email: str) -> None:
    notice = notice_queue(
        "k", lake=LAKE, day=TODAY, recipient="x", email=email, mail=Mail("s", "t"), now=now
    )
    assert notice.state == NoticeState.FAILED
    assert notice.error
    assert not Outbox.objects.exists()


@pytest.mark.parametrize("subject", ["a\nBcc: eve@z.example", "a\rb", "a\0b"])
def test_a_header_cannot_be_smuggled_in(now: datetime, subject: str) -> None:
    with pytest.raises(RuleViolation):
        queue(now, subject=subject)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    subject=st.text(max_size=80).filter(lambda text: not set(text) & set("\r\n\0")),
    text=st.text(max_size=200),
)
def test_whatever_a_table_is_called_only_its_owner_gets_the_mail(
    now: datetime, box: Mailbox, subject: str, text: str
) -> None:
    Notice.objects.all().delete()
    box.kept.clear()
    try:
        queue(now, subject=subject, text=text)
    except RuleViolation:
        return
    counts = notices_send(now=now, today=TODAY)
    assert counts["sent"] + counts["failed"] == 1
    for message in box.kept:
        assert message["To"] == "olga@example.org"
        assert message["Bcc"] is None
        assert message["Cc"] is None


def test_what_a_dead_sender_left_is_sent_again(now: datetime, box: Mailbox) -> None:
    notice = queue(now)
    Notice.objects.filter(pk=notice.pk).update(state=NoticeState.SENDING, claimed_at=now)
    assert notices_unstick(now + timedelta(minutes=4)) == 0
    assert notices_unstick(now + timedelta(minutes=5)) == 1
    assert notices_send(now=now + timedelta(minutes=5), today=TODAY)["sent"] == 1
    notice.refresh_from_db()
    assert notice.n_repeats == 1


def test_a_repeat_is_counted_only_when_the_answer_was_lost(now: datetime, box: Mailbox) -> None:
    box.answer = "451 Try later"
    notice = queue(now)
    notices_send(now=now, today=TODAY)
    notice.refresh_from_db()
    assert (notice.attempts, notice.n_repeats) == (1, 0)

    box.answer, box.breaks_off = "250 Kept", True
    later = now + timedelta(hours=1)
    assert notices_send(now=later, today=TODAY)["retry"] == 1
    box.breaks_off = False
    assert notices_send(now=later + timedelta(hours=1), today=TODAY)["sent"] == 1
    notice.refresh_from_db()
    assert (notice.state, notice.attempts, notice.n_repeats) == (NoticeState.SENT, 3, 1)
    assert [message["Message-ID"] for message in box.kept] == [notice.message_id] * 2


def test_one_mail_that_breaks_off_leaves_the_next_alone(now: datetime, box: Mailbox) -> None:
    queue(now, to="dora")
    queue(now)
    box.breaks_off_once = True
    assert notices_send(now=now, today=TODAY) == {"sent": 1, "failed": 0, "retry": 1}
    assert sorted(Notice.objects.values_list("n_repeats", flat=True)) == [0, 1]


def test_a_mail_that_kills_its_senders_is_given_up(now: datetime) -> None:
    notice = queue(now)
    Notice.objects.update(state=NoticeState.SENDING, claimed_at=now, attempts=MAX_ATTEMPTS)
    assert notices_unstick(now + timedelta(minutes=5)) == 0
    assert list(Notice.objects.filter(lake=LAKE, state=NoticeState.FAILED)) == [notice]


def test_a_message_that_the_broker_lost_is_written_again(now: datetime) -> None:
    queue(now)
    Outbox.objects.update(published_at=now)
    notices_unstick(now + timedelta(minutes=5))
    notices_unstick(now + timedelta(minutes=6))
    assert Outbox.objects.filter(published_at=None).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_senders_at_once_send_each_mail_once(now: datetime, box: Mailbox) -> None:
    for n in range(20):
        queue(now, to=f"p{n}")
    barrier = threading.Barrier(3)
    sent: list[int] = []

    def send() -> None:
        barrier.wait()
        sent.append(notices_send(now=now, today=TODAY)["sent"])
        connection.close()

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(sent) == 20
    assert len({message["Message-ID"] for message in box.kept}) == len(box.kept) == 20


def test_a_person_sees_their_own_notices(now: datetime, people: People) -> None:
    queue(now)
    queue(now, to="dora")
    assert notices_for_user(people.admin).count() == 2
    assert [notice.recipient for notice in notices_for_user(people.owner)] == ["olga"]
    assert not notices_for_user(people.stranger).exists()
