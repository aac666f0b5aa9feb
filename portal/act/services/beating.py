"""How does a running act job learn of cancel, holds and the red button, and keep its lease?"""

from datetime import datetime

from portal.runs.models import Run


def act_beat(run: Run, *, now: datetime) -> None:
    """Renew the leases of a run's fences and write its control.json; safe to call at any time."""
    raise NotImplementedError
