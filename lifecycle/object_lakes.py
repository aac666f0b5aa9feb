"""The lakes of the objects that addresses of lifecycle name."""

from lifecycle.backup.models import BackupBatch, Hold
from lifecycle.models import (
    DeletionConsent,
    DeletionRequest,
    DroppedObject,
    DropPlan,
    Enrollment,
    PathException,
    PolicyRequest,
    RelocationPlan,
    RestoreTest,
    StandingRule,
)
from portal.runs.models import Run
from portal.ui.frame.lakes import ObjectLake, register_object_lakes


def register() -> None:
    """Register how each is found."""
    register_object_lakes(
        "lifecycle",
        ObjectLake("plan_id", DropPlan),
        ObjectLake("fix_id", RelocationPlan),
        ObjectLake("enrolment_id", Enrollment),
        ObjectLake("request_id", PolicyRequest),
        ObjectLake("rule_id", StandingRule),
        ObjectLake("wish_id", DeletionRequest),
        ObjectLake("batch_id", BackupBatch, "public_id"),
        ObjectLake("hold", Hold, "public_id"),
        ObjectLake("dropped_id", DroppedObject, "public_id"),
        ObjectLake("yes_id", DeletionConsent, "public_id"),
        ObjectLake("waiver_id", PathException, "public_id"),
        ObjectLake("drill_id", RestoreTest, "public_id"),
        ObjectLake("run_id", Run),
    )
