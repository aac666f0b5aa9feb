"""Rows of quality, from each capability; Django finds them here."""

from quality.checks.models import CheckSet, Measurement, RuleResult, Waiver
from quality.freshness.models import ExpectedPartition, FreshnessRule, FreshnessStatus

__all__ = [
    "CheckSet",
    "ExpectedPartition",
    "FreshnessRule",
    "FreshnessStatus",
    "Measurement",
    "RuleResult",
    "Waiver",
]
