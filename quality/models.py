"""Rows of quality, from each capability; Django finds them here."""

from quality.checks.models import CheckSet, Measurement, Override, RuleResult
from quality.freshness.models import ExpectedPartition, FreshnessRule, FreshnessStatus
from quality.incidents.models import Incident, IncidentEvent, IncidentWindow

__all__ = [
    "CheckSet",
    "ExpectedPartition",
    "FreshnessRule",
    "FreshnessStatus",
    "Incident",
    "IncidentEvent",
    "IncidentWindow",
    "Measurement",
    "Override",
    "RuleResult",
]
