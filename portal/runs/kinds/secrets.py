"""Tells which secrets the job of a run was given."""

from portal.runs.kinds.registry import find_kind
from portal.runs.models import Run


def job_secrets(run: Run) -> list[str]:
    """Return the secrets that the driver of a run has in its environment.

    Raises:
        PortalError: one of them cannot be read, so that no text of the driver may be shown.
    """
    kind = find_kind(run.kind)
    return [one for one in kind.environment(run).values() if one] if kind else []
