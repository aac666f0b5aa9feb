"""The tasks app: it exists so that its management commands are found."""

from django.apps import AppConfig


class TasksConfig(AppConfig):
    """Registers the app under the label `tasks`."""

    name = "tasks"
    label = "tasks"
