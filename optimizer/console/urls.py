"""Addresses of `optimizer.console`: pages and API."""

from django.urls import URLPattern, path

from optimizer.console import api
from optimizer.console.ui import cancel, queue

ui_urlpatterns: list[URLPattern] = [
    path("queue/", queue.queue, name="queue"),
    path("queue/now/", queue.queue_live, name="queue-live"),
    path("tasks/<int:task_id>/cancel/", cancel.cancel, name="task-cancel"),
]

api_urlpatterns: list[URLPattern] = [
    path("queue/", api.WaitingList.as_view(), name="queue"),
    path("queue/now/", api.QueueNow.as_view(), name="queue-now"),
    path("tasks/<int:task_id>/cancel/", api.TaskCancel.as_view(), name="task-cancel"),
]
