"""The short run that reads what rewriting must know of tables."""

from optimizer.rewriting.domain import KIND
from portal.runs.kinds.registry import RunKind, register


class RewriteKind(RunKind):
    """Reads snapshots, columns, cubes and their coverage of the tables of a query."""

    name = KIND
    title = "Read tables and cubes for queries"
    job = "optimizer.rewriting.jobs.read_tables"
    queue = "plan"
    attempts = 1


def register_rewrite_kind() -> None:
    """Tell the platform of the run of this file."""
    register(RewriteKind())
