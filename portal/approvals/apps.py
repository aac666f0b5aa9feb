"""The approvals app of the platform."""

from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """Registers the app under the label `approvals`."""

    name = "portal.approvals"
    label = "approvals"
