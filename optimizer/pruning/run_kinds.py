"""The short run that narrows one query."""

from optimizer.pruning.domain import KIND
from portal.runs.kinds.registry import RunKind, register


class PruneKind(RunKind):
    """Plans the tables of a query with their file indexes."""

    name = KIND
    title = "Narrow a query to files"
    job = "optimizer.pruning.jobs.prune"
    queue = "plan"
    attempts = 1


def register_prune_kind() -> None:
    """Tell the platform of the run of this file."""
    register(PruneKind())
