"""The approvals app of the platform."""

from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """Registers the app under the label `approvals`."""

    name = "portal.approvals"
    label = "approvals"

    def ready(self) -> None:
        """Register the mails of comments; imported here, because models must be loaded first."""
        from portal.approvals.comment_mails import register_comment_mails

        register_comment_mails()
