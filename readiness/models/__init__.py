"""What is declared of tables whose partitions have to be ready in time, and how each stands."""

from readiness.models.rules import Awaited, ReadyRule, Standing

__all__ = ["Awaited", "ReadyRule", "Standing"]
