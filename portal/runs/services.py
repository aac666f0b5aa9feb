"""How is a run asked for, cancelled and driven?"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from portal.access.models import User
from portal.runs.models import Run


def run_request(  # noqa: PLR0913 - the agreed interface names them all
    kind: str,
    *,
    lake: str,
    params: Mapping[str, Any],
    requested_by: str,
    reason: str = "",
    unique_key: str | None = None,
    subject: tuple[str, str] = ("", ""),
    now: datetime,
) -> Run:
    """Ask for a run: row and message in one transaction; a used unique key gives that run."""
    raise NotImplementedError


def run_cancel(run_id: UUID | str, *, user: User, now: datetime) -> Run:
    """Ask a run to stop; a queued one ends at once, a running one at its next check."""
    raise NotImplementedError


def run_drive(run_id: UUID | str) -> Run:
    """Drive a run to its end in this process, by the same steps as the tasks."""
    raise NotImplementedError
