"""Registers the capabilities of lifecycle with the platform."""

from importlib import import_module

from django.apps import AppConfig

from portal.ui.frame.lakes import ObjectLake, register_object_lakes

CAPABILITIES = (
    "backup",
    "core",
    "inventory",
    "policies",
    "guard",
    "enrollment",
    "relocation",
    "drop",
    "restore",
    "answers",
    "notices",
    "restore_tests",
    "schedule",
)
# What addresses name, and where the lake of each is found.
OBJECT_LAKES = (
    ObjectLake("plan_id", "lifecycle.DropPlan"),
    ObjectLake("fix_id", "lifecycle.RelocationPlan"),
    ObjectLake("enrolment_id", "lifecycle.Enrollment"),
    ObjectLake("request_id", "lifecycle.PolicyRequest"),
    ObjectLake("rule_id", "lifecycle.StandingRule"),
    ObjectLake("wish_id", "lifecycle.DeletionRequest"),
    ObjectLake("batch_id", "act.BackupBatch", "public_id"),
    ObjectLake("hold", "act.Hold", "public_id"),
    ObjectLake("dropped_id", "lifecycle.DroppedObject", "public_id"),
    ObjectLake("yes_id", "lifecycle.DeletionConsent", "public_id"),
    ObjectLake("waiver_id", "lifecycle.PathException", "public_id"),
    ObjectLake("drill_id", "lifecycle.RestoreTest", "public_id"),
    ObjectLake("run_id", "runs.Run"),
)


class LifecycleConfig(AppConfig):
    """Lifecycle of Hive data."""

    name = "lifecycle"
    label = "lifecycle"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register each capability; imported here, because models must be loaded first."""
        for capability in CAPABILITIES:
            import_module(f"lifecycle.{capability}.registration").register()
        register_object_lakes("lifecycle", *OBJECT_LAKES)
