"""Registers the capabilities of the optimizer with the platform."""

from importlib import import_module

from django.apps import AppConfig

from portal.ui.frame.lakes import ObjectLake, register_object_lakes

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
# What addresses name, and where the lake of each is found.
OBJECT_LAKES = (
    ObjectLake("table_id", "optimizer.HudiTable", views=("hudi-", "optimizer-hudi-")),
    ObjectLake("table_id", "optimizer.IcebergTable"),
    ObjectLake("advice_id", "optimizer.Advice", lake="table__lake"),
    ObjectLake("cube_id", "optimizer.Cube", lake="table__lake"),
    ObjectLake("removal_id", "optimizer.RemovalPlan", lake="table__lake"),
    ObjectLake("removal_id", "optimizer.RemovalPlan", lake="hudi__lake"),
    ObjectLake("task_id", "optimizer.OptimizeTask", lake="table__lake"),
    ObjectLake("task_id", "optimizer.OptimizeTask", lake="hudi__lake"),
    ObjectLake("run_id", "runs.Run"),
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
        register_object_lakes("optimizer", *OBJECT_LAKES)
