"""Registers the capabilities of the optimizer with the platform."""

from importlib import import_module

from django.apps import AppConfig

CAPABILITIES = (
    "core",
    "policies",
    "removals",
    "console",
    "iceberg.tables",
    "iceberg.maintenance",
    "iceberg.indexing",
    "iceberg.planner",
    "cubes",
    "queries",
    "trino_table",
    "advice",
    "fleet",
    "pruning",
    "rewriting",
    "hudi.tables",
    "hudi.planner",
    "hudi.continuous",
    "hudi.pages",
    "discovery",  # it asks each format for the events that tell of its tables
)


class OptimizerConfig(AppConfig):
    """File health of Iceberg and Hudi tables."""

    name = "optimizer"
    label = "optimizer"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register each capability; imported here, because models must be loaded first."""
        for capability in CAPABILITIES:
            import_module(f"optimizer.{capability}.registration").register()
        import_module("optimizer.object_lakes").register()
