"""Addresses of `lifecycle.answers`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.answers import api
from lifecycle.answers.ui import bulk, mail_link, partitions

ui_urlpatterns: list[URLPattern] = [
    path("answers/", bulk.answers, name="answers"),
    path(
        "tables/<name:db>/<name:table>/partitions/answers/",
        partitions.partition_answers,
        name="partition-answers",
    ),
    path("answers/mail/<str:token>/", mail_link.answer_link, name="answer-link"),
]

api_urlpatterns: list[URLPattern] = [
    path("answers/", api.Answers.as_view(), name="answers"),
    path(
        "tables/<name:db>/<name:table>/answers/",
        api.PartitionAnswers.as_view(),
        name="partition-answers",
    ),
]
