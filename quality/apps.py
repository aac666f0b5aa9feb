"""Registers the capabilities of quality with the platform."""

from importlib import import_module

from django.apps import AppConfig

from portal.ui.frame.lakes import ObjectLake, register_object_lakes

CAPABILITIES = ("ready_flag", "freshness", "checks", "incidents")
# What addresses name, and where the lake of each is found.
OBJECT_LAKES = (
    ObjectLake("rule_id", "readiness.FreshnessRule"),
    ObjectLake("set_id", "readiness.CheckSet"),
    ObjectLake("result_id", "readiness.RuleResult", lake="check_set__lake"),
    ObjectLake("trial_id", "readiness.CheckTrial"),
    ObjectLake("incident_id", "readiness.Incident"),
)


class QualityConfig(AppConfig):
    """Whether data is complete and in time; its tables have the name of its first capability."""

    name = "quality"
    label = "readiness"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register each capability; imported here, because models must be loaded first."""
        for capability in CAPABILITIES:
            import_module(f"quality.{capability}.registration").register()
        register_object_lakes("readiness", *OBJECT_LAKES)
