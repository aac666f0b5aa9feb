"""The short run that says what an index would do."""

from optimizer.iceberg.indexing.services.estimates import KIND
from portal.runs.kinds.registry import RunKind, register


class EstimateKind(RunKind):
    """Samples columns of a table."""

    name = KIND
    title = "Estimate file indexes"
    job = "optimizer.iceberg.indexing.jobs.estimate"
    queue = "plan"
    attempts = 1


def register_estimate_kind() -> None:
    """Tell the platform of the run of this file."""
    register(EstimateKind())
