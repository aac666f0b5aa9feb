"""Turns outbox rows into messages, also after the broker was unavailable for a while."""

import logging
from datetime import datetime

from celery import Celery
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from portal.lake.errors import ExternalFailure
from portal.runs.models import Outbox
from portal.runs.outbox.services import Send, outbox_publish
from tasks.celery import app

_log = logging.getLogger(__name__)
_last_problem = [""]


def relay(now: datetime) -> None:
    """Publish what is due; a broker that is gone is logged once and asked again every turn."""
    published = outbox_publish(sender(app), now=now)
    if published.problem != _last_problem[0]:
        _log.warning("broker: %s", published.problem or "answers again")
        _last_problem[0] = published.problem


def sender(through: Celery) -> Send:
    """Return what sends one hint; it raises ExternalFailure when the broker does not take it."""

    def send(row: Outbox) -> None:
        try:
            through.send_task(f"tasks.{row.topic}", args=[row.row_id], queue=row.queue, retry=False)
        except (KombuError, RedisError, OSError) as error:
            raise ExternalFailure(
                "broker.gone",
                f"The message broker does not take messages: {error}.",
                service="broker",
                retryable=True,
            ) from error

    return send
