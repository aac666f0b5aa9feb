"""Rows of quality, from each capability; Django finds them here."""

from quality.freshness.models import ExpectedPartition, FreshnessRule, FreshnessStatus

__all__ = ["ExpectedPartition", "FreshnessRule", "FreshnessStatus"]
