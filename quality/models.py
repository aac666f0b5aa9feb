"""Rows of quality, from each capability; Django finds them here."""

from quality.checks.models import (
    CheckSet,
    CheckTrial,
    Measurement,
    Override,
    RuleResult,
    RuleSample,
    TakenBack,
)
from quality.freshness.models import ExpectedPartition, FreshnessRule, FreshnessStatus
from quality.incidents.models import Incident, IncidentEvent, IncidentWindow

__all__ = [
    "CheckSet",
    "CheckTrial",
    "ExpectedPartition",
    "FreshnessRule",
    "FreshnessStatus",
    "Incident",
    "IncidentEvent",
    "IncidentWindow",
    "Measurement",
    "Override",
    "RuleResult",
    "RuleSample",
    "TakenBack",
]
