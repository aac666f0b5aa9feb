"""The lakes of the objects that addresses of quality name."""

from portal.ui.frame.lakes import ObjectLake, register_object_lakes
from quality.models import CheckSet, CheckTrial, FreshnessRule, Incident, RuleResult


def register() -> None:
    """Register how each is found."""
    register_object_lakes(
        "readiness",
        ObjectLake("rule_id", FreshnessRule),
        ObjectLake("set_id", CheckSet),
        ObjectLake("result_id", RuleResult, lake="check_set__lake"),
        ObjectLake("trial_id", CheckTrial),
        ObjectLake("incident_id", Incident),
    )
