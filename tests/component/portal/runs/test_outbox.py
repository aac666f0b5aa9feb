"""Messages survive a broker that is gone: a real address where nobody listens, then a real send."""

from datetime import datetime, timedelta

import pytest

from portal.lake.errors import ExternalFailure
from portal.runs.models import Outbox
from portal.runs.outbox.services import outbox_add, outbox_forget, outbox_publish
from portal.runs.requests.selectors import broker_problem
from tasks.celery import make_app
from tasks.relay import sender

pytestmark = pytest.mark.django_db


def test_what_is_due_is_sent_in_order_and_once(now: datetime) -> None:
    for n in range(3):
        outbox_add("run", row_id=str(n), queue="scan", now=now)
    outbox_add("run", row_id="later", queue="scan", now=now, not_before=now + timedelta(minutes=1))
    sent: list[str] = []

    def note(row: Outbox) -> None:
        sent.append(row.row_id)

    assert outbox_publish(note, now=now).n_published == 3
    assert outbox_publish(note, now=now).n_published == 0
    assert outbox_publish(note, now=now + timedelta(minutes=1)).n_published == 1
    assert sent == ["0", "1", "2", "later"]
    assert outbox_forget(now + timedelta(days=2)) == 4


def test_a_broker_that_refuses_keeps_the_rows_and_says_so(now: datetime) -> None:
    outbox_add("notice", row_id="1", queue="mail", now=now)
    outbox_add("notice", row_id="2", queue="mail", now=now)
    gone = ExternalFailure("broker.gone", "Nobody there.", service="broker", retryable=True)

    def refuse(row: Outbox) -> None:
        raise gone

    assert outbox_publish(refuse, now=now) == (0, "Nobody there.")
    assert broker_problem() == "Nobody there."
    sent: list[str] = []
    again = outbox_publish(lambda row: sent.append(row.row_id), now=now + timedelta(seconds=1))
    assert again == (2, "")
    assert broker_problem() == ""


def test_a_redis_that_is_gone_keeps_the_rows(now: datetime) -> None:
    row = outbox_add("notice", row_id="1", queue="mail", now=now)
    nobody_there = sender(make_app("redis://127.0.0.1:1/0"))
    assert outbox_publish(nobody_there, now=now).n_published == 0
    row.refresh_from_db()
    assert (row.published_at, row.n_attempts) == (None, 1)
    assert "does not take messages" in broker_problem()
