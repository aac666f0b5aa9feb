"""The audit app of the platform."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """Registers the app under the label `audit`."""

    name = "portal.audit"
    label = "audit"
