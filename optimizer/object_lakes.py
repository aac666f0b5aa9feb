"""The lakes of the objects that addresses of the optimizer name."""

from optimizer.models import Advice, Cube, HudiTable, IcebergTable, OptimizeTask, RemovalPlan
from portal.runs.models import Run
from portal.ui.frame.lakes import ObjectLake, register_object_lakes

_HUDI = ("hudi-", "optimizer-hudi-")


def register() -> None:
    """Register how each is found."""
    register_object_lakes(
        "optimizer",
        ObjectLake("table_id", HudiTable, views=_HUDI),
        ObjectLake("table_id", IcebergTable),
        ObjectLake("advice_id", Advice, lake="table__lake"),
        ObjectLake("cube_id", Cube, lake="table__lake"),
        ObjectLake("removal_id", RemovalPlan, lake="table__lake"),
        ObjectLake("removal_id", RemovalPlan, lake="hudi__lake"),
        ObjectLake("task_id", OptimizeTask, lake="table__lake"),
        ObjectLake("task_id", OptimizeTask, lake="hudi__lake"),
        ObjectLake("run_id", Run),
    )
