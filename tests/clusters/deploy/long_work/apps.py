"""Registers the long kind, in whichever release it is copied into."""

from django.apps import AppConfig


class LongWorkConfig(AppConfig):
    """Lies in `lifecycle` of both releases, for only jobs of the areas are started."""

    name = "lifecycle.long_work"
    label = "long_work"

    def ready(self) -> None:
        """Register a kind whose Spark program ends when it is told to."""
        from portal.runs.kinds.registry import RunKind, register

        class Long(RunKind):
            """Waits for the file `until`."""

            name = "test.long"
            title = "Long"
            queue = "scan"
            job = "lifecycle.long_work.jobs"

        register(Long())
