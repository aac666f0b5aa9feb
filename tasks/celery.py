"""Celery app that delivers messages to workers. There is one; the broker only carries hints.

Start workers by queue, so that a restore never waits behind other work:
`celery -A tasks.celery worker -Q restore` beside `-Q scan,destructive,plan,mail,default`.
"""

import os

from celery import Celery
from celery.app.amqp import AMQP
from django.conf import settings
from kombu import Queue

from portal.servers.redis import BrokerConnection, tls_options

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.development")

QUEUES = ("scan", "destructive", "restore", "plan", "mail", "default")
VISIBILITY_SECONDS = 3600
_SOCKET_SECONDS = 3

_transport = {
    "visibility_timeout": VISIBILITY_SECONDS,
    "socket_connect_timeout": _SOCKET_SECONDS,
    "socket_timeout": 30,
}


class _Amqp(AMQP):
    """Opens connections that read the password of the broker from its file."""

    Connection = BrokerConnection


def make_app(broker_url: str) -> Celery:
    """Return the app as configured for a broker."""
    made = Celery("lakewarden", amqp=_Amqp)
    made.conf.update(
        broker_url=broker_url,
        broker_use_ssl=tls_options() or None,
        broker_transport_options=_transport,
        result_backend_transport_options=_transport,
        visibility_timeout=VISIBILITY_SECONDS,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        task_ignore_result=True,
        task_serializer="json",
        result_serializer="json",
        event_serializer="json",
        accept_content=["json"],
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_track_started=False,
        task_default_queue="default",
        task_queues=[Queue(name) for name in QUEUES],
        task_create_missing_queues=False,
        # Nothing here may take long: Spark is submitted, then polled by `manage.py supervise`.
        task_soft_time_limit=540,
        task_time_limit=600,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        worker_soft_shutdown_timeout=10.0,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        timezone="UTC",
        imports=["tasks.base"],
    )
    return made


app = make_app(settings.LAKEWARDEN_REDIS_URL)
