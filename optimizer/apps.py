"""Registers the optimizer room with the platform."""

from django.apps import AppConfig


class OptimizerConfig(AppConfig):
    """The optimizer room."""

    name = "optimizer"
    label = "optimizer"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what this room adds; imported here, because models must be loaded first."""
        from optimizer.selectors import hudi_numbers, numbers
        from optimizer.services import (
            hearing,
            hudi_kinds,
            hudi_observe_kinds,
            hudi_queueing,
            observe_kinds,
            polling,
            quarantine_kinds,
            queueing,
            removal_kinds,
            task_kinds,
        )
        from optimizer.ui import nav
        from portal.access.scopes import Scope, register_scope

        hearing.register_subscriber()
        polling.register_poll_kind()
        observe_kinds.register_observe_kind(queueing.decide_due)
        hudi_observe_kinds.register_observe_hudi_kind(hudi_queueing.hudi_decide)
        task_kinds.register_task_kinds()
        removal_kinds.register_removal_kinds()
        quarantine_kinds.register_quarantine_kinds()
        hudi_kinds.register_hudi_kinds()
        nav.register_pages()
        numbers.register_gauges()
        hudi_numbers.register_hudi_gauges()
        register_scope(Scope("optimizer", "Report what was committed to Iceberg tables."))
