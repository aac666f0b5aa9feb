"""Rows of quality, from each capability; Django finds them here."""

from quality.freshness.models import ExpectedPartition, FreshnessRule, Standing

__all__ = ["ExpectedPartition", "FreshnessRule", "Standing"]
