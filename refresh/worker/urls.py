"""Addresses of `refresh.worker`: pages and API."""

from django.urls import URLPattern, path

from refresh.worker import ui
from refresh.worker.api import queue as api_queue

ui_urlpatterns: list[URLPattern] = [
    path("queue/", ui.queue, name="queue"),
    path("queue/now/", ui.queue_live, name="queue-live"),
]

api_urlpatterns: list[URLPattern] = [
    path("queue/", api_queue.WaitingList.as_view(), name="queue"),
    path("queue/now/", api_queue.QueueNow.as_view(), name="queue-now"),
]
