"""The tasks app: it exists so that its management commands are found."""

from django.apps import AppConfig

from portal.notices.kinds import MailKind, register_mail_kinds


class TasksConfig(AppConfig):
    """Registers the app under the label `tasks`."""

    name = "tasks"
    label = "tasks"

    def ready(self) -> None:
        """Name the mails of the audit record."""
        register_mail_kinds(
            MailKind("audit.broken", "Alarm: audit record broken"),
            MailKind("audit.head", "Head of the audit record"),
        )
