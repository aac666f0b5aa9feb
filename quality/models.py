"""Rows of quality, from each capability; Django finds them here."""

from quality.freshness.models import Awaited, ReadyRule, Standing

__all__ = ["Awaited", "ReadyRule", "Standing"]
